/** Empties a document in memory that canvases keep open. Yjs has no way to do this (yjs 13.6). */
import type * as Y from 'yjs'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'
import { isCleared } from '../updates/clear.ts'
import { weigh } from '../updates/weight.ts'

/** Whether nothing is left to do for the document's content: no transaction, no clearing, nothing that waits for edits. */
export const isAtRest = (document: Y.Doc): boolean =>
  document._transaction === null &&
  document.store.pendingStructs === null &&
  document.store.pendingDs === null &&
  isCleared(document)

/** Removes all content, deletions included, without a transaction: nobody is told. Call it while the document is at rest. */
export function empty(document: Y.Doc): void {
  document.store.clients.clear()
  document.share.clear()
  cardsOf(document)
  groupsOf(document)
  weigh(document).clear()
}
