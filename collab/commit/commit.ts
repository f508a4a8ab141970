/**
 * The commit path. Edits from sockets and writes from the API wait here in one queue per board. One call to the
 * database commits everything that was queued since the last one, over all boards. When many writes of other boards
 * wait, a second call runs beside it. A board's own commits never overlap.
 *
 *   edits   Changes by editors. They are already in memory and on the screens, so they are always appended.
 *   writes  Changes by the API. They are built from the current document when the commit is assembled, and applied
 *           after the commit. They may be refused.
 *   flush   Index rows of the cards that edits changed.
 *
 * Two writes of two boards can form a pair: both are committed, or neither is.
 *
 * A call whose outcome is unknown is repeated with the same commit id, so that nothing is written twice.
 *
 * Waits and deadlines go by `performance.now()`: a clock that is set back or ahead must not change them.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import { inTurns } from '../../platform/work/loop-turn.ts'
import { mark } from '../../platform/work/loop-watchdog.ts'
import { ordinaryMs, type Pace } from '../../platform/work/pace.ts'
import { commitLanes } from '../../sql/database.ts'
import { currentOperation } from '../../sql/operation.ts'
import { Assembler, type LargeCommit } from './assemble.ts'
import { BoardQueue, PendingWrite } from './board-queue.ts'
import { bytesOf } from '../log/log.ts'
import { encodeCall, type CommitAnswer, type Quotas } from './commit-call.ts'
import type { QueuedEdit } from './edit-backlog.ts'
import { Gathering } from './gather.ts'
import type { BatchItem } from './items.ts'
import { DocumentsFull, shuttingDown, tooLate, tooOften } from './refusal.ts'
import { repeatCall, type RepeatOptions } from './repeat-call.ts'
import { settle, settleFault, type SettleOptions } from './settle.ts'
import type { PairRequest, WriteRequest, Written } from './write-request.ts'

export interface CommitQueueOptions extends Quotas, SettleOptions, Pick<RepeatOptions, 'commit'> {
  /**
   * When edits of a board have waited this long for their commit, its sockets are closed and nothing is acknowledged.
   */
  editDeadlineMs?: number
  /** A write that has waited this long for its commit is answered with 503. */
  writeDeadlineMs?: number
  /** An answer of the database that takes longer counts as lost. */
  answerTimeoutMs?: number
  maxCommitBytes?: number
  /** The time of the main thread that accounts have for changes of documents. */
  pace: Pace
  onStalled(boardId: string): void
  /** Called after each commit. */
  onCommit?(commit: CommitFigures): void
}

/** What a commit took. */
export interface CommitFigures {
  outcome: 'committed' | 'failed'
  /** Whether it was large, and ran beside the others. */
  isLarge: boolean
  durationMs: number
  /** Bytes of its updates. */
  bytes: number
  /** The longest time that an edit in it has waited for its acknowledgement; null when it had no edits. */
  ackLagMs: number | null
}

const defaults = {
  editDeadlineMs: 15_000,
  writeDeadlineMs: 8_000,
  answerTimeoutMs: 20_000,
  maxCommitBytes: 1024 * 1024,
}

export class CommitQueue {
  /** Under this id it reserves boards. */
  readonly #node = randomUUID()
  readonly #options: CommitQueueOptions & typeof defaults
  readonly #queues = new Map<string, BoardQueue>()
  /** Boards with something to commit, in the order of their turns. */
  readonly #active = new Set<BoardQueue>()
  readonly #assembler: Assembler
  readonly #inFlight = new Set<BatchItem[]>()
  /** Large commits that are not in flight yet. */
  readonly #waiting = new Set<LargeCommit>()
  /**
   * Large commits run beside the small ones. They are built several at a time, and committed one after the other. In both,
   * accounts take turns: slow writes of one account don't hold up the large commits of others.
   */
  readonly #building = new FairQueue({ atOnce: 4, atOncePerAccount: 1 })
  readonly #committing = new FairQueue({ atOnce: 1 })
  #largeCount = 0
  readonly #gathering = new Gathering()
  /** The number of running lanes. A lane commits one batch after the other until nothing can go. */
  #lanes = 0
  #scheduled = false
  #calledAgain = false
  #stopped = false
  #wakeAt: NodeJS.Timeout | null = null
  readonly #watch: NodeJS.Timeout

  constructor(options: CommitQueueOptions) {
    this.#options = { ...defaults, ...options }
    this.#assembler = new Assembler(this.#active, this.#options.maxCommitBytes, options.quota)
    this.#watch = setInterval(() => this.#watchDeadlines(), Math.min(500, this.#options.writeDeadlineMs / 4))
    this.#watch.unref()
  }

