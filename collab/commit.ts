/**
 * The commit path: sockets and the API alike queue here, and a commit takes all that queued meanwhile, over all boards,
 * in one call to the database. When many writes of other boards wait, a second one goes beside it; a board's own follow
 * each other.
 *
 *   edits   what editors changed. It is in memory and on their screens already, so it is appended without condition.
 *   writes  what the API wants to change. Built when the commit is put together, from the document as it is then;
 *           committed first, applied after. May be refused.
 *   flush   index rows of the cards that edits touched.
 *
 * Two writes of two boards can go together: both are committed, or neither is.
 *
 * A call whose outcome is unknown is repeated under the same commit id, so that nothing is written twice.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../core/errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { certainlyRolledBack, commitLanes, errorCode, type CommitCall } from '../sql/database.ts'
import { currentOperation } from '../sql/operation.ts'
import { Assembler, isIndivisible, type BatchItem } from './assemble.ts'
import {
  BoardQueue,
  endFlush,
  rejectWrite,
  type CommittedWrite,
  type Pair,
  type PairRequest,
  type PendingWrite,
  type WriteRequest,
  type Written,
} from './board-queue.ts'
import {
  encodeCall,
  headOf,
  type CommitAnswer,
  type Outcome,
  type Quotas,
  type RefusalDetail,
} from './commit-call.ts'
import type { BoardHead } from './log.ts'
import { refusal, shuttingDown, tooLate } from './refusal.ts'

export interface CommitQueueOptions extends Quotas {
  /** `aside`: it is large, and the others must not wait for its connection. */
  commit(call: CommitCall, options: { again: boolean; aside: boolean }): Promise<unknown>
  clock: Clock
  log: Logger
  /** A board's edits could not be committed for this long: its sockets are closed, nothing is acknowledged. */
  editDeadlineMs?: number
  /** A write that was not committed by then is answered 503. */
  writeDeadlineMs?: number
  /** An answer that takes longer counts as lost. */
  answerTimeoutMs?: number
  maxCommitBytes?: number
  onStalled(boardId: string): void
  /** After each commit that added to a board's log. */
  onGrown?(boardId: string, head: BoardHead): void
}

const defaults = {
  editDeadlineMs: 15_000,
  writeDeadlineMs: 10_000,
  answerTimeoutMs: 20_000,
  maxCommitBytes: 1024 * 1024,
}

export class CommitQueue {
  readonly #options: CommitQueueOptions & typeof defaults
  readonly #queues = new Map<string, BoardQueue>()
  /** Those with something to commit, in the order of their turns. */
  readonly #active = new Set<BoardQueue>()
  readonly #assembler: Assembler
  readonly #inFlight = new Set<BatchItem[]>()
  /** Large commits go one after the other, beside the rest. */
  #large: Promise<void> = Promise.resolve()
  #largeCount = 0
  /** Frames since the last commit was put together, and how many the next one waits for. */
  #arrived = 0
  #company = 0
  #gathered: (() => void) | null = null
  /** Each commits one batch after the other until nothing is left that could go. */
  #lanes = 0
  #scheduled = false
  #calledAgain = false
  #stopped = false
  #wakeAt: NodeJS.Timeout | null = null
  readonly #watch: NodeJS.Timeout

  constructor(options: CommitQueueOptions) {
    this.#options = { ...defaults, ...options }
    this.#assembler = new Assembler(this.#active, this.#options.maxCommitBytes)
    this.#watch = setInterval(() => this.#watchDeadlines(), Math.min(500, this.#options.writeDeadlineMs / 4))
    this.#watch.unref()
  }

