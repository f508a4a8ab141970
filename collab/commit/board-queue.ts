/** The queue of each board: edits, writes and flushes that wait for a commit; see commit.ts. */
import type { BoardHead } from '../log/log.ts'
import type { CommittingDocument } from './committing-document.ts'
import { EditBacklog } from './edit-backlog.ts'
import type { PairRequest, WriteRequest, Written } from './write-request.ts'

/** The record of the request for the commit, and when the write was queued, in milliseconds. */
export interface Asked {
  operation: object | undefined
  queuedAt: number
}

/** The caller of a write, which waits for the result. */
interface Caller<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * A write of one board that waits for its commit.
 *
 *   state     becomes    when
 *   waiting   settled    its commit is answered, it is refused, or its deadline is over
 *
 * After that the caller learns nothing more: a commit that was in flight may still succeed.
 */
export class SingleWrite {
  readonly kind = 'single'
  readonly request: WriteRequest
  readonly asked: Asked
  readonly #caller: Caller<Written>
  #isSettled = false
  #isSlow = false

  constructor(request: WriteRequest, asked: Asked, caller: Caller<Written>) {
    this.request = request
    this.asked = asked
    this.#caller = caller
  }

  get reads(): WriteRequest['reads'] {
    return this.request.reads
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Whether building it takes longer than other boards may wait. Then it gets a commit of its own. */
  get isSlow(): boolean {
    return this.#isSlow
  }

  foundSlow(): void {
    this.#isSlow = true
  }

  resolve(written: Written): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#caller.resolve(written)
  }

  reject(error: unknown): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#caller.reject(error)
  }
}

/** One of two writes that are committed together. It waits in the queue of its board. */
export class HalfWrite {
  readonly kind = 'half'
  readonly reads = 'board'
  readonly pair: PairedWrites
  readonly #side: 0 | 1

  constructor(pair: PairedWrites, side: 0 | 1) {
    this.pair = pair
    this.#side = side
  }

  get request(): PairRequest {
    return this.pair.request
  }

  get asked(): Asked {
    return this.pair.asked
  }

  /** How messages name the write's board. */
  get where(): string {
    return this.#side === 1 ? this.request.where : ''
  }

  get isSettled(): boolean {
    return this.pair.isSettled
  }

  resolve(written: Written): void {
    this.pair.resolve(this.#side, written)
  }

  /** Rejects both halves. */
  reject(error: unknown): void {
    this.pair.reject(error)
  }
}

/**
 * Two writes that are committed together or not at all, one in each of two queues. The pair can go when both are first
 * in their queues. Both were queued at the same moment, and a write that is tried again keeps its place. So two pairs
 * never wait for each other.
 *
 *   state         becomes       when
 *   waiting       half written  the commit of both is answered; the other half's answer is read next
 *   half written  settled       the other half's answer is read
 *   waiting       settled       a half is refused, or the deadline is over
 */
export class PairedWrites {
  readonly queues: readonly [BoardQueue, BoardQueue]
  readonly halves: readonly [HalfWrite, HalfWrite] = [new HalfWrite(this, 0), new HalfWrite(this, 1)]
  readonly request: PairRequest
  readonly asked: Asked
  readonly #caller: Caller<[Written, Written]>
  readonly #written: Written[] = []
  #isSettled = false

  constructor(
    queues: [BoardQueue, BoardQueue],
    request: PairRequest,
    asked: Asked,
    caller: Caller<[Written, Written]>,
  ) {
    this.queues = queues
    this.request = request
    this.asked = asked
    this.#caller = caller
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  resolve(side: 0 | 1, written: Written): void {
    if (this.#isSettled) return
    this.#written[side] = written
    const [first, second] = this.#written
    if (!first || !second) return
    this.#isSettled = true
    this.#caller.resolve([first, second])
  }

  reject(error: unknown): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#caller.reject(error)
  }
}

export type PendingWrite = SingleWrite | HalfWrite

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
  #head: BoardHead | null = null
  #document: CommittingDocument | null = null
  #writes: PendingWrite[] = []
  #isFlushWanted = false
  #flushWaiters: (() => void)[] = []
  #state: State = ready
  #lastWaitMs = 0
  #singlyFor = 0

  constructor(boardId: string) {
    this.boardId = boardId
  }

  get idle(): boolean {
    return this.edits.count === 0 && this.#writes.length === 0 && !this.#isFlushWanted
  }

  // ---- the board

  /** The board's counters as of the last commit or the last reading of the log; null: not known yet. */
  get head(): BoardHead | null {
    return this.#head
  }

  learn(head: BoardHead): void {
    this.#head = head
  }

  get document(): CommittingDocument | null {
    return this.#document
  }

  /** From now on the document receives the board's commits. */
  attach(document: CommittingDocument): void {
    this.#document = document
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

  /** The time when its wait is over; null when it does not wait. */
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

  /** Removes the first write. */
  take(): void {
    this.#writes.shift()
  }

  /** Returns writes to the front of the queue. They are tried again before all others. */
  putBack(writes: PendingWrite[]): void {
    this.#writes.unshift(...writes)
  }

  /** Rejects the writes that were queued before `before`. */
  rejectLate(before: number, error: () => Error): void {
    for (const write of this.#writes) if (write.asked.queuedAt < before) write.reject(error())
    this.#writes = this.#writes.filter((write) => !write.isSettled)
  }

  // ---- flushes

  get isFlushWanted(): boolean {
    return this.#isFlushWanted
  }

  /** Requests a flush. `tried` is called when it has been tried. */
  wantFlush(tried: () => void): void {
    this.#isFlushWanted = true
    this.#flushWaiters.push(tried)
  }

  endFlush(): void {
    this.#isFlushWanted = false
    for (const tried of this.#flushWaiters.splice(0)) tried()
  }

  /** Rejects everything that waits, because the process stops. */
  close(error: () => Error): void {
    for (const write of this.#writes.splice(0)) write.reject(error())
    for (const tried of this.#flushWaiters.splice(0)) tried()
  }
}
