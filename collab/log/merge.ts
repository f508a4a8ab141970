/** Merges a board's log. Runs in a worker thread. */
import * as Y from 'yjs'
import { moved } from '../../platform/work/moved.ts'
import { cutUpdate } from '../updates/cut.ts'
import { documentOf, type LogContent } from './log.ts'

/** @returns the document as updates (V1) that are applied in order; each takes little time */
export function mergeIntoParts(log: LogContent): Uint8Array[] {
  const parts = cutUpdate(Y.encodeStateAsUpdate(documentOf(log)))
  if (!parts) throw new Error('The merged document is malformed.')
  return moved(parts)
}
