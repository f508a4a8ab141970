/**
 * Assembles commits: decides which items go into the next commit, in which order, and which have to wait; see
 * commit.ts.
 */
import type { BoardQueue, PendingWrite } from './board-queue.ts'
import { buildInline, buildInTurns, itemsOf, startBuilding, type Building } from './build.ts'
import type { DocumentQuota } from './document-quota.ts'
import { editItem, isLarge, itemBytes, type BatchItem } from './items.ts'
import { takeBoard } from './take-board.ts'

/**
 * A commit that is so large that other boards don't wait for it. Its boards put no other item into a commit until it is
 * settled.
 */
export interface LargeCommit {
  queues: BoardQueue[]
  writes: PendingWrite[]
  /** Its items, or what builds them. It never fails. */
  items: BatchItem[] | (() => Promise<BatchItem[]>)
}

/** Time for assembling a commit. Further items go into the next commit. */
const assemblyMs = 15

/**
 * Edits don't wait for so many writes: every write makes a commit longer, and a person sees how long an edit takes.
 * Measured: see api/http/request-turns.ts.
 */
const manyWrites = 8

/**
 * API writes of a board that go into one commit while somebody edits the board. Its next edit waits for all of them.
 * Measured beside 50 clients that write to it as fast as they can, medians of 6 to 16 runs of 8 s each: an edit is
 * acknowledged within 31 ms (95th percentile) with 5, and the clients write 930 cards a second. With 6: 37 ms and 1,020.
 * With 8: 42 and 1,210. On a slower machine, 8 runs each: 22 ms and 660 with 4, 25 ms and 630 with 5.
 */
const writesBesideEdits = 4

/** A commit with all small items, and the large commits. */
class Draft {
  readonly now: number
  /** `performance.now()` after which further items go into the next commit. */
  readonly until = performance.now() + assemblyMs
  readonly batch: BatchItem[] = []
  readonly large: LargeCommit[] = []
  readonly #quota: DocumentQuota
  #bytes = 0

  constructor(now: number, quota: DocumentQuota) {
    this.now = now
    this.#quota = quota
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Adds what a board or a pair has. Large items, and a write that is still being built, get a commit of their own. */
  add(taken: BatchItem[] | Building, mustBeAlone: boolean): void {
    if (!Array.isArray(taken)) {
      const { parts, write } = taken
      this.#setAside(parts, [write], () => buildInTurns(taken, this.#quota))
    } else if (isLarge(taken) && !mustBeAlone) {
      const writes = taken.flatMap((item) => (item.kind === 'write' ? item.write : []))
      this.#setAside(taken, writes, taken)
    } else {
      this.batch.push(...taken)
      for (const item of taken) this.#bytes += itemBytes(item)
    }
  }

  /** Edits that arrive while the items are built are in memory, so they go into the commit. */
  #setAside(of: { queue: BoardQueue }[], writes: PendingWrite[], items: LargeCommit['items']): void {
    const queues = of.map(({ queue }) => queue)
    for (const queue of queues) queue.leave()
    this.large.push({ queues, writes, items })
  }

  isOver(): boolean {
    return performance.now() > this.until
  }

  get hasPairs(): boolean {
    return (
      this.batch.some((item) => item.kind === 'write' && item.write.isPair) ||
      this.large.some(({ writes }) => writes.some(({ isPair }) => isPair))
    )
  }
}

export class Assembler {
  /** Boards with something to commit, in the order of their turns. */
  readonly #active: Set<BoardQueue>
  readonly #maxBytes: number
  readonly #quota: DocumentQuota
  #pairsLast = false
  #editsLast = false

  constructor(active: Set<BoardQueue>, maxBytes: number, quota: DocumentQuota) {
    this.#active = active
    this.#maxBytes = maxBytes
    this.#quota = quota
  }

