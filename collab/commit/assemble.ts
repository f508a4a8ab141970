/**
 * Assembles commits: decides which items go into the next commit, in which order, and which have to wait; see
 * commit.ts.
 */
import type { BoardQueue, PairedWrites, PendingWrite } from './board-queue.ts'
import { buildingOfPair, buildInline, buildInTurns, itemsOf, type Building } from './build.ts'
import type { DocumentQuota } from './document-quota.ts'
import { isLarge, itemBytes, type BatchItem } from './items.ts'
import { takeBoard } from './take-board.ts'
import type { BuiltWrite } from './write-request.ts'

/**
 * A commit that is so large that other boards don't wait for it. Its boards put no other item into a commit until it is
 * settled.
 */
export interface LargeCommit {
  queues: BoardQueue[]
  writes: PendingWrite[]
  /** Builds the rest of the items. */
  items(): BatchItem[] | Promise<BatchItem[]>
}

/** One commit with all small items, and the large commits. */
export interface Assembled {
  batch: BatchItem[]
  large: LargeCommit[]
}

/** A commit that is being assembled. */
class Draft implements Assembled {
  readonly now: number
  /** `performance.now()` after which further items go into the next commit. */
  readonly until = performance.now() + assemblyMs
  readonly batch: BatchItem[] = []
  readonly large: LargeCommit[] = []
  #bytes = 0

  constructor(now: number) {
    this.now = now
  }

  get bytes(): number {
    return this.#bytes
  }

  add(items: BatchItem[]): void {
    this.batch.push(...items)
    for (const item of items) this.#bytes += itemBytes(item)
  }

  isOver(): boolean {
    return performance.now() > this.until
  }

  get hasPairs(): boolean {
    return (
      this.batch.some((item) => item.kind === 'write' && item.form === 'half') ||
      this.large.some(({ writes }) => writes.some(({ kind }) => kind === 'half'))
    )
  }
}

/** Time for assembling a commit. Further items go into the next commit. */
const assemblyMs = 15

export class Assembler {
  /** Boards with something to commit, in the order of their turns. */
  readonly #active: Set<BoardQueue>
  readonly #maxBytes: number
  readonly #quota: DocumentQuota
  #pairsLast = false

  constructor(active: Set<BoardQueue>, maxBytes: number, quota: DocumentQuota) {
    this.#active = active
    this.#maxBytes = maxBytes
    this.#quota = quota
  }

  /** Returns what can be committed now: one commit of the small items, and the large commits. */
  next(now: number): Assembled {
    const draft = new Draft(now)
    // Pairs and other items take turns at being first, so that neither waits forever.
    if (!this.#pairsLast) this.#takePairs(draft)
    this.#takeOthers(draft)
    if (this.#pairsLast && draft.batch.length === 0 && draft.large.length === 0) this.#takePairs(draft)
    this.#pairsLast = draft.hasPairs
    return draft
  }

  /** Adds the items of boards that have no pair in this commit. */
  #takeOthers(draft: Draft): void {
    const paired = new Set(draft.batch.map(({ queue }) => queue))
    if ([...paired].some(({ isSingly }) => isSingly)) return
    for (const queue of [...this.#active]) {
      const isFirst = draft.batch.length === 0
      if (draft.bytes >= this.#maxBytes || (!isFirst && draft.isOver())) break
      if (paired.has(queue) || !queue.canGo(draft.now) || (queue.isSingly && !isFirst)) continue
      const budget = { bytes: this.#maxBytes - draft.bytes, until: draft.until }
      const items = takeBoard(queue, budget, this.#quota)
      const isBuilding = !Array.isArray(items)
      this.#active.delete(queue)
      if (!queue.idle || isBuilding || items.length > 0) this.#active.add(queue) // at the end of the order
      if (isBuilding) draft.large.push(this.#buildAside(items))
      else if (isLarge(items) && !queue.isSingly) draft.large.push(setAside(items))
      else draft.add(items)
      if (queue.isSingly && draft.batch.length > 0) break
    }
  }

  /**
   * Adds the pairs that can go now. Each pair is built on all edits of its boards, which go with it. No other write of
   * these boards goes into this commit.
   */
  #takePairs(draft: Draft): void {
    const taken = new Set<BoardQueue>()
    for (const queue of [...this.#active]) {
      const first = queue.first()
      if (first?.kind !== 'half') continue
      const { pair } = first
      if (pair.queues[0] !== queue || pair.queues.some((one) => taken.has(one))) continue
      const isFirst = draft.batch.length === 0
      const alone = pair.queues.some(({ isSingly }) => isSingly)
      if ((alone && !isFirst) || !this.#isReady(pair, draft.now, alone)) continue
      const editBytes = pair.queues[0].edits.bytes + pair.queues[1].edits.bytes
      if (!isFirst && (draft.bytes + editBytes > this.#maxBytes || draft.isOver())) break
      const items = buildPair(pair, this.#quota)
      const isBuilding = !Array.isArray(items)
      if (isBuilding) draft.large.push(this.#buildAside(items))
      else if (isLarge(items) && !alone) draft.large.push(setAside(items))
      else draft.add(items)
      if (isBuilding || items.length > 0) for (const one of pair.queues) taken.add(one)
      if (!isBuilding) this.#toTheEnd(pair.queues)
      if (alone && draft.batch.length > 0) break
    }
  }

  /** Moves boards to the end of the order. */
  #toTheEnd(queues: readonly BoardQueue[]): void {
    for (const queue of queues) {
      this.#active.delete(queue)
      this.#active.add(queue)
    }
  }

  /** Whether a pair can go now. `alone`: it must be the only item of the commit, without even edits of its boards. */
  #isReady(pair: PairedWrites, now: number, alone: boolean): boolean {
    return pair.queues.every((queue, side) => {
      const isInTurn = queue.first() === pair.halves[side] && queue.canGo(now) && !queue.isFlushWanted
      const isKnown = queue.head !== null && queue.document?.current === true
      return isInTurn && isKnown && !(alone && queue.edits.count > 0) && this.#quota.isReady(queue.boardId)
    })
  }

  /**
   * Makes a large commit that is built in turns. Its boards put no other item into a commit until it is settled. Edits
   * that arrive while it is built are in memory, so they go into it.
   */
  #buildAside(building: Building): LargeCommit {
    const queues = building.parts.map(({ queue }) => queue)
    for (const queue of queues) queue.leave()
    const writes = building.parts.map(({ write }) => write)
    return { queues, writes, items: () => buildInTurns(building, this.#quota) }
  }
}

/** Makes a large commit from built items. Its boards put no other item into a commit until it is settled. */
function setAside(items: BatchItem[]): LargeCommit {
  const queues = items.map(({ queue }) => queue)
  for (const queue of queues) queue.leave()
  const writes = items.flatMap((item) => (item.kind === 'write' ? item.write : []))
  return { queues, writes, items: () => items }
}

function buildPair(pair: PairedWrites, quota: DocumentQuota): BatchItem[] | Building {
  const building = buildingOfPair(pair)
  let built: BuiltWrite[] | null
  try {
    built = buildInline(building)
  } catch (error) {
    pair.reject(error)
    return []
  }
  return built ? itemsOf(building, built, quota) : building
}
