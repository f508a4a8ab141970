/** The thread behind merge.ts. */
import { parentPort } from 'node:worker_threads'
import * as Y from 'yjs'
import { replay } from './log.ts'

export interface MergeRequest {
  snapshot: Uint8Array | null
  updates: Uint8Array[]
}

/** An error's message, or the document as a Yjs update (V2). */
export type MergeAnswer = { merged: Uint8Array } | { failed: string }

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