  /** Returns what can be committed now: one commit of the small items, and the large commits. */
  next(now: number): Draft {
    const draft = new Draft(now, this.#quota)
    // Edits before many writes, and the others, take turns, so that no write waits forever.
    this.#editsLast = !this.#editsLast && this.#haveManyWrites(now)
    if (this.#editsLast) {
      this.#takeOthers(draft, true)
      return draft
    }
    // Pairs and other items take turns at being first, so that neither waits forever.
    if (!this.#pairsLast) this.#takePairs(draft)
    this.#takeOthers(draft)
    if (this.#pairsLast && draft.batch.length === 0 && draft.large.length === 0) this.#takePairs(draft)
    this.#pairsLast = draft.hasPairs
    return draft
  }

  /** Whether there are edits, and many writes beside them. */
  #haveManyWrites(now: number): boolean {
    let hasEdits = false
    let writes = 0
    for (const queue of this.#active) {
      if (!queue.canGo(now)) continue
      hasEdits ||= queue.edits.count > 0
      writes += queue.waitingWrites
    }
    return hasEdits && writes >= manyWrites
  }

  /** Adds the items of boards that have no pair in this commit. */
  #takeOthers(draft: Draft, editsOnly = false): void {
    const paired = new Set(draft.batch.map(({ queue }) => queue))
    if ([...paired].some(({ isSingly }) => isSingly)) return
    for (const queue of [...this.#active]) {
      const isFirst = draft.batch.length === 0
      if (draft.bytes >= this.#maxBytes || (!isFirst && draft.isOver())) break
      if (paired.has(queue) || !queue.canGo(draft.now) || (queue.isSingly && !isFirst)) continue
      if (editsOnly && queue.edits.count === 0) continue
      const writes = queue.edits.isActive(draft.now) ? writesBesideEdits : Infinity
      const budget = { bytes: this.#maxBytes - draft.bytes, until: draft.until, writes }
      const taken = editsOnly ? [editItem(queue, budget.bytes)] : takeBoard(queue, budget, this.#quota)
      this.#active.delete(queue)
      if (!queue.idle || !isEmpty(taken)) this.#active.add(queue) // at the end of the order
      draft.add(taken, queue.isSingly)
      if (queue.isSingly && draft.batch.length > 0) break
    }
  }

  /**
   * Adds the pairs that can go now. Each pair is built on all edits of its boards, which go with it. No other write of
   * these boards goes into this commit.
   */
  #takePairs(draft: Draft): void {
    const paired = new Set<BoardQueue>()
    for (const first of [...this.#active]) {
      const pair = first.first()
      if (!pair?.isPair || pair.queues[0] !== first || pair.queues.some((queue) => paired.has(queue)))
        continue
      const isFirst = draft.batch.length === 0
      const alone = pair.queues.some(({ isSingly }) => isSingly)
      if ((alone && !isFirst) || !this.#isReady(pair, draft.now, alone)) continue
      const editBytes = pair.queues.reduce((sum, { edits }) => sum + edits.bytes, 0)
      if (!isFirst && (draft.bytes + editBytes > this.#maxBytes || draft.isOver())) break
      const taken = buildPair(pair, this.#quota)
      draft.add(taken, alone)
      for (const queue of pair.queues) {
        if (!isEmpty(taken)) paired.add(queue)
        this.#active.delete(queue)
        this.#active.add(queue) // at the end of the order
      }
      if (alone && draft.batch.length > 0) break
    }
  }

  /** Whether a pair can go now. `alone`: it must be the only item of the commit, without even edits of its boards. */
  #isReady(pair: PendingWrite, now: number, alone: boolean): boolean {
    return pair.queues.every((queue) => {
      const isInTurn = queue.first() === pair && queue.canGo(now) && !queue.isFlushWanted
      const isKnown = queue.head !== null && queue.document?.current === true
      return isInTurn && isKnown && !(alone && queue.edits.count > 0) && this.#quota.isReady(queue.boardId)
    })
  }
}

const isEmpty = (taken: BatchItem[] | Building) => Array.isArray(taken) && taken.length === 0

function buildPair(pair: PendingWrite, quota: DocumentQuota): BatchItem[] | Building {
  const building = startBuilding(
    pair,
    pair.queues.map(({ head }) => head!),
  )
  try {
    const built = buildInline(building)
    return built ? itemsOf(building, built, quota) : building
  } catch (error) {
    pair.reject(error)
    return []
  }
}
