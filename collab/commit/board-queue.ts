/** The queue of each board: edits, writes and flushes that wait for a commit; see commit.ts. */
import { randomUUID } from 'node:crypto'
import { actingSession, type SessionClaims } from '../../sql/acting-session.ts'
import type { RestsOn } from '../../sql/commit-call.ts'
import type { BoardHead } from '../log/log.ts'
import type { CommittingDocument } from './committing-document.ts'
import { EditBacklog } from './edit-backlog.ts'
import { Reservation } from './reservation.ts'
import type { PairRequest, WriteRequest, Written } from './write-request.ts'

/** The caller of a write, which waits for the results: one for each board. */
interface Caller {
  resolve(written: Written[]): void
  reject(error: unknown): void
}

/**
 * A write that waits for its commit, in the queue of its board. A pair is one write in two queues: both boards are
 * committed together or not at all. It can go when it is first in both queues. It entered both at the same moment, and
 * a write that is tried again keeps its place. So two pairs never wait for each other.
 *
 *   state         becomes       when
 *   waiting       half written  one of two boards is answered; the other one's answer is read next
 *   waiting       settled       its commit is answered, it is refused, or its deadline is over
 *   half written  settled       the other board is answered
 *
 * After that the caller learns nothing more: a commit that was in flight may still succeed.
 */
export class PendingWrite {
  /** Stored with the index rows. */
  readonly op = randomUUID()
  readonly request: WriteRequest | PairRequest
  readonly queues: readonly BoardQueue[]
  /** The record of the request for the commit. */
  readonly operation: object | undefined
  /** The session in which the account acts. Undefined: none. */
  readonly session: SessionClaims | undefined
  readonly reservation = new Reservation()
  readonly #queuedAt: number
  readonly #caller: Caller
  readonly #written: Written[] = []
  readonly #end = Promise.withResolvers<void>()
  #isSettled = false
  #isSlow = false

  /** @param now `performance.now()` */
  constructor(
    request: WriteRequest | PairRequest,
    queues: BoardQueue[],
    operation: object | undefined,
    now: number,
    caller: Caller,
  ) {
    this.request = request
    this.queues = queues
    this.operation = operation
    this.session = actingSession(request.account)
    this.#queuedAt = now
    this.#caller = caller
  }

  get isPair(): boolean {
    return this.queues.length > 1
  }

  get reads(): WriteRequest['reads'] {
    return 'reads' in this.request ? this.request.reads : 'board'
  }

  get restsOn(): RestsOn | undefined {
    return 'restsOn' in this.request ? this.request.restsOn : undefined
  }

