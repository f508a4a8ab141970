/**
 * Counts and limits the cost of integrating an update. Several items may claim the same place. Then Yjs finds an item's
 * place by visiting the items between its left and right origin one by one (Item.integrate of yjs 13.6). An update can
 * be written so that each of its items visits all others: 40 KB took 16 s, here and in every browser.
 *
 * This module replaces `integrate` of Yjs's structs. Outside of `metered` it behaves like Yjs's own. Within it, the
 * search for the place runs here: the same algorithm, but it counts its steps. When the budget is used up, it stops
 * before changing anything. So all earlier structs are completely in the document, and no later one is.
 */
import * as Y from 'yjs'

/** A budget of steps and its use. Updates that belong together share one. */
export interface Meter {
  /** Items visited so far. A step takes about 0.2 µs. */
  steps: number
  /** Number of steps above which `TooCostly` is thrown. */
  maxSteps: number
  /** Number of steps for a single item above which `TooCostly` is thrown. One struct can't be cut into parts. */
  readonly maxItemSteps: number
  /** Steps left in this turn. Below 0 `TurnOver` is thrown, but only after at least one struct. */
  turnSteps: number
}

/**
 * About 12 ms. Steps are counted, and time is not measured: so an ordinary update is applied in one turn even on a busy
 * machine.
 */
export const stepsPerTurn = 60_000
/** Integrating a struct costs as much as this many steps. */
const stepsPerStruct = 5
/** Splitting an item shifts the rest of its client's struct array. Shifting this many structs costs one step. */
const structsMovedPerStep = 2000

export interface MergeBounds {
  /** Steps for an update of any size. Five million take a second of CPU. */
  maxUpdateSteps: number
  /** Steps for one item. An item can't be cut into parts. */
  maxItemSteps: number
  /** Steps for all updates of a document, including its loading. Above this number, each update gets only a few. */
  maxDocumentSteps: number
}

/** Additional steps per byte. The edits of fifty people who edited one text offline need four. */
const stepsPerByte = 8
/**
 * Steps for an update of a document that has used up its steps. They are enough for ordinary concurrent edits at one
 * place.
 */
const fewSteps = 1000

/**
 * The number of steps that an update of this size may take.
 *
 * @param mergeSteps the steps of the document's other updates so far
 */
export function stepsFor(sizeBytes: number, mergeSteps: number, bounds: MergeBounds): number {
  const most = mergeSteps < bounds.maxDocumentSteps ? bounds.maxUpdateSteps : fewSteps
  return most + sizeBytes * (mergeSteps < bounds.maxDocumentSteps ? stepsPerByte : 1)
}

/** Integrating the update takes more steps than any honest update needs. */
export class TooCostly extends Error {}

/** The turn's steps are used up. Applying the same update again continues where it stopped. */
export class TurnOver extends Error {}

let current: Meter | null = null
let hasProgress = false
/** Items that the transaction has split so far. */
let splits = 0

/**
 * Runs `work` and counts the steps of the updates that it applies.
 *
 * @throws {TooCostly} @throws {TurnOver}
 */
export function metered(meter: Meter, work: () => void): void {
  current = meter
  meter.turnSteps = stepsPerTurn
  hasProgress = false
  splits = Infinity
  try {
    work()
  } finally {
    current = null
  }
}

/** The cost of decoding an update, in steps. 64 KB take 10 ms when each struct or deleted range has two bytes. */
export const stepsToDecode = ({ byteLength }: Uint8Array, parts: number): number =>
  1.5 * parts + byteLength / 500

/** The cost of the ranges of deletions, in steps: each may split two structs. */
export function stepsOfDeletes(document: Y.Doc, ranges: ReadonlyMap<number, { length: number }>): number {
  let steps = 0
  for (const [client, { length }] of ranges)
    steps += length * (stepsPerStruct + structsOf(document, client) / structsMovedPerStep)
  return steps
}

export const stepsOfDeletedStructs = (count: number): number => count * stepsPerStruct

