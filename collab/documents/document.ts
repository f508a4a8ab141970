/**
 * A board's document in memory. It records the log position that it contains, and the cards that changed since the last
 * index update. The log is the truth. This is a cache of it, which can be dropped when nothing is outstanding.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Document } from '@hocuspocus/server'
import { ServiceError } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import { atOnce, inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import type { Database, StatementPool } from '../../sql/database.ts'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'
import type { BoardQueue } from '../commit/board-queue.ts'
import type { CommitQueue } from '../commit/commit.ts'
import { NoMemory } from '../commit/refusal.ts'
import type { CommittedWrite, CommittingDocument, FlushRows } from '../commit/committing-document.ts'
import { applyWrites, costOf, partBytes } from './apply-writes.ts'
import { isTooCostly, largeLogBytes, type LogLoader } from './load.ts'
import type { DocumentMemory } from './memory.ts'
import { authorsOf, isFromLog, nothingIndexed, type LogOrigin } from './origin.ts'
import { news, ownBuffers, tail, type News, type Tail } from '../log/log.ts'
import { limitCleanup } from '../updates/cleanup.ts'
import { clearLater } from '../updates/clear.ts'
import { weigh } from '../updates/weight.ts'
import { FanOut } from './fan-out.ts'
import { SharedState } from './shared-state.ts'
import { Unindexed } from './unindexed.ts'

export interface DocumentContext {
  database: Database
  queue: CommitQueue
  loader: LogLoader
  memory: DocumentMemory
  /** Called when what others committed does not fit into memory. The document must be closed. */
  onTooLarge(boardId: string): void
  log: Logger
}

/** How long a canvas that opens, and a request, wait for the document to catch up. */
const [reachWithinMs, caughtUpWithinMs] = [5000, 10_000]

/**
 * Changes that are not indexed after this time are indexed here, whichever node took them. The node that took an edit
 * writes its row within two seconds, unless it has died, hangs or is overloaded.
 */
const takeOverMs = 3000

/** A log that took too long to merge is tried again after this time. */
export const costlyRetryMs = 600_000

type State =
  | { kind: 'loading' }
  | { kind: 'following' }
  | { kind: 'catching up'; done: Promise<void> }
  | { kind: 'distrusted' }
  | { kind: 'gone' }

/**
 * Writes are built on the document only while it is following and contains all known commits (`current`).
 *
 *   state         becomes       when
 *   loading       following     `load` has applied the log and compared the index with it
 *   following     catching up   it learns of a position that it lacks, or a large commit is applied in turns
 *   catching up   following     it contains all known commits
 *   any           distrusted    a transaction failed: memory may contain edits that will not reach the log
 *   any but that  gone          the log or a commit says that the board does not exist any more
 *
 * Distrusted and gone documents stay so until they leave memory.
 */
export class BoardDocument implements CommittingDocument {
  readonly boardId: string
  readonly document: Document
  readonly queue: BoardQueue
  /** The encoded document, for clients that join. */
  readonly shared: SharedState
  readonly #context: DocumentContext
  readonly #unindexed: Unindexed
  #state: State = { kind: 'loading' }
  #appliedSeq = 0
  #knownSeq = 0
  /** The newest known position when a canvas was closed because it reads too slowly. */
  #missedSeq = -1
  #sizeBytes = 0
  #mergeSteps = 0
  #lastUsedAt = 0
  readonly #fanOut: FanOut

