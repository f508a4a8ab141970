/** A thread of its own for merging: see compact.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import * as Y from 'yjs'
import { replay } from './log.ts'

const document = new Y.Doc()
replay(document, workerData as { snapshot: Uint8Array | null; updates: Uint8Array[] })
parentPort?.postMessage(Y.encodeStateAsUpdateV2(document))
