/** Puts commits together: what goes with what, in which order, and what has to wait; see commit.ts. */
import {
  endFlush,
  firstWrite,
  rejectWrite,
  type BoardQueue,
  type BuiltWrite,
  type CommittingDocument,
  type FlushRows,
  type Pair,
  type PendingWrite,
  type WriteRequest,
} from './board-queue.ts'
import type { DocumentQuota } from './document-quota.ts'
import { LoopTurn, type Steps } from '../../platform/work/loop-turn.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'

export interface ItemOfQueue {
  queue: BoardQueue
  updates: Uint8Array[]
}
export interface EditItem extends ItemOfQueue {
  kind: 'edit'
  count: number
  actors: string[]
  /** Bytes that guests added, by account; left out when none did. */
  guests?: Record<string, number> | undefined
}
export interface WriteItem extends ItemOfQueue {
  kind: 'write'
  write: PendingWrite
  built: BuiltWrite | null
  clock: number | null
  seen: number | null
  /** Room that it holds in the owner's storage of documents. */
  reservedBytes: number
  /** There was too little: the commit refuses it, unless the account may not write at all. */
  isFull: boolean
}
export interface FlushItem extends ItemOfQueue {
  kind: 'flush'
  flush: FlushRows
  seen: number
}
export type BatchItem = EditItem | WriteItem | FlushItem

/** A commit that is so large that the others do not wait for it. Its boards give nothing else until it is settled. */
export interface LargeCommit {
  queues: BoardQueue[]
  writes: PendingWrite[]
  /** Assembles what is left. */
  items(): BatchItem[] | Promise<BatchItem[]>
}

/** One commit of all that is small, and the large ones. */
export interface Assembled {
  batch: BatchItem[]
  large: LargeCommit[]
}

/** A write, or the two of a pair, on their way to being built. */
interface Building {
  parts: {
    queue: BoardQueue
    write: PendingWrite
    head: BoardHead
    document: CommittingDocument | null
    seen: number | null
  }[]
  steps: Steps<BuiltWrite[]>
}

/** From so many index rows on a commit takes so long that it goes beside the others. */
const largeRows = 2500

/** A write that takes longer to build becomes a commit of its own, which is built in turns. */
const inlineBuildMs = 10
/** What comes after this goes into the next commit. */
const assemblyMs = 15

export class Assembler {
  /** Those with something to commit, in the order of their turns. */
  readonly #active: Set<BoardQueue>
  readonly #maxBytes: number
  readonly #quota: DocumentQuota
  #pairsLast = false

  constructor(active: Set<BoardQueue>, maxBytes: number, quota: DocumentQuota) {
    this.#active = active
    this.#maxBytes = maxBytes
    this.#quota = quota
  }

