/** Takes the items of one board for a commit: edits, then a flush, then writes. */
import { bytesOf, type BoardHead } from '../log/log.ts'
import type { BoardQueue, SingleWrite } from './board-queue.ts'
import { buildingOf, buildInline, needsDocument, partOf, singleItem, type Building } from './build.ts'
import type { DocumentQuota } from './document-quota.ts'
import { editItem, type BatchItem, type FlushItem, type FullItem, type SingleItem } from './items.ts'
import type { BuiltWrite } from './write-request.ts'

/** How much may be taken. One item may exceed `bytes`. */
export interface Budget {
  bytes: number
  /** `performance.now()` after which the rest waits for the next commit. */
  until: number
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
  if (flush && queue.isSingly) return items
  return new WritesOfCommit(queue, items, budget, quota).take()
}

/** Returns the board's first write when it is known to be slow and can go now. */
function takeSlow(queue: BoardQueue, quota: DocumentQuota): Building | null {
  const write = queue.first()
  const { head, document } = queue
  if (write?.kind !== 'single' || !write.isSlow || !head) return null
  if (queue.isFlushWanted || !quota.isReady(queue.boardId)) return null
  if (queue.isSingly && queue.edits.count > 0) return null
  if (needsDocument(write) && !document?.current) return null
  queue.take()
  return buildingOf(partOf(queue, write, head))
}

/** Returns the flush; null when none is wanted, when there is nothing to write, or while the document catches up. */
function takeFlush(queue: BoardQueue): FlushItem | null {
  const { document } = queue
  if (!queue.isFlushWanted || document?.current === false) return null
  const flush = document?.project()
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
    let next: 'more' | 'no more' | Building = 'more'
    while (next === 'more' && !this.#isWhole && this.#hasRoom()) next = this.#takeNext()
    return typeof next === 'string' ? this.#items : next
  }

  #hasRoom(): boolean {
    const { bytes, until } = this.#budget
    return this.#items.length === 0 || (this.#bytes < bytes && performance.now() < until)
  }

  #takeNext(): 'more' | 'no more' | Building {
    const queue = this.#queue
    const write = queue.first()
    if (write?.kind !== 'single' || (write.isSlow && this.#items.length > 0)) return 'no more'
    if (!this.#quota.isReady(queue.boardId)) return 'no more'
    if (!this.#head) {
      queue.take()
      this.#items.push({ kind: 'write', form: 'head probe', queue, write, updates: [] })
      return 'no more'
    }
    if (needsDocument(write)) {
      if (!this.#goesWithOthers(write)) return 'no more'
      this.#isWhole = write.reads === 'board'
    }
    queue.take()
    return this.#build(write, this.#head)
  }

  /** Whether a write that reads the document can share the commit with the items taken so far. */
  #goesWithOthers({ reads }: SingleWrite): boolean {
    if (!this.#queue.document?.current || this.#isFlushing) return false
    if (typeof reads === 'object') return ![...reads].some((id) => this.#read.has(id))
    return !this.#items.some(({ kind }) => kind === 'write')
  }

  #build(write: SingleWrite, head: BoardHead): 'more' | 'no more' | Building {
    const part = partOf(this.#queue, write, head)
    const building = buildingOf(part)
    let built: BuiltWrite[] | null
    try {
      built = buildInline(building)
    } catch (error) {
      write.reject(error)
      return 'more'
    }
    if (built) return this.#add(singleItem(part, built[0]!, this.#quota), head)
    write.foundSlow()
    if (this.#items.length === 0) return building
    // The items that it is built on must be committed first.
    this.#queue.putBack([write])
    return 'no more'
  }

  #add(item: SingleItem | FullItem, head: BoardHead): 'more' | 'no more' {
    if (item.form === 'full') {
      this.#items.push(item)
      return 'more'
    }
    const { queue, write, built } = item
    const claims = (built.claims?.identifiers ?? []).map(({ scope, value }) => JSON.stringify([scope, value]))
    // The commit checks claims against earlier commits, not against each other.
    if (claims.some((claim) => this.#claimed.has(claim))) {
      this.#quota.giveBack(queue.boardId, item.reservedBytes)
      queue.putBack([write])
      return 'no more'
    }
    for (const claim of claims) this.#claimed.add(claim)
    if (typeof write.reads === 'object') for (const id of write.reads) this.#read.add(id)
    this.#items.push(item)
    this.#bytes += bytesOf(item.updates)
    const topZ = Math.max(head.topZ, built.top ?? head.topZ)
    this.#head = { ...head, apiClock: head.apiClock + built.used, topZ }
    return queue.isSingly ? 'no more' : 'more'
  }
}
