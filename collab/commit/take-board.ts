/** Takes the items of one board for a commit: edits, then a flush, then writes. */
import { identifierKey } from '../../core/card-values.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import type { BoardQueue, PendingWrite } from './board-queue.ts'
import { buildInline, needsDocument, startBuilding, writeItem, type Building } from './build.ts'
import type { DocumentQuota } from './document-quota.ts'
import { editItem, unbuilt, type BatchItem, type FlushItem, type WriteItem } from './items.ts'

/** How much may be taken. One item may exceed `bytes`. */
interface Budget {
  bytes: number
  /** `performance.now()` after which the rest waits for the next commit. */
  until: number
  /** Most writes. */
  writes: number
}

/** @returns the items for one commit; or a write that takes longer to build than other boards may wait */
export function takeBoard(queue: BoardQueue, budget: Budget, quota: DocumentQuota): BatchItem[] | Building {
  const slow = takeSlow(queue, quota)
  if (slow) return slow
  const items: BatchItem[] = []
  if (queue.edits.count > 0) {
    const edits = editItem(queue, budget.bytes)
    items.push(edits)
    // Later items are built on all edits in memory. So these edits must be committed with them or before.
    if (edits.count < queue.edits.count || queue.isSingly) return items
  }
  const flush = takeFlush(queue)
  if (flush) items.push(flush)
  if (!queue.first() || (flush && queue.isSingly)) return items
  return new WritesOfCommit(queue, items, budget, quota).take()
}

/** Returns the board's first write when it is known to be slow and can go now. */
function takeSlow(queue: BoardQueue, quota: DocumentQuota): Building | null {
  const write = queue.first()
  const { head, document } = queue
  if (!write?.isSlow || write.isPair || !head) return null
  if (queue.isFlushWanted || !quota.isReady(queue.boardId)) return null
  if (queue.isSingly && queue.edits.count > 0) return null
  if (needsDocument(write) && !document?.current) return null
  return startBuilding(write, [head])
}

/** Returns the flush; null when none is wanted, when there is nothing to write, or while the document catches up. */
function takeFlush(queue: BoardQueue): FlushItem | null {
  const { document } = queue
  if (!queue.isFlushWanted || document?.current === false) return null
  const flush = document?.project(queue.flushWantedAt)
  if (document && flush) return { kind: 'flush', queue, updates: [], flush, seen: document.appliedSeq }
  queue.endFlush()
  return null
}

/** Takes the writes of a board for one commit, in order. Each is built on those before it. */
class WritesOfCommit {
  readonly #queue: BoardQueue
  readonly #items: BatchItem[]
  readonly #budget: Budget
  readonly #quota: DocumentQuota
  readonly #isFlushing: boolean
  #bytes: number
  /** The board's counters after the writes taken so far. */
  #head: BoardHead | null
  /** Cards that these writes read and may change, and identifiers that they claim. */
  readonly #read = new Set<string>()
  readonly #claimed = new Set<string>()
  /** Whether one of them reads the whole board. Then no other write follows in this commit. */
  #isWhole = false
  #count = 0
  /** A write that takes longer to build than other boards may wait. */
  #slow: Building | null = null

  constructor(queue: BoardQueue, items: BatchItem[], budget: Budget, quota: DocumentQuota) {
    this.#queue = queue
    this.#items = items
    this.#budget = budget
    this.#quota = quota
    this.#head = queue.head
    this.#isFlushing = items.some(({ kind }) => kind === 'flush')
    this.#bytes = items.reduce((sum, { updates }) => sum + bytesOf(updates), 0)
  }

  take(): BatchItem[] | Building {
    let goesOn = true
    while (goesOn && !this.#isWhole && this.#hasRoom()) goesOn = this.#takeNext()
    return this.#slow ?? this.#items
  }

  #hasRoom(): boolean {
    const { bytes, until, writes } = this.#budget
    if (this.#count >= writes) return false
    return this.#items.length === 0 || (this.#bytes < bytes && performance.now() < until)
  }

  /** @returns whether another write may follow, here and below */
  #takeNext(): boolean {
    const queue = this.#queue
    const write = queue.first()
    if (!write || write.isPair || (write.isSlow && this.#items.length > 0)) return false
    if (!this.#quota.isReady(queue.boardId)) return false
    if (!this.#head) {
      queue.take()
      this.#items.push(unbuilt(queue, write, 'probe'))
      return false
    }
    if (needsDocument(write)) {
      if (!this.#goesWithOthers(write)) return false
      this.#isWhole = write.reads === 'board'
    }
    // The commit checks what a write rests on against earlier commits only.
    if (write.restsOn && Object.keys(write.restsOn.cards).some((id) => this.#read.has(id))) return false
    return this.#build(startBuilding(write, [this.#head]), this.#head)
  }

  /** Whether a write that reads the document can share the commit with the items taken so far. */
  #goesWithOthers({ reads }: PendingWrite): boolean {
    if (!this.#queue.document?.current || this.#isFlushing) return false
    if (typeof reads === 'object') return ![...reads].some((id) => this.#read.has(id))
    return !this.#items.some(({ kind }) => kind === 'write')
  }

  #build(building: Building, head: BoardHead): boolean {
    const { write, parts } = building
    try {
      const built = buildInline(building)
      if (built) return this.#add(writeItem(write, parts[0]!, built[0]!, this.#quota), head)
    } catch (error) {
      write.reject(error)
      return true
    }
    write.foundSlow()
    if (this.#items.length === 0) this.#slow = building
    else {
      building.steps.return([])
      this.#queue.putBack(write) // the items that it is built on must be committed first
    }
    return false
  }

  #add(item: WriteItem, head: BoardHead): boolean {
    const { queue, write, built } = item
    const claims = (built?.claims?.identifiers ?? []).map(identifierKey)
    // The commit checks claims against earlier commits, not against each other.
    if (claims.some((claim) => this.#claimed.has(claim))) {
      this.#quota.giveBack(queue.boardId, item.reservedBytes)
      queue.putBack(write)
      return false
    }
    this.#items.push(item)
    this.#count += 1
    if (!built) return true
    for (const claim of claims) this.#claimed.add(claim)
    if (typeof write.reads === 'object') for (const id of write.reads) this.#read.add(id)
    for (const id of Object.keys(write.restsOn?.cards ?? {})) this.#read.add(id)
    this.#bytes += bytesOf(item.updates)
    const topZ = Math.max(head.topZ, built.top ?? head.topZ)
    this.#head = { ...head, apiClock: head.apiClock + built.used, topZ }
    return !queue.isSingly
  }
}