  /** What can go now, in one commit each. */
  next(now: number): Assembled {
    const large: LargeCommit[] = []
    const until = performance.now() + assemblyMs
    // By turns, so that neither pairs nor all others are put off for ever.
    const pairs = this.#pairsLast ? [] : this.#takePairs(now, large, until)
    const batch = this.#withOthers(pairs, now, large, until)
    if (batch.length === 0 && large.length === 0 && this.#pairsLast)
      batch.push(...this.#takePairs(now, large, until))
    this.#pairsLast =
      batch.some((item) => item.kind === 'write' && item.write.pair) ||
      large.some(({ writes }) => writes.some(({ pair }) => pair))
    return { batch, large }
  }

  /** What goes with the pairs. */
  #withOthers(pairs: BatchItem[], now: number, large: LargeCommit[], until: number): BatchItem[] {
    const batch = [...pairs]
    let bytes = batch.reduce((sum, item) => sum + itemBytes(item), 0)
    const paired = new Set(batch.map(({ queue }) => queue))
    if ([...paired].some(({ singly }) => singly > 0)) return batch
    for (const queue of [...this.#active]) {
      if (bytes >= this.#maxBytes || (batch.length > 0 && performance.now() > until)) break
      if (paired.has(queue) || queue.away || queue.retryAt > now || (queue.singly > 0 && batch.length > 0))
        continue
      const items = take(queue, this.#maxBytes - bytes, this.#quota, until)
      this.#active.delete(queue)
      if (!queue.idle || !Array.isArray(items) || items.length > 0) this.#active.add(queue) // at the end: the others have their turn first
      if (!Array.isArray(items)) {
        large.push(this.#setAside(items))
        continue
      }
      if (items.length === 0) continue
      if (isLarge(items) && queue.singly === 0) {
        large.push(setAside(items))
        continue
      }
      batch.push(...items)
      for (const item of items) bytes += itemBytes(item)
      if (queue.singly > 0) break
    }
    return batch
  }

  /** Its boards give nothing else before it is settled. Edits that come while it is built are in memory: they go with it. */
  #setAside(building: Building): LargeCommit {
    const { parts } = building
    const queues = parts.map(({ queue }) => queue)
    for (const queue of queues) queue.away = true
    return { queues, writes: parts.map(({ write }) => write), items: () => this.#finish(building) }
  }

  async #finish(building: Building): Promise<BatchItem[]> {
    const { parts, steps } = building
    const turn = new LoopTurn()
    try {
      for (;;) {
        if (parts.some(({ write }) => write.settled)) return []
        const { done, value } = steps.next()
        if (done) {
          const isStale = parts.some(
            ({ queue, write, document }) =>
              write.reads !== 'nothing' &&
              write.reads !== 'position' &&
              (queue.document !== document || !document?.current),
          )
          if (!isStale) return itemsOf(building, value, this.#quota)
          for (const { queue, write } of parts) queue.writes.unshift(write)
          return []
        }
        if (value) await value
        if (turn.isOver()) await turn.next()
      }
    } catch (error) {
      rejectWrite(parts[0]!.write, error)
      return []
    } finally {
      steps.return([])
    }
  }

  /**
   * The pairs that can go now, each with all edits of its boards, on which it is built. No other write of these boards
   * goes with them.
   */
  #takePairs(now: number, large: LargeCommit[], until: number): BatchItem[] {
    const batch: BatchItem[] = []
    const taken = new Set<BoardQueue>()
    let bytes = 0
    for (const queue of [...this.#active]) {
      const pair = firstWrite(queue)?.pair
      if (!pair || pair.queues[0] !== queue || pair.queues.some((one) => taken.has(one))) continue
      const alone = pair.queues.some(({ singly }) => singly > 0)
      if (alone && batch.length > 0) continue
      if (!pair.queues.every((one) => isReady(one, pair, now, alone) && this.#quota.isReady(one.boardId)))
        continue
      const editBytes = pair.queues[0].editBytes + pair.queues[1].editBytes
      if (batch.length > 0 && (bytes + editBytes > this.#maxBytes || performance.now() > until)) break
      const items = buildPair(pair, this.#quota)
      if (!Array.isArray(items)) {
        large.push(this.#setAside(items))
        for (const one of pair.queues) taken.add(one)
        continue
      }
      const goesAlone = isLarge(items) && !alone
      if (goesAlone) large.push(setAside(items))
      else {
        batch.push(...items)
        for (const item of items) bytes += itemBytes(item)
      }
      for (const one of pair.queues) {
        if (items.length > 0) taken.add(one)
        this.#active.delete(one)
        this.#active.add(one)
      }
      if (alone && batch.length > 0) break
    }
    return batch
  }
}

function buildPair({ queues, writes, build }: Pair, quota: DocumentQuota): BatchItem[] | Building {
  for (const queue of queues) queue.writes.shift()
  const parts = queues.map((queue, at) => ({
    ...{ queue, write: writes[at]!, head: queue.head!, document: queue.document },
    seen: queue.document!.appliedSeq,
  }))
  const building = { parts, steps: stepsOf(() => build([queues[0].head!, queues[1].head!])) }
  let built: BuiltWrite[] | null
  try {
    built = buildFor(inlineBuildMs, building.steps)
  } catch (error) {
    rejectWrite(writes[0], error)
    return []
  }
  return built ? itemsOf(building, built, quota) : building
}

/** A write, the writes of a pair: each with all edits of its board, on which it is built. */
function itemsOf({ parts }: Building, built: BuiltWrite[], quota: DocumentQuota): BatchItem[] {
  return parts.flatMap(({ queue, write, head, seen }, at): BatchItem[] => {
    const { updates, used } = built[at]!
    const edits = queue.edits.length > 0 ? [takeEdits(queue, Infinity)] : []
    const room = takeRoom(queue, built[at]!, quota)
    if (room.isFull && !write.pair) return [...edits, { ...withoutChange(queue, write), isFull: true }]
    const clock = used > 0 ? head.apiClock : null
    return [...edits, { kind: 'write', queue, updates, write, built: built[at]!, clock, seen, ...room }]
  })
}

function* stepsOf<Built extends BuiltWrite[]>(build: () => Built | Steps<Built>): Steps<BuiltWrite[]> {
  const built = build()
  return Array.isArray(built) ? built : yield* built
}

function* stepsOfOne(build: () => BuiltWrite | Steps<BuiltWrite>): Steps<BuiltWrite[]> {
  const built = build()
  return ['updates' in built ? built : yield* built]
}

/** Null when it takes longer; the rest of its steps is left. */
function buildFor<Result>(ms: number, steps: Steps<Result>): Result | null {
  const until = performance.now() + ms
  do {
    const { done, value } = steps.next()
    if (done) return value
    if (value) {
      value.catch(() => undefined) // the next attempt awaits it
      return null
    }
  } while (performance.now() < until)
  return null
}

/** The first write of a board, when it is known to be slow and can go now. */
function takeSlow(queue: BoardQueue, quota: DocumentQuota): Building | null {
  const write = firstWrite(queue)
  const { head, document } = queue
  if (!write?.isSlow || write.pair || !head || queue.flushWanted || !quota.isReady(queue.boardId)) return null
  if (queue.singly > 0 && queue.edits.length > 0) return null
  if (write.reads !== 'nothing' && write.reads !== 'position' && !document?.current) return null
  queue.writes.shift()
  const seen = seenBy(write, head, document)
  return { parts: [{ queue, write, head, document, seen }], steps: stepsOfOne(() => write.build(head)) }
}

/** @returns items of one commit; or a write that takes longer to build than the others wait */
function take(
  queue: BoardQueue,
  budget: number,
  quota: DocumentQuota,
  until: number,
): BatchItem[] | Building {
  const slow = takeSlow(queue, quota)
  if (slow) return slow
  const items: BatchItem[] = []
  let bytes = 0
  if (queue.edits.length > 0) {
    const edits = takeEdits(queue, budget)
    items.push(edits)
    bytes += itemBytes(edits)
    // What follows is built on all that is in memory, so all of it has to be committed with or before it.
    if (edits.count < queue.edits.length || queue.singly > 0) return items
  }

  const document = queue.document
  if (queue.flushWanted && (document === null || document.current)) {
    const flush = document ? document.project() : null
    if (flush && document) {
      items.push({ kind: 'flush', queue, updates: [], flush, seen: document.appliedSeq })
      if (queue.singly > 0) return items
    } else {
      endFlush(queue)
    }
  }
  const flushing = items.some((item) => item.kind === 'flush')

  let head = queue.head
  const taken = new Set<string>()
  const claimed = new Set<string>()
  let whole = false
  while (
    queue.writes.length > 0 &&
    !whole &&
    (items.length === 0 || (bytes < budget && performance.now() < until))
  ) {
    const write = firstWrite(queue)
    if (!write || (write.isSlow && items.length > 0) || write.pair || !quota.isReady(queue.boardId)) break
    if (!head) {
      // Its refusal or 'again' brings the head.
      items.push({ ...withoutChange(queue, write), clock: -1 })
      queue.writes.shift()
      break
    }
    if (write.reads !== 'nothing' && write.reads !== 'position') {
      if (!document?.current || flushing) break
      if (
        write.reads === 'board'
          ? taken.size > 0 || items.some((item) => item.kind === 'write')
          : [...write.reads].some((id) => taken.has(id))
      ) {
        break
      }
      whole = write.reads === 'board'
    }
    queue.writes.shift()
    const builtOn = head
    const steps = stepsOfOne(() => write.build(builtOn))
    let built: BuiltWrite | undefined
    try {
      const all = buildFor(inlineBuildMs, steps)
      if (!all) {
        write.isSlow = true
        const part = { queue, write, head, document, seen: seenBy(write, head, document) }
        if (items.length === 0) return { parts: [part], steps }
        // What it is built on has to be committed first.
        queue.writes.unshift(write)
        break
      }
      built = all[0]!
    } catch (error) {
      rejectWrite(write, error)
      continue
    }
    const room = takeRoom(queue, built, quota)
    if (room.isFull) {
      items.push({ ...withoutChange(queue, write), isFull: true })
      continue
    }
    // The commit looks at what was there before it.
    const claims = (built.claims?.identifiers ?? []).map(({ scope, value }) => JSON.stringify([scope, value]))
    if (claims.some((claim) => claimed.has(claim))) {
      quota.settle(queue.boardId, room.reservedBytes, false)
      queue.writes.unshift(write)
      break
    }
    for (const claim of claims) claimed.add(claim)
    if (typeof write.reads === 'object') for (const id of write.reads) taken.add(id)
    items.push({
      kind: 'write',
      queue,
      updates: built.updates,
      write,
      built,
      clock: built.used > 0 ? head.apiClock : null,
      seen: seenBy(write, head, document),
      ...room,
    })
    head = {
      ...head,
      apiClock: head.apiClock + built.used,
      topZ: Math.max(head.topZ, built.top ?? head.topZ),
    }
    for (const update of built.updates) bytes += update.byteLength
    if (queue.singly > 0) break
  }
  return items
}

/** An item that says no more than whose write it is: the commit answers why it is not made, or how its board stands. */
function withoutChange(queue: BoardQueue, write: PendingWrite): WriteItem {
  return { kind: 'write', queue, updates: [], write, built: null, clock: null, seen: null, reservedBytes: 0, isFull: false } // prettier-ignore
}

/** Room for a write that makes cards or groups larger. */
function takeRoom(
  queue: BoardQueue,
  { grows, updates }: BuiltWrite,
  quota: DocumentQuota,
): Pick<WriteItem, 'reservedBytes' | 'isFull'> {
  const bytes = bytesOf(updates)
  if (grows <= 0) return { reservedBytes: 0, isFull: false }
  return quota.take(queue.boardId, bytes)
    ? { reservedBytes: bytes, isFull: false }
    : { reservedBytes: 0, isFull: true }
}

/** The log position that a write depends on. */
function seenBy(write: WriteRequest, head: BoardHead, document: CommittingDocument | null): number | null {
  if (write.reads === 'nothing') return null
  return write.reads === 'position' ? head.seq : document!.appliedSeq
}

/** Whether a board's half of a pair could go now. `alone`: with nothing else, the edits of its boards included. */
function isReady(queue: BoardQueue, pair: Pair, now: number, alone: boolean): boolean {
  return (
    firstWrite(queue)?.pair === pair &&
    !queue.away &&
    queue.retryAt <= now &&
    queue.head !== null &&
    queue.document?.current === true &&
    !queue.flushWanted &&
    !(alone && queue.edits.length > 0)
  )
}

/** What cannot go in smaller parts: one item, or the two of a pair. */
export function isIndivisible(batch: BatchItem[]): boolean {
  const [first, second] = batch
  if (batch.length === 1) return true
  return batch.length === 2 && first?.kind === 'write' && second?.kind === 'write' && first.write.pair !== undefined && first.write.pair === second.write.pair // prettier-ignore
}

function takeEdits(queue: BoardQueue, budget: number): EditItem {
  let bytes = 0
  let count = 0
  while (count < queue.edits.length && (count === 0 || bytes < budget))
    bytes += queue.edits[count++]!.update.byteLength
  const taken = queue.edits.slice(0, count)
  return {
    kind: 'edit',
    queue,
    updates: taken.map((edit) => edit.update),
    count,
    actors: [...new Set(taken.flatMap((edit) => edit.actors))],
    guests: sumOf(taken.flatMap(({ guests }) => guests ?? [])),
  }
}

/** Bytes by account; undefined for none. */
function sumOf(additions: ReadonlyMap<string, number>[]): Record<string, number> | undefined {
  if (additions.length === 0) return undefined
  const sums: Record<string, number> = {}
  for (const addition of additions)
    for (const [account, bytes] of addition) sums[account] = (sums[account] ?? 0) + bytes
  return sums
}

/** Its boards give nothing else before it is settled. */
function setAside(items: BatchItem[]): LargeCommit {
  const queues = items.map(({ queue }) => queue)
  for (const queue of queues) queue.away = true
  const writes = items.flatMap((item) => (item.kind === 'write' ? item.write : []))
  return { queues, writes, items: () => items }
}

function rowsOf(item: BatchItem): number {
  if (item.kind === 'flush') return item.flush.rows.length
  return item.kind === 'write' ? (item.built?.rows.length ?? 0) : 0
}

function isLarge(items: BatchItem[]): boolean {
  return items.reduce((sum, item) => sum + rowsOf(item), 0) >= largeRows
}

function itemBytes(item: BatchItem): number {
  return bytesOf(item.updates) + rowsOf(item) * 300
}