  constructor(boardId: string, document: Document, queue: BoardQueue, context: DocumentContext) {
    this.boardId = boardId
    this.document = document
    this.queue = queue
    this.shared = new SharedState(document)
    this.#fanOut = new FanOut(document)
    this.#context = context
    this.#unindexed = new Unindexed(boardId, document, context.log)
    limitCleanup(document)
    weigh(document)
    clearLater(document, { run: (steps) => inTurns(steps).catch(this.#clearFailed) })
  }

  get appliedSeq(): number {
    return this.#appliedSeq
  }

  get current(): boolean {
    return this.#state.kind === 'following' && this.#appliedSeq >= this.#knownSeq
  }

  /** Whether dropping the document now would lose edits, or leave some without index rows. */
  get outstanding(): boolean {
    return !this.isGone && (!this.queue.idle || this.#unindexed.isOutstanding)
  }

  /** The age of the oldest change in memory that is not in the card index. */
  get indexLagMs(): number {
    this.#unindexed.indexed(this.queue.head?.indexedSeq ?? 0)
    return this.#unindexed.waitingMs
  }

  /** Whether its content is no longer trusted. It is reloaded when its queued edits are committed. */
  get isDistrusted(): boolean {
    return this.#state.kind === 'distrusted'
  }

  /** For how long the changes that are not indexed have been left over by another node; null when they are not. */
  get leftOverMs(): number | null {
    this.#unindexed.indexed(this.queue.head?.indexedSeq ?? 0)
    return this.#unindexed.leftOverMs
  }

  get isGone(): boolean {
    return this.#state.kind === 'gone'
  }

  get editors(): number {
    return this.document.connections.size
  }

  /** A measure of its size: bytes of snapshot and log when it was loaded, plus the bytes applied since. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Whether it may become larger: its account has room in memory. */
  get hasRoom(): boolean {
    return this.#context.memory.hasRoom(this.document)
  }

  /** Sets the size after merging. Much of the data since the loading has been overwritten. */
  measured(sizeBytes: number): void {
    this.#sizeBytes = sizeBytes
  }

  /** Steps that integrating its items took since the start of loading, as meter.ts counts them. */
  get mergeSteps(): number {
    return this.#mergeSteps
  }

  merged(steps: number): void {
    this.#mergeSteps += steps
  }

  get lastUsedAt(): number {
    return this.#lastUsedAt
  }

  use(now: number): void {
    this.#lastUsedAt = now
  }

  /** Reads the log and attaches to the commit queue. Throws when the board does not exist. */
  async load(): Promise<void> {
    cardsOf(this.document)
    groupsOf(this.document)
    this.queue.attach(this) // from now on it receives commits, including those made while it loads
    const hear = withoutListeners(this.document)
    try {
      let head = await this.#applyTail()
      // Apply what was committed meanwhile, here or elsewhere, before anybody sees the document.
      do head = await this.#applyTail()
      while (this.#appliedSeq < this.#knownSeq)
      // Compare with the newest position: nobody has recorded which cards changed during the loading.
      if (head.indexedSeq < head.seq) await this.#unindexed.compare(this.#context.database)
    } catch (error) {
      this.queue.detach(this)
      throw error
    } finally {
      hear()
    }
    this.document.on('update', this.#onUpdate)
    this.document.on('afterTransaction', this.#unindexed.onTransaction)
    if (this.#state.kind === 'loading') this.#state = { kind: 'following' }
    this.noticed(this.#knownSeq)
    if (this.#unindexed.isOutstanding) void this.#context.queue.flush(this.boardId)
  }

  /**
   * Marks the document as distrusted: some of its content may not be in the log. It stops listening and queuing edits.
   */
  distrust(): void {
    this.#state = { kind: 'distrusted' }
    this.drop()
  }

  /** Detaches the document, before it leaves memory. */
  drop(): void {
    this.queue.detach(this)
    this.document.off('update', this.#onUpdate)
    this.document.off('afterTransaction', this.#unindexed.onTransaction)
  }

  /**
   * Broadcasts an edit to the open canvases, at once when the board is quiet. Otherwise edits within a few milliseconds
   * are sent together (Hocuspocus' `flushDelay`), because each broadcast is a write to every socket.
   */
  broadcast(): void {
    if (this.#fanOut.isDue) this.document.flush()
  }

  /** Returns what broadcasts have cost each account since the last call, in milliseconds; see fan-out.ts. */
  takeCharges(): ReadonlyMap<string, number> {
    return this.#fanOut.takeCharges()
  }

  showWith(sockets: number): void {
    if (sockets * 2 >= this.editors && !this.#fanOut.isSlow) this.document.flush()
  }

  whenShown(then: () => void): void {
    this.#fanOut.afterSending(then)
  }

  /** Resolves when the document contains all known commits. */
  async caughtUp(): Promise<void> {
    while (this.#state.kind === 'catching up') await this.#state.done
  }

  /** @throws ServiceError `session_unavailable` when that takes too long */
  async caughtUpSoon(): Promise<void> {
    if (this.#state.kind !== 'catching up') return
    await Promise.race([this.caughtUp(), delay(caughtUpWithinMs, undefined, { ref: false })])
    if (this.#state.kind === 'catching up') throw outOfDate()
  }

  /**
   * Catches up to this position, before a canvas is shown.
   *
   * @throws ServiceError `session_unavailable` when that takes too long
   */
  async reach(seq: number): Promise<void> {
    this.noticed(seq)
    if (this.#appliedSeq >= seq) return
    await Promise.race([this.caughtUp(), delay(reachWithinMs, undefined, { ref: false })])
    if (this.#appliedSeq < seq) throw outOfDate()
  }

  /** Records that a canvas was closed because it reads too slowly. */
  missed(): void {
    this.#missedSeq = this.#knownSeq
  }

  /** Whether a canvas was closed before it received this position. */
  hasMissed(seq: number): boolean {
    return this.#missedSeq >= seq
  }

  // ---- the commit path

  committed(seq: number, writes: CommittedWrite[]): void {
    if (this.#state.kind !== 'following' || seq !== this.#appliedSeq + 1) {
      this.noticed(seq)
      return
    }
    this.#know(seq)
    const cost = writes.reduce((sum, { updates }) => sum + costOf(updates), 0)
    if (cost > partBytes) this.#follow(inTurns(this.#apply(seq, writes)))
    else atOnce(this.#apply(seq, writes))
  }

  *#apply(seq: number, writes: CommittedWrite[]): Steps<void> {
    for (const applied of applyWrites(this.document, writes, this.#applyFailed)) {
      this.#sizeBytes += applied
      yield
    }
    this.#reached(seq)
  }

  /** Called with the board's positions in the database. Indexes what its node has not indexed in time. */
  compared(seq: number, indexedSeq: number): void {
    this.noticed(seq)
    this.#unindexed.indexed(indexedSeq)
    if (this.#unindexed.waitingMs > takeOverMs && !this.queue.isFlushWanted)
      void this.#context.queue.flush(this.boardId)
  }

  noticed(seq: number): void {
    this.#know(seq)
    if (this.#state.kind === 'following' && this.#appliedSeq < this.#knownSeq) this.#follow(this.#catchUp())
  }

  #reached(seq: number): void {
    this.#appliedSeq = seq
    this.#know(seq)
    this.#unindexed.reached(this.#knownSeq, this.queue.edits)
  }

  #know(seq: number): void {
    if (seq > this.#knownSeq) this.#knownSeq = seq
  }

  /** Runs work that brings the document up to date. No write is built on it meanwhile. */
  #follow(work: Promise<void>): void {
    const done = work.finally(() => {
      if (this.#state.kind === 'catching up') this.#state = { kind: 'following' }
      this.noticed(this.#knownSeq)
      this.#context.queue.wake()
    })
    if (this.#state.kind === 'following') this.#state = { kind: 'catching up', done }
  }

  project(wantedAt: number): FlushRows | null {
    const { head } = this.queue
    this.#unindexed.indexed(head?.indexedSeq ?? 0)
    const behind = head !== null && head.indexedSeq < head.seq // maybe only by edits that changed no card
    return this.#unindexed.project(wantedAt, behind)
  }

  flushed(): void {
    this.#unindexed.flushed()
  }

  flushFailed(): void {
    this.#unindexed.flushFailed()
  }

  gone(): void {
    if (!this.isDistrusted) this.#state = { kind: 'gone' }
  }

  // ---- the log

  async #catchUp(): Promise<void> {
    for (let attempt = 0; this.#appliedSeq < this.#knownSeq && !this.#isOver; attempt++) {
      const wanted = this.#knownSeq
      try {
        const { seq } = await this.#applyNews()
        this.broadcast()
        // A wrong hint can name a position that does not exist. What was known before the log was read is in it.
        if (seq < wanted && this.#knownSeq === wanted) this.#knownSeq = seq
      } catch (error) {
        if (error instanceof NoMemory) {
          this.#context.log.warn(
            { boardId: this.boardId },
            'a document was closed: others have made it too large',
          )
          this.distrust()
          this.#context.memory.leaves(this.document)
          this.#context.onTooLarge(this.boardId)
          return
        }
        this.#context.log.warn(
          { err: error, boardId: this.boardId, attempt },
          'reading new commits from the log failed; trying again',
        )
        const waitMs = isTooCostly(error) ? costlyRetryMs : Math.min(1000, 20 * 2 ** attempt)
        await delay(waitMs, undefined, { ref: false })
      }
    }
  }

  /** Whether it will leave memory. */
  get #isOver(): boolean {
    return this.isGone || this.isDistrusted || this.document.isDestroyed
  }

  /** Reads what other nodes have committed. Usually that is little. */
  async #applyNews(): Promise<{ seq: number }> {
    const found = await news(this.#context.database, this.boardId, this.#appliedSeq)
    if (!found) return this.#applyTail('follow')
    const { ownerId, isPro } = found
    this.#context.memory.count(this.document, { account: ownerId, isPro, kind: 'live' })
    return this.#applyFound(found)
  }

  async #applyTail(pool?: StatementPool): Promise<{ seq: number; indexedSeq: number }> {
    const { memory, loader } = this.#context
    const isOpening = this.#state.kind === 'loading' && this.#appliedSeq === 0
    const found = await this.#readTail(pool, isOpening ? largeLogBytes : null)
    const { ownerId, isPro } = found
    memory.count(this.document, { account: ownerId, isPro, kind: 'live' })
    if (!found.isLeftOut) return this.#applyFound(found)
    memory.opening(this.document)()
    return loader.large.run(ownerId, async () => this.#applyFound(await this.#readTail(pool, null)))
  }

  async #readTail(pool: StatementPool | undefined, mostBytes: number | null): Promise<Tail> {
    const found = await tail(this.#context.database, this.boardId, this.#appliedSeq, pool, mostBytes)
    if (found) return found
    this.gone()
    throw new Error('The board does not exist.')
  }

  async #applyFound(found: News): Promise<{ seq: number; indexedSeq: number }> {
    const { updates, snapshot, ownerId, ...head } = found
    const { memory, loader } = this.#context
    const origin: LogOrigin = {
      source: 'local',
      skipStoreHooks: false,
      fromLog: true,
      indexed: nothingIndexed,
    }
    const isFollowing = this.#state.kind !== 'loading'
    const requireRoom = isFollowing ? memory.following(this.document) : memory.opening(this.document)
    const how = {
      account: ownerId,
      origin,
      failed: this.#applyFailed,
      requireRoom,
      transfer: ownBuffers(found),
    }
    this.merged(await loader.apply(this.document, { snapshot, updates }, how))
    this.#sizeBytes = head.snapshotBytes + head.logBytes
    this.#reached(head.seq)
    if ((this.queue.head?.seq ?? -1) <= head.seq) this.queue.learn(head)
    return head
  }

  readonly #clearFailed = (error: unknown): void => {
    this.#context.log.error({ err: error, boardId: this.boardId }, 'what was deleted could not be cleared')
    this.distrust()
  }

  readonly #applyFailed = (error: unknown): void => {
    this.#context.log.error(
      { err: error, boardId: this.boardId },
      'an update of the log could not be applied completely',
    )
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (isFromLog(origin)) return
    this.#sizeBytes += update.byteLength
    const authors = authorsOf(origin, update)
    this.#fanOut.wrote(authors.actors)
    this.#context.queue.edit(this.queue, { update, ...authors })
  }
}

const outOfDate = () =>
  new ServiceError('session_unavailable', 'The live document is out of date. Try again shortly.')

/**
 * Nobody is shown a document while it loads. So what is loaded need not be encoded again for them, and merged: that takes
 * a third of the load's CPU time. @returns a function that gives updates to their listeners again
 */
function withoutListeners(document: Document): () => void {
  const listeners = [...document._observers.get('update')!] as ((update: Uint8Array) => void)[]
  for (const listener of listeners) document.off('update', listener)
  return () => listeners.forEach((listener) => document.on('update', listener))
}
