/** A thread of its own for merging: see compact.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import * as Y from 'yjs'

const { snapshot, updates } = workerData as { snapshot: Uint8Array | null; updates: Uint8Array[] }
const document = new Y.Doc()
document.transact(() => {
  if (snapshot) Y.applyUpdateV2(document, snapshot)
  for (const update of updates) Y.applyUpdate(document, update)
})
parentPort?.postMessage(Y.encodeStateAsUpdateV2(document))
