/**
 * The commit path: sockets and the API alike queue here, and one commit at a time takes all that queued meanwhile, over
 * all boards, in one call to the database.
 *
 *   edits   what editors changed. It is in memory and on their screens already, so it is appended without condition.
 *   writes  what the API wants to change. Built when the commit is put together, from the document as it is then;
 *           committed first, applied after. May be refused.
 *   flush   index rows of the cards that edits touched.
 *
 * A call whose outcome is unknown is repeated under the same commit id, so that nothing is written twice.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { inTrash, noBoard, notWritable } from '../core/board.ts'
import { ServiceError } from '../core/errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { certainlyRolledBack, errorCode, type CommitCall } from '../sql/database.ts'
import { frame, type BoardHead } from './log.ts'
import type { CardRow, GroupRow } from './project.ts'

export interface BuiltWrite {
  updates: Uint8Array[]
  /** API clocks that the updates take; zero for deletions. */
  used: number
  rows: CardRow[]
  groups: GroupRow[]
  /** Cards added, for the cap. */
  adds: number
  /** The highest z it sets. */
  top: number | null
  /** Whole cards that it removes, to be kept for their restore tokens. */
  removed: { token: string; id: string; state: Uint8Array }[]
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
  /** Builds the change. Called again when the board has moved on. Throws a ServiceError to refuse. */
  build(head: BoardHead): BuiltWrite
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

export interface CommitQueueOptions {
  commit(call: CommitCall, again: boolean): Promise<unknown>
  freeCardCap: number | null
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
  maxCommitBytes: 8 * 1024 * 1024,
}

interface PendingWrite extends WriteRequest {
  queuedAt: number
  resolve(written: Written): void
  reject(error: unknown): void
  settled: boolean
}

/** One board's share of the queue. */
export class BoardQueue {
  readonly boardId: string
  head: BoardHead | null = null
  document: CommittingDocument | null = null
  edits: { update: Uint8Array; actors: string[] }[] = []
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

type BatchItem = { queue: BoardQueue; updates: Uint8Array[] } & (
  | { kind: 'edit'; count: number; actors: string[] }
  | {
      kind: 'write'
      write: PendingWrite
      built: BuiltWrite | null
      clock: number | null
      seen: number | null
    }
  | { kind: 'flush'; flush: FlushRows; seen: number }
)

interface CommitAnswer {
  t: number
  boards:
    | [
        b: string,
        seq: number,
        indexed: number,
        client: number,
        clock: number,
        top: number,
        rows: number,
        bytes: number,
      ][]
    | null
  /** Those that are not `ok`. */
  items: [n: number, outcome: Outcome, used: number | null][]
  times: [n: number, id: string, created: number, updated: number][] | null
}
type Outcome = 'ok' | 'again' | 'busy' | 'missing' | 'forbidden' | 'trashed' | 'limit'

export class CommitQueue {
  readonly #options: CommitQueueOptions & typeof defaults
  readonly #queues = new Map<string, BoardQueue>()
  /** Those with something to commit, in the order of their turns. */
  readonly #active = new Set<BoardQueue>()
  #inFlight: BatchItem[] = []
  /** Frames since the last commit was put together, and how many the next one waits for. */
  #arrived = 0
  #company = 0
  #gathered: (() => void) | null = null
  #running: Promise<void> | null = null
  #scheduled = false
  #calledAgain = false
  #stopped = false
  #wakeAt: NodeJS.Timeout | null = null
  readonly #watch: NodeJS.Timeout

