/**
 * Counts and bounds what integrating an update costs. Where several items claim the same place, Yjs finds an item's place
 * by passing the items between its left and its right origin, one by one (Item.integrate of yjs 13.6). An update can be
 * written so that each of its items passes all others: 40 KB took 16 s, here and in every browser.
 *
 * This module replaces `integrate` of Yjs's structs. Outside of `metered` it is Yjs's own. Within it, the search for the
 * place runs here: the same search, which counts its steps. It stops before it has changed anything, so that all
 * structs up to there are in the document whole, and none after.
 */
import * as Y from 'yjs'

/** What may still be spent, and what was. Updates that belong together share one. */
export interface Meter {
  /** Items passed so far. A step costs about 0.2 µs. */
  steps: number
  /** Steps past which it throws `TooCostly`. */
  readonly maxSteps: number
  /** Steps past which a single item's search throws `TooCostly`: one struct can't be cut into pieces. */
  readonly maxItemSteps: number
  /** What this turn has left, in the time that a step takes. Below 0 it throws `TurnOver`, after one struct at least. */
  turnSteps: number
}

/** About 12 ms. Counted and not measured: on a busy machine an ordinary update is applied whole, too. */
export const stepsPerTurn = 60_000
/** Integrating a struct takes as long as so many steps. */
const stepsPerStruct = 5
/** Cutting an item in two moves the rest of its client's structs in their array: so many take as long as a step. */
const structsMovedPerStep = 2000

export interface MergeBounds {
  /** Steps that an update may take, however small it is. A second of CPU has five million. */
  maxUpdateSteps: number
  /** Steps for one item. An item can't be cut into parts. */
  maxItemSteps: number
  /** Steps of all updates of a document, since it was loaded and for loading it. Past this only few are allowed. */
  maxDocumentSteps: number
}

/** Per byte on top. Fifty people who edited one text offline take four. */
const stepsPerByte = 20
/** What the updates of a document may still take that takes too many already: writing at the same place as others do. */
const fewSteps = 1000

/** How many steps an update of this size may take. */
export function stepsFor(sizeBytes: number, mergeSteps: number, bounds: MergeBounds): number {
  const most = mergeSteps < bounds.maxDocumentSteps ? bounds.maxUpdateSteps : fewSteps
  return most + sizeBytes * (mergeSteps < bounds.maxDocumentSteps ? stepsPerByte : 1)
}

/** Integrating it takes more steps than any honest update needs. */
export class TooCostly extends Error {}

/** The turn has nothing left. Applying the same update again goes on where it stopped. */
export class TurnOver extends Error {}

let current: Meter | null = null
let hasProgress = false
/** Items that the transaction has cut in two so far. */
let splits = 0

/** Runs `work`, in which updates are applied. @throws {TooCostly} @throws {TurnOver} */
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

/** What cutting out deleted ranges may take, in steps. */
export function stepsOfDeletes(document: Y.Doc, ranges: ReadonlyMap<number, { length: number }>): number {
  let steps = 0
  for (const [client, { length }] of ranges)
    steps += length * (stepsPerStruct + structsOf(document, client) / structsMovedPerStep)
  return steps
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

/** Yjs has cut the items that a struct begins and ends at. */
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

/** Yjs's search for an item's place. Afterwards the item has its neighbours, and `integrate` has nothing to search for. */
function place(item: Y.Item, offset: number, store: Y.Doc['store'], meter: Meter): void {
  const parent = item.parent as Y.AbstractType<unknown>
  const { client, clock } = item.id
  let left = offset > 0 ? Y.getItem(store, Y.createID(client, clock + offset - 1)) : item.left
  if (left instanceof Y.GC) left = null // Yjs would fail on it
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
  if (offset > 0) return // `integrate` has to cut off its beginning first, and searches itself
  item.left = left
  item.right = left ? left.right : (first ?? null)
}
