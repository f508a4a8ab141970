/**
 * Clears deleted shared types in turns. Yjs deletes a type with everything in it in one step, at any depth: a few bytes
 * that delete a rich text of 300,000 nodes took 250 ms. Here the type is deleted at once, and most of its content later.
 * Nobody sees the difference: what is in a deleted type is not in the document, and each client that gets it deletes it by
 * itself. So clearing sends nothing, and nothing is logged.
 *
 * This module replaces `delete` and `gc` of Yjs's ContentType (yjs 13.6). They behave like Yjs's own for other documents.
 */
import * as Y from 'yjs'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { collectDeleted } from './cleanup.ts'

/** Items that one transaction deletes with their types. They take about 2 ms. */
const itemsAtOnce = 2000

export interface ClearOptions {
  /** Called when there is something to clear. The caller runs the steps, or drops the document. */
  begin(clear: Steps<void>): void
  itemsAtOnce?: number
}

export function clearLater(document: Y.Doc, options: ClearOptions): void {
  clearings.set(document, new Clearing(document, options))
}

const clearings = new WeakMap<Y.Doc, Clearing>()
/** Types with content that is not deleted yet. Yjs must not collect it. */
const unfinished = new WeakSet<SharedType>()

type SharedType = Y.ContentType['type']

/** What is left to clear of a type. */
class Rest {
  readonly type: SharedType
  /** The next item of the list. */
  #next: Y.Item | null
  readonly #entries: Iterator<Y.Item>
  /** The next earlier value of an entry. */
  #earlier: Y.Item | null = null

  constructor(type: SharedType) {
    this.type = type
    this.#next = type._start
    this.#entries = type._map.values()
  }

  take(): Y.Item | null {
    const item = this.#next ?? this.#earlier
    if (!item) {
      const latest = this.#entries.next().value ?? null
      this.#earlier = latest?.left ?? null
      return latest
    }
    if (item === this.#next) this.#next = item.right
    else this.#earlier = item.left
    return item
  }
}

class Clearing {
  readonly #document: Y.Doc
  readonly #options: Required<ClearOptions>
  readonly #rests: Rest[] = []
  /** Items that the transaction may still delete with their types. */
  #left = 0
  #hasBegun = false

  constructor(document: Y.Doc, options: ClearOptions) {
    this.#document = document
    this.#options = { itemsAtOnce, ...options }
    document.on('beforeTransaction', () => {
      this.#left = this.#options.itemsAtOnce
    })
  }

  delete(type: SharedType, transaction: Y.Transaction): void {
    const deleteItem = (item: Y.Item) => {
      if (item.deleted) transaction._mergeStructs.push(item)
      else item.delete(transaction)
    }
    if (!this.#takeSome(new Rest(type), deleteItem)) {
      unfinished.add(type)
      this.#rests.push(new Rest(type)) // from the beginning, because nothing of it has been collected
      if (!this.#hasBegun) this.#options.begin(this.#clear())
      this.#hasBegun = true
    }
    transaction.changed.delete(type)
  }

  /** @returns whether nothing is left */
  #takeSome(rest: Rest, done: (item: Y.Item) => void): boolean {
    for (; this.#left > 0; this.#left -= 1) {
      const item = rest.take()
      if (!item) return true
      done(item)
    }
    return false
  }

  *#clear(): Steps<void> {
    const document = this.#document
    yield Promise.resolve() // the transaction that deleted the type ends first
    for (let rest; (rest = this.#rests.pop()) && !document.isDestroyed; yield) {
      const one = rest
      Y.transact(document, (transaction) => this.#clearSome(one, transaction), null, false)
    }
    this.#hasBegun = false
  }

  #clearSome(rest: Rest, transaction: Y.Transaction): void {
    const { store } = this.#document
    const { clients } = transaction.deleteSet
    // Before Yjs looks at what the transaction has deleted: it then finds nothing to send.
    this.#document.once('beforeObserverCalls', () => {
      collectDeleted(transaction)
      clients.clear()
    })
    const isOver = this.#takeSome(rest, (item) => {
      const { client, clock } = item.id
      const structs = store.clients.get(client)!
      // An item that was merged with another one, or collected, is no longer in the store.
      if (structs[Y.findIndexSS(structs, clock)] !== item) return
      if (item.deleted) clients.getOrInsert(client, []).push({ clock, len: item.length })
      else item.delete(transaction)
      item.gc(store, true)
    })
    const { type } = rest
    if (!isOver) this.#rests.push(rest)
    else {
      unfinished.delete(type)
      type._start = null
      type._map = new Map()
    }
  }
}

const { prototype } = Y.ContentType
const { delete: deleteAtOnce, gc: collect } = prototype

prototype.delete = function (transaction) {
  const clearing = clearings.get(transaction.doc)
  if (clearing) clearing.delete(this.type, transaction)
  else deleteAtOnce.call(this, transaction)
}

prototype.gc = function (store) {
  if (!unfinished.has(this.type)) collect.call(this, store)
}