  board(boardId: string): BoardQueue {
    let queue = this.#queues.get(boardId)
    if (queue) this.#queues.delete(boardId)
    else queue = new BoardQueue(boardId)
    this.#queues.set(boardId, queue) // to the end: the least recently used is first, and is dropped first
    if (this.#queues.size > maxQueues) this.#dropIdle()
    return queue
  }

  /**
   * Queues an edit that is already in memory. `frames` is the number of frames it was made from. Its acknowledgements
   * wait for `queue.edits.mark`.
   */
  edit(queue: BoardQueue, { frames = 1, ...edit }: QueuedEdit & { frames?: number | undefined }): void {
    this.#gathering.arrive(frames)
    queue.edits.push(edit, performance.now())
    this.#active.add(queue)
    this.#schedule(process.nextTick)
  }

  /**
   * Queues a write, and resolves when it is committed.
   *
   * @throws ServiceError when it is refused, or `storage_unavailable` when it is not known to be committed in time
   */
  write(boardId: string, request: WriteRequest): Promise<Written> {
    return this.#write([boardId], request, ([written]) => written!)
  }

  /**
   * Queues two writes that are committed together or not at all. Both boards must stay in memory until then.
   *
   * @throws ServiceError as `write` does
   */
  writePair(request: PairRequest): Promise<[Written, Written]> {
    return this.#write(request.boardIds, request, ([first, second]) => [first!, second!])
  }

  /** Repeats a write once when it was refused for lack of storage by an outdated figure. */
  async #write<Result>(
    boardIds: string[],
    request: WriteRequest | PairRequest,
    resultOf: (written: Written[]) => Result,
  ): Promise<Result> {
    const operation = currentOperation()?.onBoard()
    const costMs = boardIds.reduce((sum, id) => sum + (this.#queues.get(id)?.document?.transactionMs ?? 0), 0)
    if (costMs > ordinaryMs) await this.#paced(request.account, costMs)
    const write = (): Promise<Result> => {
      if (this.#stopped) return Promise.reject(shuttingDown())
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const caller = { resolve: (written: Written[]) => resolve(resultOf(written)), reject }
      const queues = boardIds.map((boardId) => this.board(boardId))
      const pending = new PendingWrite(request, queues, operation, performance.now(), caller)
      for (const queue of queues) {
        queue.push(pending)
        this.#activate(queue)
      }
      return promise
    }
    try {
      return await write()
    } catch (error) {
      if (error instanceof DocumentsFull && (await this.#options.quota.refused(boardIds.at(-1)!)))
        return write()
      throw error
    }
  }

  /** Waits while the account has used up its time. */
  async #paced(account: string, costMs: number): Promise<void> {
    const { pace, writeDeadlineMs } = this.#options
    if (!(await pace.turn(account, costMs, writeDeadlineMs))) throw tooOften()
  }

  /** Writes the index rows of cards that edits changed. Resolves when that has been tried. */
  flush(boardId: string): Promise<void> {
    const queue = this.board(boardId)
    return new Promise((resolve) => {
      queue.wantFlush(resolve)
      this.#activate(queue)
    })
  }

  /** Counts what waits. It looks only at boards that have something to commit. */
  counts(): { editBytes: number; writes: number; large: number } {
    const counts = { editBytes: 0, writes: 0, large: this.#largeCount }
    for (const { edits, waitingWrites } of this.#active) {
      counts.editBytes += edits.bytes
      counts.writes += waitingWrites
    }
    return counts
  }

  /** Tries again, because something that an item waited for has happened. */
  wake(): void {
    this.#schedule()
  }

  /**
   * Tries a board again at once: what locked it has ended. Measured beside 50 clients that write to one board: its commits
   * went on 6 to 80 ms after a compaction, 34 on average.
   */
  unlocked(boardId: string): void {
    const queue = this.#queues.get(boardId)
    if (!queue || queue.waitsUntil === null) return
    queue.goOn()
    this.#schedule()
  }

  /** Commits what is queued, then stops. Resolves early when that takes longer than `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (
      performance.now() < deadline &&
      (this.#active.size > 0 || this.#lanes > 0 || this.#largeCount > 0)
    ) {
      this.#schedule()
      await delay(5)
    }
    this.#stopped = true
    clearInterval(this.#watch)
    if (this.#wakeAt) clearTimeout(this.#wakeAt)
    for (const queue of this.#queues.values()) queue.close(shuttingDown)
  }

  #activate(queue: BoardQueue): void {
    this.#active.add(queue)
    this.#schedule()
  }

  /**
   * @param soon when to start: by default after this turn of the event loop, so that what comes in it goes into one
   *   commit. Edits have been gathered before.
   */
  #schedule(soon: (start: () => void) => void = setImmediate): void {
    this.#calledAgain = true
    if (this.#scheduled || this.#stopped || this.#lanes === commitLanes) return
    this.#scheduled = true
    soon(this.#start)
  }

  readonly #start = (): void => {
    this.#scheduled = false
    if (this.#stopped || (this.#lanes > 0 && this.#waitingWrites() < secondLaneFrom)) return
    this.#lanes += 1
    void this.#run().finally(() => {
      this.#lanes -= 1
      if (this.#calledAgain) this.#schedule() // an item was queued after the lane's last check
    })
  }

  /** The number of waiting writes of boards that have no item in flight. */
  #waitingWrites(): number {
    let count = 0
    for (const { isAway, waitingWrites } of this.#active) if (!isAway) count += waitingWrites
    return count
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      if (this.#lanes === 1) await this.#gathering.wait()
      this.#calledAgain = false
      mark('assembling a commit')
      const { batch, large } = this.#assembler.next(performance.now())
      for (const one of large) this.#commitAside(one)
      if (batch.length === 0) break
      this.#gathering.assembled()
      await this.#commit(batch, false)
    }
    this.#wakeForRetries()
  }

  async #commit(batch: BatchItem[], aside: boolean): Promise<void> {
    this.#inFlight.add(batch)
    for (const { queue } of batch) queue.leave()
    const startedAt = performance.now()
    const took = () => ({ isLarge: aside, durationMs: performance.now() - startedAt, bytes: sizeOf(batch) })
    let answer: CommitAnswer | null
    try {
      const steps = encodeCall(batch, this.#node, this.#options)
      const only = steps.next() // of a small batch
      const call = only.done ? only.value : await inTurns(steps)
      answer = await repeatCall(call, aside, () => this.#stopped, this.#options)
    } catch (error) {
      this.#back(batch)
      this.#options.onCommit?.({ ...took(), outcome: 'failed', ackLagMs: null })
      settleFault(batch, error, this.#options)
      return
    }
    this.#back(batch)
    if (!answer) return
    const figures = took()
    const ackLagMs = settle(batch, answer, this.#active, this.#options)
    this.#options.onCommit?.({ ...figures, outcome: 'committed', ackLagMs })
  }

  #back(batch: BatchItem[]): void {
    this.#inFlight.delete(batch)
    for (const { queue } of batch) queue.comeBack()
  }

  /** Builds and commits a large commit. Its boards wait for it, the others don't. */
  #commitAside(large: LargeCommit): void {
    this.#largeCount += 1
    this.#waiting.add(large)
    void this.#buildAndCommit(large)
      .catch((error: unknown) => this.#options.log.error({ err: error }, 'settling a large commit failed'))
      .finally(() => {
        this.#largeCount -= 1
        this.#schedule()
      })
  }

  async #buildAndCommit(large: LargeCommit): Promise<void> {
    const { items, writes, queues } = large
    const account = writes[0]?.request.account ?? queues[0]!.boardId
    const batch = Array.isArray(items) ? items : await this.#building.run(account, items)
    await this.#committing.run(account, async () => {
      this.#waiting.delete(large)
      if (batch.length > 0) await this.#commit(batch, true)
      else for (const queue of queues) queue.comeBack()
    })
  }

  #wakeForRetries(): void {
    if (this.#wakeAt) clearTimeout(this.#wakeAt)
    this.#wakeAt = null
    const now = performance.now()
    const waits = [...this.#active].map(({ waitsUntil }) => waitsUntil ?? now)
    const next = Math.min(...waits.filter((at) => at > now))
    if (Number.isFinite(next)) this.#wakeAt = setTimeout(() => this.#schedule(), next - now)
  }

  #watchDeadlines(): void {
    const { writeDeadlineMs, editDeadlineMs, log, onStalled } = this.#options
    const now = performance.now()
    const before = now - writeDeadlineMs
    for (const item of [...this.#inFlight].flat())
      if (item.kind === 'write') item.write.rejectLate(before, tooLate)
    for (const { writes } of this.#waiting) for (const write of writes) write.rejectLate(before, tooLate)
    for (const queue of this.#active) {
      if (queue.edits.stall(now, editDeadlineMs)) {
        log.error(
          { boardId: queue.boardId, edits: queue.edits.count },
          'edits could not be committed in time; closing the board’s sockets',
        )
        onStalled(queue.boardId)
      }
      queue.rejectLate(before, tooLate)
    }
    if (this.#active.size > 0) this.#schedule()
  }

  #dropIdle(): void {
    for (const [boardId, queue] of this.#queues) {
      if (queue.idle && !queue.listener) this.#queues.delete(boardId)
      if (this.#queues.size <= maxQueues * 0.9) return
    }
  }
}

const sizeOf = (batch: BatchItem[]): number => batch.reduce((sum, { updates }) => sum + bytesOf(updates), 0)

/**
 * A second lane starts when this many writes wait. It helps with writes, which keep the database busy, but not with
 * edits.
 */
const secondLaneFrom = 8

/** Boards whose counters are kept in memory. */
const maxQueues = 10_000
