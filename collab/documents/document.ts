/**
 * A board in memory. It records the log position that its document contains, and the cards that changed since the last
 * index update. The log is the truth. This is a cache of it, which can be dropped when nothing is outstanding.
 *
 * A large board that is only shown has no document; see shown-board.ts.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
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
import { BoardLog, withoutListeners } from './board-log.ts'
import { isTooCostly, largeLogBytes, type LogLoader } from './load.ts'
import type { DocumentMemory } from './memory.ts'
import { authorsOf, isFromLog, senderOf, type TurnOrigin } from './origin.ts'
import { bytesOf, type Added, type BoardHead, type News, type Tail } from '../log/log.ts'
import { limitCleanup } from '../updates/cleanup.ts'
import { clearLater } from '../updates/clear.ts'
import { weigh } from '../updates/weight.ts'
import { empty, isAtRest } from './empty.ts'
import { FanOut } from './fan-out.ts'
import { SharedState, type EncodedState } from './shared-state.ts'
import { ShownBoard } from './shown-board.ts'
import { Unindexed } from './unindexed.ts'

export interface DocumentContext {
  database: Database
  queue: CommitQueue
  loader: LogLoader
  memory: DocumentMemory
  /** Called when a document that canvases show can't be kept or built. They must be closed. */
  onUnusable(boardId: string, error: unknown): void
  log: Logger
}

/** How long a canvas that opens, and a request, wait for the document to catch up. */
const [reachWithinMs, caughtUpWithinMs] = [5000, 10_000]

/**
 * Changes that are not indexed after this time are indexed here, whichever node took them. The node that took an edit
 * writes its row within two seconds, unless it has died, hangs or is overloaded.
 */
const takeOverMs = 3000

/** The cost of a transaction for each client of the document. Measured: 0.27 µs with 5,000 clients, 0.6 with 45,000. */
const clientMs = 0.0006

/** A log that took too long to merge is tried again after this time. */
export const costlyRetryMs = 600_000

type State =
  | { kind: 'loading' }
  | { kind: 'stored' }
  | { kind: 'following' }
  | { kind: 'catching up'; done: Promise<void> }
  | { kind: 'distrusted' }
  | { kind: 'gone' }

/**
 * Writes are built on the document only while it is following and contains all known commits (`current`).
 *
 *   state         becomes       when
 *   loading       following     `load` has applied the log and compared the index with it
 *   loading       stored        the log is large and the index is complete: the document is not built yet
 *   stored        catching up   the document is wanted (`built`), or it learns of a position that canvases lack
 *   following     catching up   it learns of a position that it lacks, or a large commit is applied in turns
 *   following     stored        nobody has used the document for a while (`putAway`)
 *   catching up   following     it contains all known commits
 *   catching up   stored        canvases were sent the commits that they lacked
 *   any           distrusted    a transaction failed: memory may contain edits that will not reach the log
 *   any but that  gone          the log or a commit says that the board does not exist any more
 *
 * Distrusted and gone documents stay so until they leave memory.
 */
export class BoardDocument implements CommittingDocument {
  readonly boardId: string
  readonly document: Document
  readonly queue: BoardQueue
  readonly #shared: SharedState
  /** What canvases are shown as long as the document is not built. Null: they are shown the document. */
  #shown: ShownBoard | null = null
  #isBuilding = false
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
  /** When the document itself was last wanted or changed (`performance.now()`). */
  #usedAt = 0
  #holds = 0
  readonly #fanOut: FanOut
  readonly #log: BoardLog

