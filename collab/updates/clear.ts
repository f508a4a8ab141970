/**
 * Clears deleted shared types in turns. Yjs deletes a type with everything in it in one step, at any depth: a few bytes
 * that delete a rich text of 300,000 nodes took 250 ms. Here the type is deleted at once, and most of its content later.
 * Nobody sees the difference: what is in a deleted type is not in the document, and each client that gets it deletes it by
 * itself. So clearing sends nothing, and nothing is logged.
 *
 * This module replaces `delete` and `gc` of Yjs's ContentType (yjs 13.6). They behave like Yjs's own for other documents.
 */
import * as Y from 'yjs'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import { mergeCollected } from './cleanup.ts'

/** Items that one transaction deletes with their types. They take about 2 ms. */
const itemsAtOnce = 2000
/** Structs that are merged in one step. They take about a millisecond. */
const structsAtOnce = 20_000

export interface ClearOptions {
  /** Runs the clearing. Default: in turns of the event loop. */
  run?(steps: Steps<void>): Promise<void>
  itemsAtOnce?: number
}

/** From now on, deleted types of the document are cleared in turns. */
export function clearLater(document: Y.Doc, options: ClearOptions = {}): void {
  clearings.set(document, new Clearing(document, options))
}

/**
 * Resolves when all that is deleted is cleared. Until then the document still has the content of deleted types: who
 * encodes it would send it.
 */
export const cleared = (document: Y.Doc): Promise<void> =>
  clearings.get(document)?.cleared ?? Promise.resolve()

/** Whether all that is deleted is cleared. */
export const isCleared = (document: Y.Doc): boolean => clearings.get(document)?.isOver ?? true

const clearings = new WeakMap<Y.Doc, Clearing>()
/** Types with content that is not deleted yet. Yjs must not collect it. */
const unfinished = new WeakSet<SharedType>()

type SharedType = Y.ContentType['type']

/** What is left to clear of a type. */
class Rest {
  readonly type: SharedType
  /** The next item of the list. */
  #next: Y.Item | null
  readonly #entries: Iterator<Y.Item, undefined>
  /** The next entry, with its value. */
  #entry: IteratorResult<Y.Item, undefined>
  /** The next earlier value of an entry. */
  #earlier: Y.Item | null = null

  constructor(type: SharedType) {
    this.type = type
    this.#next = type._start
    this.#entries = type._map.values()
    this.#entry = this.#entries.next()
  }

  get isOver(): boolean {
    return !this.#next && !this.#earlier && this.#entry.done === true
  }

  /** Returns the next item. Call it only while the rest is not over. */
  take(): Y.Item {
    const item = (this.#next ?? this.#earlier ?? this.#entry.value)!
    if (this.#next) this.#next = item.right
    else {
      if (!this.#earlier) this.#entry = this.#entries.next()
      this.#earlier = item.left
    }
    return item
  }
}

class Clearing {
  readonly #document: Y.Doc
  readonly #options: Required<ClearOptions>
  readonly #rests: Rest[] = []
  /** Clients with collected structs that are not merged yet. */
  readonly #clients = new Set<number>()
  /** Items that the transaction may still delete with their types. */
  #left = 0
  #running: Promise<void> | null = null

  constructor(document: Y.Doc, options: ClearOptions) {
    this.#document = document
    this.#options = { itemsAtOnce, run: inTurns, ...options }
    document.on('beforeTransaction', () => {
      this.#left = this.#options.itemsAtOnce
    })
  }

  get isOver(): boolean {
    return this.#running === null
  }

  get cleared(): Promise<void> {
    return this.#running ?? Promise.resolve()
  }

  delete(type: SharedType, transaction: Y.Transaction): void {
    const deleteItem = (item: Y.Item) => {
      if (item.deleted) transaction._mergeStructs.push(item)
      else item.delete(transaction)
    }
    if (!this.#takeSome(new Rest(type), deleteItem)) {
      unfinished.add(type)
      this.#rests.push(new Rest(type)) // from the beginning, because nothing of it has been collected
      if (!this.#running) this.#begin()
    }
    transaction.changed.delete(type)
  }

  #begin(): void {
    this.#running = this.#options.run(this.#clear())
    this.#running.catch(() => undefined) // whoever waits for it learns that it failed
  }

  /** @returns whether nothing is left */
  #takeSome(rest: Rest, done: (item: Y.Item) => void): boolean {
    for (; this.#left > 0 && !rest.isOver; this.#left -= 1) done(rest.take())
    return rest.isOver
  }

  *#clear(): Steps<void> {
    const document = this.#document
    yield Promise.resolve() // the transaction that deleted the type ends first
    while (this.#rests.length > 0 && !document.isDestroyed) {
      for (; this.#rests.length > 0; yield)
        Y.transact(document, (transaction) => this.#clearSome(transaction), null, false)
      for (const client of this.#clients) {
        this.#clients.delete(client)
        yield* mergeInSteps(document.store.clients.get(client)!)
      }
    }
    this.#running = null
  }

  #clearSome(transaction: Y.Transaction): void {
    // Before Yjs looks at what the transaction has deleted: it then finds nothing to collect and to send.
    this.#document.once('beforeObserverCalls', () => transaction.deleteSet.clients.clear())
    for (let rest; this.#left > 0 && (rest = this.#rests.pop());) {
      const { type } = rest
      if (!this.#takeSome(rest, (item) => this.#clearItem(item, transaction))) this.#rests.push(rest)
      else {
        unfinished.delete(type)
        type._start = null
        type._map = new Map()
      }
    }
  }

  #clearItem(item: Y.Item, transaction: Y.Transaction): void {
    const { store } = this.#document
    const { client, clock } = item.id
    const structs = store.clients.get(client)!
    // An item that was merged with another one, or collected, is no longer in the store.
    if (structs[Y.findIndexSS(structs, clock)] !== item) return
    item.delete(transaction)
    item.gc(store, true)
    this.#clients.add(client)
  }
}

function* mergeInSteps(structs: (Y.Item | Y.GC)[]): Steps<void> {
  for (let begin = structs.length; begin > 0; yield) {
    const end = Math.min(structs.length, begin + 1)
    begin = Math.max(0, begin - structsAtOnce)
    mergeCollected(structs, begin, end)
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