/** The cost of deletions in an empty document, in steps. Each range makes the struct array longer for the next one. */
export function leastStepsOfDeletes(ranges: ReadonlyMap<number, { length: number }>): number {
  let steps = 0
  for (const { length } of ranges.values())
    steps += length * (stepsPerStruct + length / 2 / structsMovedPerStep)
  return steps
}

/**
 * Counts deletions that were applied.
 *
 * @throws {TooCostly}
 */
export function spendOnDeletes(meter: Meter, steps: number): void {
  meter.steps += steps
  meter.turnSteps -= steps
  if (meter.steps > meter.maxSteps) throw new TooCostly()
}

const structsOf = ({ store }: Y.Doc, client: number): number => store.clients.get(client)?.length ?? 0

type Integrate = (this: Y.Item | Y.GC, transaction: Y.Transaction, offset: number) => void

for (const { prototype } of [Y.Item, Y.GC]) {
  const integrate = prototype.integrate as Integrate
  const meteredIntegrate: Integrate = function (transaction, offset) {
    if (current) {
      if (hasProgress && current.turnSteps < 0) throw new TurnOver()
      if (this instanceof Y.Item && this.parent) place(this, offset, transaction.doc.store, current)
      current.turnSteps -= stepsPerStruct + stepsOfSplits(this, transaction)
      hasProgress = true
    }
    integrate.call(this, transaction, offset)
  }
  prototype.integrate = meteredIntegrate
}

/** The cost of the splits since the last call: Yjs splits the items at which a struct begins and ends. */
function stepsOfSplits(struct: Y.Item | Y.GC, { doc, _mergeStructs }: Y.Transaction): number {
  const count = Math.max(0, _mergeStructs.length - splits)
  splits = _mergeStructs.length
  if (count === 0 || !(struct instanceof Y.Item)) return 0
  const { origin, rightOrigin } = struct
  const most = Math.max(
    origin ? structsOf(doc, origin.client) : 0,
    rightOrigin ? structsOf(doc, rightOrigin.client) : 0,
  )
  return (count * most) / structsMovedPerStep
}

/**
 * Finds an item's place with Yjs's algorithm. Afterwards the item has its neighbours, and `integrate` need not search.
 */
function place(item: Y.Item, offset: number, store: Y.Doc['store'], meter: Meter): void {
  const parent = item.parent as Y.AbstractType<unknown>
  const { client, clock } = item.id
  let left = offset > 0 ? Y.getItem(store, Y.createID(client, clock + offset - 1)) : item.left
  if (left instanceof Y.GC) left = null // Yjs would throw on it
  const origin = offset > 0 ? left && left.lastId : item.origin
  const { right, rightOrigin, parentSub } = item
  if (left ? left.right === right : right && right.left === null) return

  let steps = 0
  const step = () => {
    steps += 1
    meter.steps += 1
    meter.turnSteps -= 1
    if (steps > meter.maxItemSteps || meter.steps > meter.maxSteps) throw new TooCostly()
  }
  let first: Y.Item | null
  if (left) first = left.right
  else if (parentSub === null) first = parent._start
  else for (first = parent._map.get(parentSub) ?? null; first?.left; first = first.left) step()

  const conflicting = new Set<Y.Item>()
  const before = new Set<Y.Item>()
  for (let other = first; other !== null && other !== right; other = other.right) {
    step()
    before.add(other)
    conflicting.add(other)
    if (Y.compareIDs(origin, other.origin)) {
      if (other.id.client < client) {
        left = other
        conflicting.clear()
      } else if (Y.compareIDs(rightOrigin, other.rightOrigin)) break
    } else {
      const source = other.origin && Y.getItem(store, other.origin)
      if (!source || !before.has(source)) break
      if (!conflicting.has(source)) {
        left = other
        conflicting.clear()
      }
    }
  }
  if (offset > 0) return // `integrate` first cuts off the item's beginning, then searches again
  item.left = left
  item.right = left ? left.right : (first ?? null)
}
