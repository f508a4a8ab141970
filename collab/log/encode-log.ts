/** Encodes the document of a board's log for clients. Runs in a worker thread. */
import * as Y from 'yjs'
import { moved } from '../../platform/work/moved.ts'
import { documentOf, type LogContent } from './log.ts'

/** @returns the document as an update (V1), and its state vector */
export function encodeLog(log: LogContent): Uint8Array[] {
  const { snapshot, updates } = log
  // A snapshot holds nothing that was deleted. Updates may hold what later ones delete.
  const state =
    snapshot && updates.length === 0
      ? Y.convertUpdateFormatV2ToV1(snapshot)
      : Y.encodeStateAsUpdate(documentOf(log))
  return moved([state, Y.encodeStateVectorFromUpdate(state)])
}