  constructor(boardId: string, document: Document, queue: BoardQueue, context: DocumentContext) {
    this.boardId = boardId
    this.document = document
    this.queue = queue
    this.#shared = new SharedState(document)
    this.#fanOut = new FanOut(document)
    this.#context = context
    this.#log = new BoardLog(boardId, document, context, () => this.gone())
    this.#unindexed = new Unindexed(boardId, document, context.log)
    limitCleanup(document)
    weigh(document)
    clearLater(document, { run: (steps) => inTurns(steps).catch(this.#clearFailed) })
  }

  /** The encoded document, for clients that join. */
  get shared(): EncodedState {
    return this.#shown?.state ?? this.#shared
  }

  get isStored(): boolean {
    return !this.isBuilt && !this.#isBuilding
  }

  /** Whether there is a document; otherwise only its stored bytes are shown. */
  get isBuilt(): boolean {
    return this.#shown === null
  }

  /** The log position up to which canvases are shown everything. */
  get appliedSeq(): number {
    return this.#shown?.seq ?? this.#appliedSeq
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

  /** Yjs copies the state vector for each transaction, and goes through the copies. */
  get transactionMs(): number {
    return this.document.store.clients.size * clientMs
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

  /** For how long nobody has wanted or changed the document, in milliseconds. */
  get quietMs(): number {
    return performance.now() - this.#usedAt
  }

  /** Reads the log and attaches to the commit queue. Throws when the board does not exist. */
  async load(): Promise<void> {
    cardsOf(this.document)
    groupsOf(this.document)
    this.queue.attach(this) // from now on it receives commits, including those made while it loads
    try {
      const found = await this.#log.read(0, undefined, largeLogBytes)
      if (found.isLeftOut && found.indexedSeq === found.seq) {
        this.#learn(found)
        this.#show(found.seq, null)
      } else await this.#loadDocument(found)
    } catch (error) {
      this.queue.detach(this)
      throw error
    }
    this.noticed(this.#knownSeq)
    if (this.#unindexed.isOutstanding) void this.#context.queue.flush(this.boardId)
  }

  async #loadDocument(found: Tail): Promise<void> {
    const hear = withoutListeners(this.document)
    try {
      await this.#fill(found)
    } finally {
      hear()
    }
    this.#listen()
    if (this.#state.kind === 'loading') this.#state = { kind: 'following' }
  }

  /** Applies the whole log to the empty document, and compares the index with it. */
  async #fill(found?: Tail): Promise<void> {
    let head = await this.#applyTail(undefined, found)
    // Apply what was committed meanwhile, here or elsewhere, before anybody sees the document.
    do head = await this.#applyTail()
    while (this.#appliedSeq < this.#knownSeq)
    // Compare with the newest position: nobody has recorded which cards changed during the loading.
    if (head.indexedSeq < head.seq) await this.#unindexed.compare(this.#context.database)
  }

  #listen(): void {
    this.document.on('update', this.#onUpdate)
    this.document.on('afterTransaction', this.#unindexed.onTransaction)
  }

  #unlisten(): void {
    this.document.off('update', this.#onUpdate)
    this.document.off('afterTransaction', this.#unindexed.onTransaction)
  }

  // ---- a large board that is only shown

  /** @param vector the state vector of what canvases have; null when there are none */
  #show(seq: number, vector: Uint8Array | null): void {
    this.#shown = new ShownBoard({
      ...{ document: this.document, log: this.#log, seq, vector },
      sent: (bytes) => (this.#sizeBytes += bytes),
      wanted: () => void this.built(),
    })
    this.#know(seq)
    this.#state = { kind: 'stored' }
  }

  /** Keeps the document built until the returned function is called. Call it while the document is built. */
  hold(): () => void {
    this.#holds += 1
    return () => void (this.#holds -= 1)
  }

  /** Drops the document of a large board. @returns false, with nothing done, when it is used or would be missed */
  putAway(): boolean {
    if (!this.#mayBePutAway) return false
    const vector = Y.encodeStateVector(this.document)
    this.#unlisten()
    this.#shared.drop()
    empty(this.document)
    this.#mergeSteps = 0
    this.#show(this.#appliedSeq, vector)
    this.#appliedSeq = 0
    return true
  }

  get #mayBePutAway(): boolean {
    const { head } = this.queue
    const isUsed = this.#holds > 0 || this.document.getConnectionsCount() > this.editors
    return (
      this.current &&
      !isUsed &&
      !this.outstanding &&
      head?.indexedSeq === this.#appliedSeq &&
      this.#sizeBytes > largeLogBytes &&
      isAtRest(this.document)
    )
  }

  /**
   * Resolves when the document is built. Call it before anything reads or changes the document. Check afterwards whether
   * the board is distrusted or gone.
   */
  async built(): Promise<void> {
    this.#usedAt = performance.now()
    while (this.#shown && !this.#isOver) {
      if (this.#state.kind === 'stored') this.#follow(this.#build(this.#shown))
      if (this.#state.kind === 'catching up') await this.#state.done
    }
  }

  /** Builds the document while canvases show the stored state, and then sends them what they lack. */
  async #build(shown: ShownBoard): Promise<void> {
    this.#isBuilding = true
    const hear = withoutListeners(this.document)
    try {
      for (let attempt = 0, isFilled = false; !isFilled && !this.#isOver; attempt++) {
        isFilled = await this.#fill().then(
          () => true,
          (error: unknown) => this.#failedBuild(error, attempt),
        )
      }
    } finally {
      hear()
    }
    if (this.#isOver) return
    await shown.sendRest(this.#appliedSeq)
    this.#listen()
    this.#shown = null
    this.#isBuilding = false
    shown.end(this.#shared)
  }

  /** @returns false when another attempt may help */
  async #failedBuild(error: unknown, attempt: number): Promise<false> {
    if (error instanceof NoMemory || isTooCostly(error)) this.#unusable(error)
    else await this.#failedAttempt(error, attempt)
    return false
  }

  #unusable(error: unknown): void {
    this.distrust()
    this.#context.memory.leaves(this.document)
    this.#context.onUnusable(this.boardId, error)
  }

  async #failedAttempt(error: unknown, attempt: number): Promise<void> {
    this.#context.log.warn(
      { err: error, boardId: this.boardId, attempt },
      'reading new commits from the log failed; trying again',
    )
    const waitMs = isTooCostly(error) ? costlyRetryMs : Math.min(1000, 20 * 2 ** attempt)
    await delay(waitMs, undefined, { ref: false })
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
    this.#unlisten()
  }

  /**
   * Broadcasts an edit to the open canvases, at once when the board is quiet. Otherwise edits within a few milliseconds
   * are sent together (Hocuspocus' `flushDelay`), because each broadcast is a write to every socket.
   */
  broadcast(): void {
    this.#fanOut.broadcast()
  }

  /** Applies edits in one transaction. The caller calls `broadcast` afterwards. */
  edit(origin: TurnOrigin, work: () => void): void {
    this.#fanOut.beforeBroadcast(() => Y.transact(this.document, work, origin, false))
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

  /**
   * Resolves when a canvas may be shown the board, with everything up to this position.
   *
   * @throws ServiceError `session_unavailable` when that takes too long
   */
  async showable(seq: number): Promise<void> {
    if (!this.#shown) await this.caughtUpSoon()
    await this.#reach(seq)
  }

  /** @throws ServiceError `session_unavailable` when that takes too long */
  async caughtUpSoon(): Promise<void> {
    if (this.#state.kind !== 'catching up') return
    await Promise.race([this.caughtUp(), delay(caughtUpWithinMs, undefined, { ref: false })])
    if (this.#state.kind === 'catching up') throw outOfDate()
  }

  async #reach(seq: number): Promise<void> {
    this.noticed(seq)
    if (this.appliedSeq >= seq) return
    await Promise.race([this.caughtUp(), delay(reachWithinMs, undefined, { ref: false })])
    if (this.appliedSeq < seq) throw outOfDate()
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
    if (this.#state.kind === 'stored' && seq === this.appliedSeq + 1) {
      this.#know(seq)
      const updates = writes.flatMap((write) => write.updates)
      this.#shown!.send(seq, updates)
      return
    }
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
    for (const applied of applyWrites(this.document, writes, this.#log.failed)) {
      this.#sizeBytes += applied
      yield
    }
    this.#reached(seq)
  }

  /**
   * Called with the board's positions in the database, and the bytes of its snapshot and log there. Indexes what its node
   * has not indexed in time.
   */
  compared(seq: number, indexedSeq: number, bytes: number): void {
    this.noticed(seq)
    const { head } = this.queue
    if (head?.seq === seq && head.indexedSeq < indexedSeq) this.queue.learn({ ...head, indexedSeq })
    // Another node may have merged the log.
    if (seq === this.appliedSeq && this.queue.edits.count === 0 && bytes < this.#sizeBytes)
      this.measured(bytes)
    if (this.isStored) {
      if (indexedSeq < seq) void this.built()
      return
    }
    this.#unindexed.indexed(indexedSeq)
    if (this.#unindexed.waitingMs > takeOverMs && !this.queue.isFlushWanted)
      void this.#context.queue.flush(this.boardId)
  }

  /** @param added what was added up to that position, or up to an earlier one, when it is known */
  noticed(seq: number, added?: Added): void {
    this.#know(seq)
    if (this.appliedSeq >= this.#knownSeq) return
    if (this.#state.kind === 'following' || this.#state.kind === 'stored') this.#follow(this.#catchUp(added))
  }

  #reached(seq: number): void {
    this.#appliedSeq = seq
    this.#usedAt = performance.now()
    this.#know(seq)
    this.#unindexed.reached(this.#knownSeq, this.queue.edits)
  }

  #know(seq: number): void {
    if (seq > this.#knownSeq) this.#knownSeq = seq
  }

  /** Runs work that brings the document up to date. No write is built on it meanwhile. */
  #follow(work: Promise<void>): void {
    const done = work.finally(() => {
      if (this.#state.kind === 'catching up') this.#state = { kind: this.#shown ? 'stored' : 'following' }
      this.noticed(this.#knownSeq)
      this.#context.queue.wake()
    })
    if (this.#state.kind === 'following' || this.#state.kind === 'stored')
      this.#state = { kind: 'catching up', done }
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

  /** Brings what canvases are shown up to the newest known commit. */
  async #catchUp(added?: Added): Promise<void> {
    for (let attempt = 0; this.appliedSeq < this.#knownSeq && !this.#isOver; attempt++) {
      const wanted = this.#knownSeq
      try {
        if (attempt === 0 && added?.after === this.appliedSeq && (await this.#take(added))) {
          this.broadcast()
          continue
        }
        const seq = this.#shown ? await this.#shown.readOn() : await this.#readOn()
        if (seq === null) return await this.#build(this.#shown!)
        this.broadcast()
        // A wrong hint can name a position that does not exist. What was known before the log was read is in it.
        if (seq < wanted && this.#knownSeq === wanted) this.#knownSeq = seq
      } catch (error) {
        if (error instanceof NoMemory) return this.#unusable(error)
        await this.#failedAttempt(error, attempt)
      }
    }
  }

  /** @returns false when it has to be read from the log */
  async #take(added: Added): Promise<boolean> {
    if (this.#shown) return this.#shown.take(added)
    await this.#applyAdded(added)
    return true
  }

  /** Applies what the log has got. @returns its newest position */
  async #readOn(): Promise<number> {
    const { seq } = await this.#applyFound(await this.#log.follow(this.#appliedSeq))
    return seq
  }

  /** Whether it will leave memory. */
  get #isOver(): boolean {
    return this.isGone || this.isDistrusted || this.document.isDestroyed
  }

  /** @param found the log, when it is read already */
  async #applyTail(pool?: StatementPool, found?: Tail): Promise<Tail> {
    found ??= await this.#log.read(this.#appliedSeq, pool, this.#appliedSeq === 0 ? largeLogBytes : null)
    return found.isLeftOut
      ? this.#log.readLarge((whole) => this.#applyFound(whole), pool)
      : this.#applyFound(found)
  }

  async #applyFound<Found extends News>(found: Found): Promise<Found> {
    this.merged(await this.#log.apply(found, { isOpening: this.#appliedSeq === 0 }))
    this.#learn(found)
    this.#reached(found.seq)
    return found
  }

  async #applyAdded({ head, updates }: Added): Promise<void> {
    this.merged(await this.#log.apply({ snapshot: null, updates }, { isOpening: false }))
    this.#sizeBytes += bytesOf(updates)
    this.#learnHead(head)
    this.#reached(head.seq)
  }

  #learn({ updates: _updates, snapshot: _snapshot, ...head }: News): void {
    this.#sizeBytes = head.snapshotBytes + head.logBytes
    this.#learnHead(head)
  }

  #learnHead(head: BoardHead): void {
    if ((this.queue.head?.seq ?? -1) <= head.seq) this.queue.learn(head)
  }

  readonly #clearFailed = (error: unknown): void => {
    this.#context.log.error({ err: error, boardId: this.boardId }, 'what was deleted could not be cleared')
    this.distrust()
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (isFromLog(origin)) return
    this.#sizeBytes += update.byteLength
    const authors = authorsOf(origin, update)
    this.#fanOut.wrote(authors.actors, update, senderOf(origin))
    this.#context.queue.edit(this.queue, { update, ...authors })
  }
}

const outOfDate = () =>
  new ServiceError('session_unavailable', 'The live document is out of date. Try again shortly.')
