/** What waits for a commit, board by board; see commit.ts. */
import type { Identifier } from '../../core/card.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import type { BoardHead } from '../log/log.ts'
import type { CardRow, GroupRow } from '../canvas/project.ts'

export interface BuiltWrite {
  updates: Uint8Array[]
  /** API clocks that the updates take; zero for deletions. */
  used: number
  rows: CardRow[]
  groups: GroupRow[]
  /** Cards added, for the cap. */
  adds: number
  /** Bytes by which cards and groups get larger. Zero or less: it is written however full the owner's storage is. */
  grows: number
  /** The highest z it sets. */
  top: number | null
  /** Whole cards that it removes, to be kept for their restore tokens. */
  removed: { token: string; id: string; state: Uint8Array }[]
  /** Files that its cards name and the workspace of the board may not have yet; see sql/functions/files.sql. */
  files?: string[]
  /** What no card of the board but `cards` may carry. */
  claims?: { identifiers: Identifier[]; cards: string[] } | null
  /** What the request's idempotency key keeps of it, from which its answer is made again; else the ids of new cards. */
  made?: string[]
}

export interface WriteRequest {
  op: string
  /** The account whose rights decide. */
  account: string
  /**
   * What it reads of the document: nothing (new cards with positions), some cards, or all of it. Two writes of one
   * board share a commit only when neither reads what the other changes. `position`: nothing of a document that would
   * have to be in memory, but it holds only at the log position of the head that it is built with.
   */
  reads: 'nothing' | 'position' | 'board' | ReadonlySet<string>
  /**
   * Builds the change. Called again when the board has moved on. Throws a ServiceError to refuse. As steps, when it may
   * take long: between them editors may change the document, other writes of the board wait.
   */
  build(head: BoardHead): BuiltWrite | Steps<BuiltWrite>
}

/** Two writes, each on a board of its own, that are committed together or not at all. */
export interface PairRequest {
  op: string
  account: string
  boardIds: [string, string]
  /** How messages name the second board; what the pair adds is added there. */
  where: string
  /** As of a write that reads all of its board, for both boards at once. */
  build(heads: [BoardHead, BoardHead]): [BuiltWrite, BuiltWrite] | Steps<[BuiltWrite, BuiltWrite]>
}

export interface Written {
  seq: number
  /** Time of the commit, in milliseconds. */
  at: number
  /** Times of the rows that are not both `at`. */
  times: Map<string, { created: number; updated: number }>
}

export interface FlushRows {
  rows: CardRow[]
  groups: GroupRow[]
  /** More rows are to follow: only then does the index hold all that the document does. */
  isPart: boolean
}

/** An API write that is in the log, and the cards and groups whose rows went with it. */
export interface CommittedWrite {
  updates: Uint8Array[]
  cards: ReadonlySet<string>
  groups: ReadonlySet<string>
}

/** What the queue needs of a document that is in memory. */
export interface CommittingDocument {
  /** It holds the log up to here, without a gap. */
  readonly appliedSeq: number
  /** Whether it holds all that is known to be committed; else it is catching up. */
  readonly current: boolean
  /** The rows of what edits touched; null when there are none. */
  project(): FlushRows | null
  /** A commit of this process: applies the API's updates when nothing lies between, else catches up. */
  committed(seq: number, writes: CommittedWrite[]): void
  /** What `project` gave last is in the index, or is not. */
  flushed(): void
  flushFailed(): void
  /** Someone else has committed: catch up. */
  noticed(seq: number): void
  /** So many sockets are about to be written to: sends what waits to be broadcast, when that saves writes. */
  showWith(sockets: number): void
  /** The board is no more. */
  gone(): void
}

export interface QueuedEdit {
  update: Uint8Array
  actors: string[]
  /** Bytes that guests sent of it, by account; undefined when none did. */
  guests?: ReadonlyMap<string, number> | undefined
}

export interface PendingWrite extends WriteRequest {
  /** What the request leaves behind of itself, in the commit. */
  operation: object | undefined
  queuedAt: number
  resolve(written: Written): void
  reject(error: unknown): void
  settled: boolean
  /** Building it takes longer than a commit of others may wait. */
  isSlow: boolean
  /** How messages name its board. */
  where?: string
  pair?: Pair
}

/**
 * A pair has a write in each of two queues, and goes when both have come to the front. It was put into both at once, and
 * what has to go again keeps its place, so that no two pairs wait for each other.
 */
export interface Pair {
  queues: [BoardQueue, BoardQueue]
  writes: [PendingWrite, PendingWrite]
  build: PairRequest['build']
}

/** One board's share of the queue. */
export class BoardQueue {
  readonly boardId: string
  head: BoardHead | null = null
  document: CommittingDocument | null = null
  edits: QueuedEdit[] = []
  editBytes = 0
  /** Edits ever queued, and how many of them are committed: an acknowledgement waits until the second reaches what the first was. */
  queuedMark = 0
  committedMark = 0
  editsSince = 0
  writes: PendingWrite[] = []
  flushWaiters: (() => void)[] = []
  flushWanted = false
  retryAt = 0
  retryDelayMs = 0
  /** After a fault: this many commits take one item of this board alone. */
  singly = 0
  stalled = false
  /** Its items are on their way in a commit: nothing else of it is taken until that is settled. */
  away = false
  readonly #waiters = new Set<() => void>()

  constructor(boardId: string) {
    this.boardId = boardId
  }

  get idle(): boolean {
    return this.edits.length === 0 && this.writes.length === 0 && !this.flushWanted
  }

  /** Calls back once, at the next commit of edits of this board. */
  onCommitted(waiter: () => void): void {
    this.#waiters.add(waiter)
  }

  release(): void {
    if (this.#waiters.size === 0) return
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    this.document?.showWith(waiters.length) // in the same write as the acknowledgements
    for (const waiter of waiters) waiter()
  }
}

/** The first write that is still wanted. */
export function firstWrite(queue: BoardQueue): PendingWrite | undefined {
  while (queue.writes[0]?.settled) queue.writes.shift()
  return queue.writes[0]
}

export function endFlush(queue: BoardQueue): void {
  queue.flushWanted = false
  for (const waiter of queue.flushWaiters.splice(0)) waiter()
}

export function rejectWrite(write: PendingWrite, error: unknown): void {
  if (write.settled) return
  for (const one of write.pair?.writes ?? [write]) one.settled = true
  write.reject(error)
}
