/**
 * Yjs looks for an item's left neighbour, and then for its right one. Where the right one begins within the left one, Yjs
 * cuts it off, and the left one then ends too early. So the item's place would depend on which items are joined, and a
 * document in memory would differ from its log. Undo of Yjs makes such updates.
 */
import * as Y from 'yjs'

/** From now on, Yjs looks for the left neighbour again in this thread. Call it once. */
export function findLeftEnds(): void {
  const { prototype } = Y.Item
  const { getMissing } = prototype
  prototype.getMissing = function (transaction, store) {
    const missing = getMissing.call(this, transaction, store)
    const { left, origin } = this
    if (missing === null && origin && left instanceof Y.Item && !Y.compareIDs(left.lastId, origin))
      this.left = Y.getItem(store, origin) as Y.Item
    return missing
  }
}