  board(boardId: string): BoardQueue {
    let queue = this.#queues.get(boardId)
    if (queue) this.#queues.delete(boardId)
    else queue = new BoardQueue(boardId)
    this.#queues.set(boardId, queue) // the last used is last, so that the first ones are dropped
    if (this.#queues.size > maxQueues) this.#dropIdle()
    return queue
  }

  /** An edit that is in memory already, made of so many frames. Its acknowledgement waits for `queuedMark`. */
  edit(queue: BoardQueue, update: Uint8Array, actors: string[], frames = 1): void {
    this.#arrived += frames
    if (this.#arrived >= this.#company) this.#gathered?.()
    if (queue.edits.length === 0) queue.editsSince = this.#options.clock.now()
    queue.edits.push({ update, actors })
    queue.editBytes += update.byteLength
    queue.queuedMark += 1
    this.#activate(queue)
  }

  /** @throws ServiceError: refused, or `storage_unavailable` when it was not known to be committed in time */
  write(boardId: string, request: WriteRequest): Promise<Written> {
    if (this.#stopped) return Promise.reject(shuttingDown())
    const queue = this.board(boardId)
    return new Promise<Written>((resolve, reject) => {
      const operation = currentOperation()?.onBoard()
      const queuedAt = this.#options.clock.now()
      queue.writes.push({ ...request, operation, queuedAt, resolve, reject, settled: false })
      this.#activate(queue)
    })
  }

  /**
   * Both writes are committed, or neither is; both boards have to stay in memory until then.
   *
   * @throws ServiceError as `write` does
   */
  writePair({ op, account, boardIds, where, build }: PairRequest): Promise<[Written, Written]> {
    if (this.#stopped) return Promise.reject(shuttingDown())
    const queues: Pair['queues'] = [this.board(boardIds[0]), this.board(boardIds[1])]
    return new Promise((resolve, reject) => {
      const written: Written[] = []
      const operation = currentOperation()?.onBoard()
      const writeAt = (at: 0 | 1): PendingWrite => ({
        op,
        account,
        reads: 'board',
        build: () => {
          throw new Error('A pair is built as one.')
        },
        operation,
        queuedAt: this.#options.clock.now(),
        resolve(one) {
          written[at] = one
          if (written[0] && written[1]) resolve([written[0], written[1]])
        },
        reject,
        settled: false,
        where: at === 1 ? where : '',
      })
      const writes: Pair['writes'] = [writeAt(0), writeAt(1)]
      const pair: Pair = { queues, writes, build }
      for (const at of [0, 1] as const) {
        writes[at].pair = pair
        queues[at].writes.push(writes[at])
        this.#activate(queues[at])
      }
    })
  }

  /** Writes the index rows of what edits touched; resolves when that has been tried. */
  flush(boardId: string): Promise<void> {
    const queue = this.board(boardId)
    return new Promise((resolve) => {
      queue.flushWanted = true
      queue.flushWaiters.push(resolve)
      this.#activate(queue)
    })
  }

  /** Something that an item waited for has happened. */
  wake(): void {
    this.#schedule()
  }

  /** Commits what is queued, then stops. Resolves early when that cannot be done within `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs
    while (Date.now() < deadline && (this.#active.size > 0 || this.#lanes > 0 || this.#largeCount > 0)) {
      this.#schedule()
      await delay(5)
    }
    this.#stopped = true
    clearInterval(this.#watch)
    if (this.#wakeAt) clearTimeout(this.#wakeAt)
    for (const queue of this.#queues.values()) {
      for (const write of queue.writes.splice(0)) rejectWrite(write, shuttingDown())
      for (const waiter of queue.flushWaiters.splice(0)) waiter()
    }
  }

  #activate(queue: BoardQueue): void {
    this.#active.add(queue)
    this.#schedule()
  }

  #schedule(): void {
    this.#calledAgain = true
    if (this.#scheduled || this.#stopped || this.#lanes === commitLanes) return
    this.#scheduled = true
    const start = () => {
      this.#scheduled = false
      if (this.#stopped || (this.#lanes > 0 && this.#waitingWrites() < secondLaneFrom)) return
      this.#lanes += 1
      void this.#run().finally(() => {
        this.#lanes -= 1
        if (this.#calledAgain) this.#schedule() // something came in when the run had looked its last
      })
    }
    // What the sockets bring in this turn of the event loop goes together.
    setImmediate(start)
  }

  /** Writes of boards of which nothing is on its way. */
  #waitingWrites(): number {
    let count = 0
    for (const { away, writes } of this.#active) if (!away) count += writes.length
    return count
  }

  /**
   * Editors whose edits were acknowledged together answer within a moment of each other. When they are many, the next
   * commit waits until most of them are there again, for two milliseconds at the most: a third of the commits, and of
   * the writes to every socket, for the same edits.
   */
  async #gather(frames: number): Promise<void> {
    this.#company = Math.floor(frames * 0.8)
    if (frames < gatherFrom || this.#arrived >= this.#company) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, gatherMs)
    this.#gathered = resolve
    await promise
    this.#gathered = null
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#calledAgain = false
      const { batch, large } = this.#assembler.next(this.#options.clock.now())
      for (const one of large) this.#commitAside(one)
      if (batch.length === 0) break
      const frames = this.#arrived
      this.#arrived = 0
      const isAlone = this.#lanes === 1
      if ((await this.#commit(batch, false)) && isAlone) await this.#gather(frames)
    }
    this.#wakeForRetries()
  }

  /** @returns whether it went through */
  async #commit(batch: BatchItem[], aside: boolean): Promise<boolean> {
    this.#inFlight.add(batch)
    for (const { queue } of batch) queue.away = true
    let answer: CommitAnswer | null
    try {
      answer = await this.#call(batch, aside)
    } catch (error) {
      this.#fault(batch, error)
      return false
    } finally {
      this.#inFlight.delete(batch)
      for (const { queue } of batch) queue.away = false
    }
    if (answer) this.#settle(batch, answer)
    return answer !== null
  }

  /** Its boards wait for it, the others do not. */
  #commitAside(batch: BatchItem[]): void {
    this.#largeCount += 1
    const turn = this.#large.then(async () => {
      await this.#commit(batch, true)
    })
    this.#large = turn.finally(() => {
      this.#largeCount -= 1
      this.#schedule()
    })
  }

  // ---- the call

  /** Null when the queue was stopped meanwhile. Throws when it is certain that nothing was written, and why. */
  async #call(batch: BatchItem[], aside: boolean): Promise<CommitAnswer | null> {
    const call = encodeCall(batch, this.#options)
    for (let attempt = 0; !this.#stopped; attempt++) {
      try {
        return (await withTimeout(
          this.#options.commit(call, { again: attempt > 0, aside }),
          this.#options.answerTimeoutMs,
        )) as CommitAnswer
      } catch (error) {
        if (certainlyRolledBack(error) && !isPassing(error, attempt)) throw error
        this.#options.log.warn(
          { err: error, commitId: call.commitId, attempt },
          'the commit has no answer yet; asking again',
        )
        await delay(Math.min(250, 25 * 2 ** attempt))
      }
    }
    return null
  }

  // ---- what came of it

  #settle(batch: BatchItem[], answer: CommitAnswer): void {
    const now = this.#options.clock.now()
    const heads = new Map((answer.boards ?? []).map((row) => [row[0], headOf(row)]))
    const outcomes = new Map(answer.items.map(([n, outcome, detail]) => [n, { outcome, detail }]))
    const times = new Map<number, Written['times']>()
    for (const [n, id, created, updated] of answer.times ?? []) {
      const of = times.get(n) ?? new Map<string, { created: number; updated: number }>()
      times.set(n, of.set(id, { created, updated }))
    }
    const byQueue = new Map<
      BoardQueue,
      { item: BatchItem; outcome: Outcome; detail: RefusalDetail; times: Written['times'] }[]
    >()
    batch.forEach((item, n) => {
      const { outcome, detail } = outcomes.get(n) ?? { outcome: 'ok' as const, detail: null }
      const entry = { item, outcome, detail, times: times.get(n) ?? new Map() }
      const entries = byQueue.get(item.queue)
      if (entries) entries.push(entry)
      else byQueue.set(item.queue, [entry])
    })

    for (const [queue, entries] of byQueue) {
      const head = heads.get(queue.boardId)
      if (head) queue.head = head
      const ok = entries.filter((entry) => entry.outcome === 'ok')
      const grew = ok.some(({ item }) => item.updates.length > 0)
      if (queue.singly > 0) queue.singly -= 1

      for (const { item } of ok) {
        if (item.kind !== 'edit') continue
        for (const edit of queue.edits.splice(0, item.count)) queue.editBytes -= edit.update.byteLength
        queue.committedMark += item.count
        queue.editsSince = now
        queue.stalled = false
      }
      if (head && grew) {
        this.#show(
          queue,
          head.seq,
          ok.flatMap(({ item }) =>
            item.kind === 'write' && item.updates.length > 0
              ? [
                  {
                    updates: item.updates,
                    cards: new Set(item.built?.rows.map(({ id }) => id)),
                    groups: new Set(item.built?.groups.map(({ id }) => id)),
                  },
                ]
              : [],
          ),
        )
      } else if (head) queue.document?.noticed(head.seq)

      const again: PendingWrite[] = []
      let busy = false
      for (const { item, outcome, detail, times } of entries) {
        if (outcome === 'busy') busy = true
        if (item.kind === 'write') {
          if (outcome === 'ok') this.#resolve(item.write, { seq: head?.seq ?? 0, at: answer.t, times })
          else if (outcome === 'again' || outcome === 'busy') again.push(item.write)
          else rejectWrite(item.write, refusal(item, outcome, detail, this.#options.freeCardCap ?? 0))
          continue
        }
        if (item.kind === 'flush') {
          if (outcome === 'ok') {
            queue.document?.flushed()
            if (!item.flush.isPart) endFlush(queue)
          } else queue.document?.flushFailed()
        }
        if (outcome === 'missing') {
          queue.edits = []
          queue.editBytes = 0
          endFlush(queue)
          queue.document?.gone()
        }
      }
      queue.writes.unshift(...again)
      if (busy) {
        queue.retryDelayMs = Math.min(250, queue.retryDelayMs * 2 || 10)
        queue.retryAt = now + queue.retryDelayMs
      } else {
        queue.retryDelayMs = 0
        queue.retryAt = 0
      }
      if (queue.idle) this.#active.delete(queue)
      if (grew && queue.head) this.#options.onGrown?.(queue.boardId, queue.head)
      if (ok.some(({ item }) => item.kind === 'edit')) queue.release()
    }
  }

  /** It is committed, whatever happens now: a document that cannot take it is brought up from the log. */
  #show(queue: BoardQueue, seq: number, writes: CommittedWrite[]): void {
    try {
      queue.document?.committed(seq, writes)
    } catch (error) {
      this.#options.log.error(
        { err: error, boardId: queue.boardId, seq },
        'a committed update could not be applied',
      )
      queue.document?.noticed(seq)
    }
  }

  #resolve(write: PendingWrite, written: Written): void {
    if (write.settled) return
    write.settled = true
    write.resolve(written)
  }

  /** Nothing was written. The items go again, one board at a time, then one by one, until the one at fault is alone. */
  #fault(batch: BatchItem[], error: unknown): void {
    const single = isIndivisible(batch) ? batch[0]! : null
    this.#options.log.error({ err: error, items: batch.length }, 'a commit was refused as a whole')
    const now = this.#options.clock.now()
    const writes = new Map<BoardQueue, PendingWrite[]>()
    for (const item of batch) {
      item.queue.singly = Math.max(
        item.queue.singly,
        batch.filter((other) => other.queue === item.queue).length,
      )
      if (item.kind === 'flush') item.queue.document?.flushFailed()
      if (item.kind !== 'write') continue
      if (single)
        rejectWrite(
          item.write,
          new ServiceError('internal_error', 'The change could not be stored.', { cause: error }),
        )
      else writes.set(item.queue, [...(writes.get(item.queue) ?? []), item.write])
    }
    for (const [queue, pending] of writes) queue.writes.unshift(...pending)
    if (!single) return
    for (const { queue } of batch) queue.singly = 0
    if (single.kind === 'write') return
    single.queue.retryDelayMs = Math.min(5000, single.queue.retryDelayMs * 2 || 100)
    single.queue.retryAt = now + single.queue.retryDelayMs
    if (single.kind === 'flush') endFlush(single.queue)
  }

  #wakeForRetries(): void {
    if (this.#wakeAt) clearTimeout(this.#wakeAt)
    this.#wakeAt = null
    const now = this.#options.clock.now()
    const next = Math.min(...[...this.#active].map((queue) => queue.retryAt).filter((at) => at > now))
    if (Number.isFinite(next)) this.#wakeAt = setTimeout(() => this.#schedule(), next - now)
  }

  #watchDeadlines(): void {
    const now = this.#options.clock.now()
    const late = (write: PendingWrite) => now - write.queuedAt > this.#options.writeDeadlineMs
    for (const item of [...this.#inFlight].flat())
      if (item.kind === 'write' && late(item.write)) rejectWrite(item.write, tooLate())
    for (const queue of this.#active) {
      if (queue.edits.length > 0 && !queue.stalled && now - queue.editsSince > this.#options.editDeadlineMs) {
        queue.stalled = true
        this.#options.log.error(
          { boardId: queue.boardId, edits: queue.edits.length },
          'edits cannot be committed; closing the board’s sockets',
        )
        this.#options.onStalled(queue.boardId)
      }
      for (const write of queue.writes) if (late(write)) rejectWrite(write, tooLate())
      queue.writes = queue.writes.filter((write) => !write.settled)
    }
    if (this.#active.size > 0) this.#schedule()
  }

  #dropIdle(): void {
    for (const [boardId, queue] of this.#queues) {
      if (queue.idle && !queue.document) this.#queues.delete(boardId)
      if (this.#queues.size <= maxQueues * 0.9) return
    }
  }
}

/** A second commit beside the first pays when so many writes wait for it: they keep the database busy, edits do not. */
const secondLaneFrom = 8

/** From so many frames in one commit on, the next one waits for company; and for how long. */
const gatherFrom = 8
const gatherMs = 2

/** Whether the same call may go through a moment later. What takes too long again and again goes in parts. */
function isPassing(error: unknown, attempt: number): boolean {
  const code = errorCode(error)
  return transientCodes.has(code) && !(code === '57014' && attempt >= maxTimeouts)
}
const maxTimeouts = 2

/** Boards whose counters are kept at hand. */
const maxQueues = 10_000

/** The server rolled back, and the same call can succeed a moment later. */
const transientCodes = new Set([
  '40001',
  '40P01',
  '55P03',
  '57014',
  '53000',
  '53100',
  '53200',
  '53300',
  '53400',
  '25P03',
])

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      }),
    ])
  } finally {
    clearTimeout(timer)
  }
}
