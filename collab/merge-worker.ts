/** The thread behind merge.ts. */
import { parentPort } from 'node:worker_threads'
import * as Y from 'yjs'
import { replay } from './log.ts'
import type { MergeAnswer, MergeRequest } from './merge.ts'

parentPort!.on('message', (request: MergeRequest) => {
  parentPort!.postMessage(merge(request))
})

function merge(request: MergeRequest): MergeAnswer {
  try {
    const document = new Y.Doc()
    replay(document, request)
    return { merged: Y.encodeStateAsUpdateV2(document) }
  } catch (error) {
    return { failed: String(error) }
  }
}
