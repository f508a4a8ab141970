/**
 * Mends how Yjs undoes. It brings a removed item back as a copy. In a text that was removed and brought back itself, it
 * looks for copies by way of the first items, and may find a wrong one, or a wrong place.
 */
import * as Y from 'yjs'

/**
 * Cuts items so that each one that was brought back has a copy of its own length. Yjs joins copies that lie side by
 * side, and finds a copy by its first letter alone: undo would then also take the letters after it, or leave them out.
 * Yjs joins them again after the transaction.
 */
export function cutAtCopies(transaction: Y.Transaction): void {
  const { store } = transaction.doc
  const count = () => [...store.clients.values()].reduce((sum, structs) => sum + structs.length, 0)
  for (let before = 0; before !== count();) {
    before = count()
    for (const item of broughtBack(store)) {
      const { client, clock } = item.redone!
      const copy = Y.getItemCleanStart(transaction, item.redone!)
      if (copy.length > item.length)
        Y.getItemCleanEnd(transaction, store, Y.createID(client, clock + item.length - 1))
      else if (copy.length < item.length)
        Y.getItemCleanStart(transaction, Y.createID(item.id.client, item.id.clock + copy.length))
    }
  }
}

/**
 * Names the neighbours of what a transaction brought back as they are in its list. Yjs may name a right one that stands
 * on the left. Who applies such an update puts the item in one place or in another, depending on what it has joined.
 */
export function nameNeighbours({ doc, beforeState }: Y.Transaction): void {
  const { clientID: client, store } = doc
  const from = beforeState.get(client) ?? 0
  for (const item of (store.clients.get(client) ?? []).toReversed()) {
    if (item.id.clock < from) break
    if (!(item instanceof Y.Item) || item.parentSub !== null) continue
    const isLater = ({ id }: Y.Item) => id.client === client && id.clock > item.id.clock
    let { left, right } = item
    while (left && isLater(left)) left = left.left
    while (right && isLater(right)) right = right.right
    item.origin = left?.lastId ?? null
    item.rightOrigin = right?.id ?? null
  }
}

/**
 * Keeps copies, and what they are in, from being freed. Yjs frees what a dropped step has kept, also where another step
 * leads to it, and then fails on it.
 */
export function keepCopies({ store }: Y.Doc): void {
  for (const { redone } of broughtBack(store))
    for (
      let copy = asItem(Y.getItem(store, redone!));
      copy;
      copy = (copy.parent as Y.AbstractType<unknown>)._item
    )
      copy.keep = true
}

const asItem = (struct: Y.Item | Y.GC) => (struct instanceof Y.Item ? struct : null)

const broughtBack = (store: Y.Doc['store']): Y.Item[] =>
  [...store.clients.values()]
    .flat()
    .filter((item): item is Y.Item => item instanceof Y.Item && item.redone !== null)