  constructor(options: CommitQueueOptions) {
    this.#options = { ...defaults, ...options }
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
      queue.writes.push({ ...request, queuedAt: this.#options.clock.now(), resolve, reject, settled: false })
      this.#activate(queue)
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
    while (Date.now() < deadline && (this.#active.size > 0 || this.#running)) {
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
    if (this.#scheduled || this.#stopped) return
    if (this.#running) {
      this.#calledAgain = true
      return
    }
    this.#scheduled = true
    const start = () => {
      this.#scheduled = false
      if (this.#running || this.#stopped) return
      this.#calledAgain = false
      this.#running = this.#run().finally(() => {
        this.#running = null
        if (this.#calledAgain) this.#schedule() // something came in when the run had looked its last
      })
    }
    // What the sockets bring in this turn of the event loop goes together.
    setImmediate(start)
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
      const batch = this.#assemble()
      if (batch.length === 0) break
      this.#inFlight = batch
      const frames = this.#arrived
      this.#arrived = 0
      let answer: CommitAnswer | null
      try {
        answer = await this.#call(batch)
      } catch (error) {
        this.#fault(batch, error)
        continue
      } finally {
        this.#inFlight = []
      }
      if (!answer) return
      this.#settle(batch, answer)
      await this.#gather(frames)
    }
    this.#wakeForRetries()
  }

  // ---- putting a commit together

  #assemble(): BatchItem[] {
    const now = this.#options.clock.now()
    const batch: BatchItem[] = []
    let bytes = 0
    for (const queue of [...this.#active]) {
      if (queue.retryAt > now || (queue.singly > 0 && batch.length > 0)) continue
      const items = this.#take(queue, this.#options.maxCommitBytes - bytes)
      this.#active.delete(queue)
      if (!queue.idle || items.length > 0) this.#active.add(queue) // at the end: the others have their turn first
      if (items.length === 0) continue
      batch.push(...items)
      for (const item of items) bytes += itemBytes(item)
      if (bytes >= this.#options.maxCommitBytes || queue.singly > 0) break
    }
    return batch
  }

  #take(queue: BoardQueue, budget: number): BatchItem[] {
    const items: BatchItem[] = []
    let bytes = 0
    if (queue.edits.length > 0) {
      let count = 0
      while (count < queue.edits.length && (count === 0 || bytes < budget))
        bytes += queue.edits[count++]!.update.byteLength
      const taken = queue.edits.slice(0, count)
      items.push({
        kind: 'edit',
        queue,
        updates: taken.map((edit) => edit.update),
        count,
        actors: [...new Set(taken.flatMap((edit) => edit.actors))],
      })
      // What follows is built on all that is in memory, so all of it has to be committed with or before it.
      if (count < queue.edits.length || queue.singly > 0) return items
    }

    const document = queue.document
    if (queue.flushWanted && (document === null || document.current)) {
      const flush = document ? document.project() : null
      if (flush && document) {
        items.push({ kind: 'flush', queue, updates: [], flush, seen: document.appliedSeq })
        if (queue.singly > 0) return items
      } else {
        endFlush(queue)
      }
    }
    const flushing = items.some((item) => item.kind === 'flush')

    let head = queue.head
    const taken = new Set<string>()
    let whole = false
    while (queue.writes.length > 0 && !whole && (items.length === 0 || bytes < budget)) {
      const write = queue.writes[0]!
      if (!head) {
        // Its refusal or 'again' brings the head.
        items.push({ kind: 'write', queue, updates: [], write, built: null, clock: -1, seen: null })
        queue.writes.shift()
        break
      }
      if (write.reads !== 'nothing' && write.reads !== 'position') {
        if (!document?.current || flushing) break
        if (
          write.reads === 'board'
            ? taken.size > 0 || items.some((item) => item.kind === 'write')
            : [...write.reads].some((id) => taken.has(id))
        ) {
          break
        }
        whole = write.reads === 'board'
      }
      queue.writes.shift()
      if (write.settled) continue
      let built: BuiltWrite
      try {
        built = write.build(head)
      } catch (error) {
        rejectWrite(write, error)
        continue
      }
      if (typeof write.reads === 'object') for (const id of write.reads) taken.add(id)
      items.push({
        kind: 'write',
        queue,
        updates: built.updates,
        write,
        built,
        clock: built.used > 0 ? head.apiClock : null,
        seen: seenBy(write, head, document),
      })
      head = {
        ...head,
        apiClock: head.apiClock + built.used,
        topZ: Math.max(head.topZ, built.top ?? head.topZ),
      }
      for (const update of built.updates) bytes += update.byteLength
      if (queue.singly > 0) break
    }
    return items
  }

  // ---- the call

  /** Null when the queue was stopped meanwhile. Throws when it is certain that nothing was written, and why. */
  async #call(batch: BatchItem[]): Promise<CommitAnswer | null> {
    const call = this.#encode(batch)
    for (let attempt = 0; !this.#stopped; attempt++) {
      try {
        return (await withTimeout(
          this.#options.commit(call, attempt > 0),
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

  #encode(batch: BatchItem[]): CommitCall {
    const blobs: Uint8Array[] = []
    let length = 0
    const put = (bytes: Uint8Array) => {
      const at = { pos: length, len: bytes.byteLength }
      blobs.push(bytes)
      length += bytes.byteLength
      return at
    }
    const rows: object[] = []
    const groups: object[] = []
    const removed: object[] = []
    const items = batch.map((item, n) => {
      const at = item.updates.length > 0 ? put(frame(item.updates)) : { pos: 0, len: 0 }
      const common = { n, b: item.queue.boardId, k: item.kind, ...at }
      switch (item.kind) {
        case 'edit':
          return { ...common, actors: item.actors }
        case 'flush':
          for (const row of item.flush.rows) rows.push({ n, ...row })
          for (const row of item.flush.groups) groups.push({ n, ...row })
          return {
            ...common,
            k: item.flush.isPart ? 'part' : 'flush',
            o: randomUUID(),
            c: 'editor',
            seen: item.seen,
            actors: [],
            top: highest(item.flush.rows),
          }
        case 'write': {
          const { write, built } = item
          for (const row of built?.rows ?? []) rows.push({ n, ...row })
          for (const row of built?.groups ?? []) groups.push({ n, ...row })
          for (const { token, id, state } of built?.removed ?? [])
            removed.push({ n, token, id, ...put(state) })
          return {
            ...common,
            o: write.op,
            c: 'api',
            u: write.account,
            actors: [write.account],
            clock: item.clock,
            used: built?.used ?? 0,
            seen: item.seen,
            adds: built?.adds ?? 0,
            top: built?.top ?? null,
          }
        }
      }
    })
    return {
      commitId: randomUUID(),
      freeCardCap: this.#options.freeCardCap,
      items: JSON.stringify(items),
      blob: Buffer.concat(blobs),
      rows: rows.length > 0 ? JSON.stringify(rows) : null,
      groups: groups.length > 0 ? JSON.stringify(groups) : null,
      removed: removed.length > 0 ? JSON.stringify(removed) : null,
    }
  }

  // ---- what came of it

  #settle(batch: BatchItem[], answer: CommitAnswer): void {
    const now = this.#options.clock.now()
    const heads = new Map((answer.boards ?? []).map((row) => [row[0], headOf(row)]))
    const outcomes = new Map(answer.items.map(([n, outcome, used]) => [n, { outcome, used }]))
    const times = new Map<number, Written['times']>()
    for (const [n, id, created, updated] of answer.times ?? []) {
      const of = times.get(n) ?? new Map<string, { created: number; updated: number }>()
      times.set(n, of.set(id, { created, updated }))
    }
    const byQueue = new Map<
      BoardQueue,
      { item: BatchItem; outcome: Outcome; used: number | null; times: Written['times'] }[]
    >()
    batch.forEach((item, n) => {
      const { outcome, used } = outcomes.get(n) ?? { outcome: 'ok' as const, used: null }
      const entry = { item, outcome, used, times: times.get(n) ?? new Map() }
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
      for (const { item, outcome, used, times } of entries) {
        if (outcome === 'busy') busy = true
        if (item.kind === 'write') {
          if (outcome === 'ok') this.#resolve(item.write, { seq: head?.seq ?? 0, at: answer.t, times })
          else if (outcome === 'again' || outcome === 'busy') again.push(item.write)
          else
            rejectWrite(
              item.write,
              refusal(outcome, used ?? 0, item.built?.adds ?? 0, this.#options.freeCardCap ?? 0),
            )
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
    const single = batch.length === 1 ? batch[0]! : null
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
    single.queue.singly = 0
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
    for (const item of this.#inFlight)
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

/** The log position that a write depends on. */
function seenBy(write: WriteRequest, head: BoardHead, document: CommittingDocument | null): number | null {
  if (write.reads === 'nothing') return null
  return write.reads === 'position' ? head.seq : document!.appliedSeq
}

function headOf([, seq, indexedSeq, apiClient, apiClock, topZ, logRows, logBytes]: NonNullable<
  CommitAnswer['boards']
>[number]): BoardHead {
  return { seq, indexedSeq, apiClient, apiClock, topZ, logRows, logBytes }
}

function itemBytes(item: BatchItem): number {
  const rows =
    item.kind === 'flush'
      ? item.flush.rows.length
      : item.kind === 'write'
        ? (item.built?.rows.length ?? 0)
        : 0
  return item.updates.reduce((sum, update) => sum + update.byteLength, rows * 300)
}

function highest(rows: CardRow[]): number | null {
  return rows.reduce<number | null>((top, { z }) => (z === undefined ? top : Math.max(top ?? z, z)), null)
}

function endFlush(queue: BoardQueue): void {
  queue.flushWanted = false
  for (const waiter of queue.flushWaiters.splice(0)) waiter()
}

function rejectWrite(write: PendingWrite, error: unknown): void {
  if (write.settled) return
  write.settled = true
  write.reject(error)
}

function refusal(outcome: Outcome, used: number, adds: number, cap: number): ServiceError {
  switch (outcome) {
    case 'forbidden':
      return notWritable()
    case 'trashed':
      return inTrash()
    case 'limit':
      return new ServiceError(
        'limit_reached',
        `The board owner's plan holds ${cap} cards; ${used} are used and ${adds} more were sent.`,
      )
    default:
      return noBoard()
  }
}

function tooLate(): ServiceError {
  return new ServiceError(
    'storage_unavailable',
    'The change could not be committed in time. It may still come through.',
  )
}

function shuttingDown(): ServiceError {
  return new ServiceError('session_unavailable', 'The service is shutting down. Try again shortly.')
}

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
