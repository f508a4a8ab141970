/** Merges a board's log. Runs in a worker thread. */
import * as Y from 'yjs'
import { moved } from '../../platform/work/moved.ts'
import { cutUpdate } from '../updates/cut.ts'
import { documentOf, type LogContent } from './log.ts'

/**
 * @returns the document as a Yjs update (V2)
 * @throws when a part of the log can't be read, or builds on missing updates
 */
export function mergeLog(log: LogContent): Uint8Array {
  for (const update of log.updates) Y.decodeUpdate(update)
  const document = documentOf(log, (error) => {
    throw error
  })
  if (document.store.pendingStructs || document.store.pendingDs)
    throw new Error('Updates build on others that are not in the log.')
  return moved(Y.encodeStateAsUpdateV2(document))
}

/** @returns the document as updates (V1) that are applied in order; each takes little time */
export function mergeIntoParts(log: LogContent): Uint8Array[] {
  const parts = cutUpdate(Y.encodeStateAsUpdate(documentOf(log)))
  if (!parts) throw new Error('The merged document is malformed.')
  return moved(parts)
}