  whereOf(queue: BoardQueue): string {
    return 'where' in this.request && queue === this.queues[1] ? this.request.where : ''
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Resolves when its caller has an answer. */
  get settled(): Promise<void> {
    return this.#end.promise
  }

  /** Whether building it takes longer than other boards may wait. Then it gets a commit of its own. */
  get isSlow(): boolean {
    return this.#isSlow
  }

  foundSlow(): void {
    this.#isSlow = true
  }

  resolve(queue: BoardQueue, written: Written): void {
    this.#written[this.queues.indexOf(queue)] = written
    if (this.isPair && !(this.#written[0] && this.#written[1])) return
    this.#isSettled = true
    this.#end.resolve()
    this.#caller.resolve(this.#written)
  }

  reject(error: unknown): void {
    this.#isSettled = true
    this.#end.resolve()
    this.#caller.reject(error)
  }

  /** Rejects the write when it was queued before `before`. */
  rejectLate(before: number, error: () => Error): void {
    if (this.#queuedAt < before && !this.#isSettled) this.reject(error())
  }
}

/** How long a board waits: first `firstMs`, then twice as long each time, up to `mostMs`. */
export interface Waits {
  firstMs: number
  mostMs: number
}

type State = { kind: 'ready' } | { kind: 'waiting'; until: number } | { kind: 'away' }

const ready: State = { kind: 'ready' }
const away: State = { kind: 'away' }

/**
 * The queue of one board: edits, writes, and whether a flush is wanted. Only one commit at a time contains items of it.
 *
 *   state     verb       becomes   when
 *   ready     leave      away      a commit contains its items, or a large commit of it is being built
 *   waiting   leave      away      the same, when `until` is over (`canGo`)
 *   away      leave      away      the large commit is sent
 *   away      comeBack   ready     the commit is answered or has failed, or it had nothing left to send
 *   ready     backOff    waiting   the board is locked elsewhere, or an item that was alone could not be stored
 *   any       goOn       ready     the commit found the board free; the next wait is short again
 *
 * After a fault the board goes singly: each of its next commits contains one item of it, and nothing of other boards.
 */
export class BoardQueue {
  readonly boardId: string
  readonly edits = new EditBacklog()
  readonly flushReservation = new Reservation()
  /** Writes that were built on the index since the board was last in memory. */
  indexedWrites = 0
  #head: BoardHead | null = null
  #document: CommittingDocument | null = null
  #writes: PendingWrite[] = []
  #flushWaiters: (() => void)[] = []
  #flushWantedAt = 0
  #state: State = ready
  #lastWaitMs = 0
  #singlyFor = 0

  constructor(boardId: string) {
    this.boardId = boardId
  }

  get idle(): boolean {
    return this.edits.count === 0 && this.#writes.length === 0 && !this.isFlushWanted
  }

  // ---- the board

  /** The board's counters as of the last commit or the last reading of the log; null: not known yet. */
  get head(): BoardHead | null {
    return this.#head
  }

  learn(head: BoardHead): void {
    this.#head = head
  }

  /** The document that writes are built on. */
  get document(): CommittingDocument | null {
    return this.#document?.isStored ? null : this.#document
  }

  /** What is told of the board's commits. */
  get listener(): CommittingDocument | null {
    return this.#document
  }

  /** From now on the document receives the board's commits. */
  attach(document: CommittingDocument): void {
    this.#document = document
    this.indexedWrites = 0
  }

  detach(document: CommittingDocument): void {
    if (this.#document === document) this.#document = null
  }

  // ---- whether its items may go

  get isAway(): boolean {
    return this.#state.kind === 'away'
  }

  canGo(now: number): boolean {
    return this.#state.kind === 'ready' || (this.#state.kind === 'waiting' && this.#state.until <= now)
  }

  /** `performance.now()` when its wait is over; null when it does not wait. */
  get waitsUntil(): number | null {
    return this.#state.kind === 'waiting' ? this.#state.until : null
  }

  leave(): void {
    this.#state = away
  }

  comeBack(): void {
    if (this.#state.kind === 'away') this.#state = ready
  }

  backOff(now: number, { firstMs, mostMs }: Waits): void {
    this.#lastWaitMs = Math.min(mostMs, this.#lastWaitMs * 2 || firstMs)
    this.#state = { kind: 'waiting', until: now + this.#lastWaitMs }
  }

  goOn(): void {
    this.#lastWaitMs = 0
    this.#state = ready
  }

  get isSingly(): boolean {
    return this.#singlyFor > 0
  }

  /** At least this many of the board's next commits take one item each. */
  goSingly(commits: number): void {
    this.#singlyFor = Math.max(this.#singlyFor, commits)
  }

  /** Counts one of these commits as done. */
  wentSingly(): void {
    if (this.#singlyFor > 0) this.#singlyFor -= 1
  }

  /** Ends going singly, because the faulty item has been found. */
  goTogether(): void {
    this.#singlyFor = 0
  }

  // ---- writes

  get waitingWrites(): number {
    return this.#writes.length
  }

  push(write: PendingWrite): void {
    this.#writes.push(write)
  }

  /** Returns the first write that is not settled. */
  first(): PendingWrite | undefined {
    while (this.#writes[0]?.isSettled) this.#writes.shift()
    return this.#writes[0]
  }

  take(): void {
    this.#writes.shift()
  }

  /** Returns writes to the front of the queue. They are tried again before all others. */
  putBack(...writes: PendingWrite[]): void {
    this.#writes.unshift(...writes)
  }

  rejectLate(before: number, error: () => Error): void {
    for (const write of this.#writes) write.rejectLate(before, error)
    this.#writes = this.#writes.filter((write) => !write.isSettled)
  }

  // ---- flushes

  get isFlushWanted(): boolean {
    return this.#flushWaiters.length > 0
  }

  /** The time of the last request for a flush. Later changes may wait for the next one. */
  get flushWantedAt(): number {
    return this.#flushWantedAt
  }

  /** Requests a flush. `tried` is called when it has been tried. */
  wantFlush(tried: () => void): void {
    this.#flushWantedAt = performance.now()
    this.#flushWaiters.push(tried)
  }

  endFlush(): void {
    for (const tried of this.#flushWaiters.splice(0)) tried()
  }

  /** Rejects everything that waits, because the process stops. */
  close(error: () => Error): void {
    for (const write of this.#writes.splice(0)) write.reject(error())
    this.endFlush()
  }
}
