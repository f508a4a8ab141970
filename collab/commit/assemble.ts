/** Puts commits together: what goes with what, in which order, and what has to wait; see commit.ts. */
import type { BoardQueue, PairedWrites, PendingWrite } from './board-queue.ts'
import { buildingOfPair, buildInline, buildInTurns, itemsOf, type Building } from './build.ts'
import type { DocumentQuota } from './document-quota.ts'
import { isLarge, itemBytes, type BatchItem } from './items.ts'
import { takeBoard } from './take-board.ts'
import type { BuiltWrite } from './write-request.ts'

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

/** A commit that is being put together. */
class Draft implements Assembled {
  readonly now: number
  /** `performance.now()` after which what comes goes into the next commit. */
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
    const draft = new Draft(now)
    // By turns, so that neither pairs nor all others are put off for ever.
    if (!this.#pairsLast) this.#takePairs(draft)
    this.#takeOthers(draft)
    if (this.#pairsLast && draft.batch.length === 0 && draft.large.length === 0) this.#takePairs(draft)
    this.#pairsLast = draft.hasPairs
    return draft
  }

  /** What goes with the pairs. */
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
      if (!queue.idle || isBuilding || items.length > 0) this.#active.add(queue) // at the end: the others have their turn first
      if (isBuilding) draft.large.push(this.#buildAside(items))
      else if (isLarge(items) && !queue.isSingly) draft.large.push(setAside(items))
      else draft.add(items)
      if (queue.isSingly && draft.batch.length > 0) break
    }
  }

  /**
   * The pairs that can go now, each with all edits of its boards, on which it is built. No other write of these boards
   * goes with them.
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

  /** The others have their turn first. */
  #toTheEnd(queues: readonly BoardQueue[]): void {
    for (const queue of queues) {
      this.#active.delete(queue)
      this.#active.add(queue)
    }
  }

  /** Whether a pair can go now. `alone`: with nothing else, the edits of its boards included. */
  #isReady(pair: PairedWrites, now: number, alone: boolean): boolean {
    return pair.queues.every((queue, side) => {
      const isInTurn = queue.first() === pair.halves[side] && queue.canGo(now) && !queue.isFlushWanted
      const isKnown = queue.head !== null && queue.document?.current === true
      return isInTurn && isKnown && !(alone && queue.edits.count > 0) && this.#quota.isReady(queue.boardId)
    })
  }

  /** Its boards give nothing else before it is settled. Edits that come while it is built are in memory: they go with it. */
  #buildAside(building: Building): LargeCommit {
    const queues = building.parts.map(({ queue }) => queue)
    for (const queue of queues) queue.leave()
    const writes = building.parts.map(({ write }) => write)
    return { queues, writes, items: () => buildInTurns(building, this.#quota) }
  }
}

/** Its boards give nothing else before it is settled. */
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
