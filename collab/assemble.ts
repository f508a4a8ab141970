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
import type { BoardHead } from './log.ts'

export interface ItemOfQueue {
  queue: BoardQueue
  updates: Uint8Array[]
}
export interface EditItem extends ItemOfQueue {
  kind: 'edit'
  count: number
  actors: string[]
}
export interface WriteItem extends ItemOfQueue {
  kind: 'write'
  write: PendingWrite
  built: BuiltWrite | null
  clock: number | null
  seen: number | null
}
export interface FlushItem extends ItemOfQueue {
  kind: 'flush'
  flush: FlushRows
  seen: number
}
export type BatchItem = EditItem | WriteItem | FlushItem

/** One commit of all that is small, and those that are so large that the others do not wait for them. */
export interface Assembled {
  batch: BatchItem[]
  large: BatchItem[][]
}

/** From so many index rows on a commit takes so long that it goes beside the others. */
const largeRows = 2500

export class Assembler {
  /** Those with something to commit, in the order of their turns. */
  readonly #active: Set<BoardQueue>
  readonly #maxBytes: number
  #pairsLast = false

  constructor(active: Set<BoardQueue>, maxBytes: number) {
    this.#active = active
    this.#maxBytes = maxBytes
  }

  /** What can go now, in one commit each. */
  next(now: number): Assembled {
    const large: BatchItem[][] = []
    // By turns, so that neither pairs nor all others are put off for ever.
    const pairs = this.#pairsLast ? [] : this.#takePairs(now, large)
    const batch = this.#withOthers(pairs, now, large)
    if (batch.length === 0 && large.length === 0 && this.#pairsLast)
      batch.push(...this.#takePairs(now, large))
    this.#pairsLast = [batch, ...large].flat().some((item) => item.kind === 'write' && item.write.pair)
    return { batch, large }
  }

  /** What goes with the pairs. */
  #withOthers(pairs: BatchItem[], now: number, large: BatchItem[][]): BatchItem[] {
    const batch = [...pairs]
    let bytes = batch.reduce((sum, item) => sum + itemBytes(item), 0)
    const paired = new Set(batch.map(({ queue }) => queue))
    if ([...paired].some(({ singly }) => singly > 0)) return batch
    for (const queue of [...this.#active]) {
      if (bytes >= this.#maxBytes) break
      if (paired.has(queue) || queue.away || queue.retryAt > now || (queue.singly > 0 && batch.length > 0))
        continue
      const items = take(queue, this.#maxBytes - bytes)
      this.#active.delete(queue)
      if (!queue.idle || items.length > 0) this.#active.add(queue) // at the end: the others have their turn first
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

  /**
   * The pairs that can go now, each with all edits of its boards, on which it is built. No other write of these boards
   * goes with them.
   */
  #takePairs(now: number, large: BatchItem[][]): BatchItem[] {
    const batch: BatchItem[] = []
    const taken = new Set<BoardQueue>()
    let bytes = 0
    for (const queue of [...this.#active]) {
      const pair = firstWrite(queue)?.pair
      if (!pair || pair.queues[0] !== queue || pair.queues.some((one) => taken.has(one))) continue
      const alone = pair.queues.some(({ singly }) => singly > 0)
      if (alone && batch.length > 0) continue
      if (!pair.queues.every((one) => isReady(one, pair, now, alone))) continue
      const editBytes = pair.queues[0].editBytes + pair.queues[1].editBytes
      if (batch.length > 0 && bytes + editBytes > this.#maxBytes) break
      const items = buildPair(pair)
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

function buildPair({ queues, writes, build }: Pair): BatchItem[] {
  for (const queue of queues) queue.writes.shift()
  let built: [BuiltWrite, BuiltWrite]
  try {
    built = build([queues[0].head!, queues[1].head!])
  } catch (error) {
    rejectWrite(writes[0], error)
    return []
  }
  return ([0, 1] as const).flatMap((at) => {
    const queue = queues[at]
    const { updates, used } = built[at]
    const clock = used > 0 ? queue.head!.apiClock : null
    const seen = queue.document!.appliedSeq
    const write: WriteItem = {
      kind: 'write',
      queue,
      updates,
      write: writes[at],
      built: built[at],
      clock,
      seen,
    }
    return queue.edits.length > 0 ? [takeEdits(queue, Infinity), write] : [write]
  })
}

function take(queue: BoardQueue, budget: number): BatchItem[] {
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
  while (queue.writes.length > 0 && !whole && (items.length === 0 || bytes < budget)) {
    const write = firstWrite(queue)
    if (!write || write.pair) break
    if (!head) {
      // Its refusal or 'again' brings the head.
      items.push({ kind: 'write', queue, updates: [], write, built: null, clock: -1, seen: null })
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
    let built: BuiltWrite
    try {
      built = write.build(head)
    } catch (error) {
      rejectWrite(write, error)
      continue
    }
    // The commit looks at what was there before it.
    const claims = (built.claims?.identifiers ?? []).map(({ scope, value }) => JSON.stringify([scope, value]))
    if (claims.some((claim) => claimed.has(claim))) {
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
  }
}

/** Its boards give nothing else before it is settled. */
function setAside(items: BatchItem[]): BatchItem[] {
  for (const { queue } of items) queue.away = true
  return items
}

function rowsOf(item: BatchItem): number {
  if (item.kind === 'flush') return item.flush.rows.length
  return item.kind === 'write' ? (item.built?.rows.length ?? 0) : 0
}

function isLarge(items: BatchItem[]): boolean {
  return items.reduce((sum, item) => sum + rowsOf(item), 0) >= largeRows
}

function itemBytes(item: BatchItem): number {
  return item.updates.reduce((sum, update) => sum + update.byteLength, rowsOf(item) * 300)
}
