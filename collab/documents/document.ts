/**
 * A board in memory. It records the log position that its document contains, and the cards that changed since the last
 * index update. The log is the truth. This is a cache of it, which can be dropped when nothing is outstanding.
 *
 * Its canvases are shown the document (built-board.ts), or the stored bytes of a large board that is only shown
 * (shown-board.ts).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { Logger } from '../../platform/log.ts'
import { atOnce, inTurns } from '../../platform/work/loop-turn.ts'
import type { Database } from '../../sql/database.ts'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'
import type { BoardQueue } from '../commit/board-queue.ts'
import type { CommitQueue } from '../commit/commit.ts'
import { NoMemory } from '../commit/refusal.ts'
import type { CommittedWrite, CommittingDocument, FlushRows } from '../commit/committing-document.ts'
import { costOf, partBytes } from './apply-writes.ts'
import { BoardLog } from './board-log.ts'
import { BuiltBoard } from './built-board.ts'
import { isTooCostly, largeLogBytes, type LogLoader } from './load.ts'
import type { DocumentMemory } from './memory.ts'
import type { TurnOrigin } from './origin.ts'
import type { Added, Tail } from '../log/log.ts'
import { limitCleanup } from '../updates/cleanup.ts'
import { clearLater } from '../updates/clear.ts'
import { weigh } from '../updates/weight.ts'
import { FanOut } from './fan-out.ts'
import type { EncodedState } from './shared-state.ts'
import { costlyRetryMs } from './refusals.ts'
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

/**
 * Changes that are not indexed after this time are indexed here, whichever node took them. The node that took an edit
 * writes its row within two seconds, unless it has died, hangs or is overloaded.
 */
const takeOverMs = 3000

/** The cost of a transaction for each client of the document. Measured: 0.27 µs with 5,000 clients, 0.6 with 45,000. */
const clientMs = 0.0006

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
  readonly fanOut: FanOut
  readonly #built: BuiltBoard
  /** What canvases are shown as long as the document is not built. Null: they are shown the document. */
  #shown: ShownBoard | null = null
  #isBuilding = false
  readonly #context: DocumentContext
  readonly #unindexed: Unindexed
  #state: State = { kind: 'loading' }
  #knownSeq = 0
  /** The newest known position when a canvas was closed because it reads too slowly. */
  #missedSeq = -1
  #lastUsedAt = 0
  /** When the document itself was last wanted or changed (`performance.now()`). */
  #usedAt = 0
  #holds = 0
  readonly #log: BoardLog

  constructor(boardId: string, document: Document, queue: BoardQueue, context: DocumentContext) {
    this.boardId = boardId
    this.document = document
    this.queue = queue
    this.fanOut = new FanOut(document)
    this.#context = context
    this.#log = new BoardLog(document, queue, context, () => this.gone())
    this.#unindexed = new Unindexed(boardId, document, context.log)
    this.#built = new BuiltBoard({
      ...{ document, queue, fanOut: this.fanOut, log: this.#log, unindexed: this.#unindexed },
      ...{ database: context.database, commits: context.queue },
      reached: (seq) => this.#reached(seq),
    })
    limitCleanup(document)
    weigh(document)
    clearLater(document, { run: (steps) => inTurns(steps).catch(this.#clearFailed) })
  }

  /** The encoded document, for clients that join. */
  get shared(): EncodedState {
    return this.#face.state
  }

  /** What canvases are shown. */
  get #face(): BuiltBoard | ShownBoard {
    return this.#shown ?? this.#built
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
    return this.#face.seq
  }

  get current(): boolean {
    return this.#state.kind === 'following' && this.appliedSeq >= this.#knownSeq
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
    return this.#log.sizeBytes
  }

  /** Whether it may become larger: its account has room in memory. */
  get hasRoom(): boolean {
    return this.#context.memory.hasRoom(this.document)
  }

  /** Sets the size after merging. Much of the data since the loading has been overwritten. */
  measured(sizeBytes: number): void {
    this.#log.sizeBytes = sizeBytes
  }

  /** Steps that integrating its items took since the start of loading, as meter.ts counts them. */
  get mergeSteps(): number {
    return this.#log.mergeSteps
  }

  merged(steps: number): void {
    this.#log.mergeSteps += steps
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
      const found = await this.#log.read(0, { mostBytes: largeLogBytes })
      if (found.isLeftOut && found.indexedSeq === found.seq) {
        this.#log.learn(found)
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
    await this.#fill(found)
    this.#built.listen()
    if (this.#state.kind === 'loading') this.#state = { kind: 'following' }
  }

  #fill(found?: Tail): Promise<void> {
    return this.#built.fill(() => this.#knownSeq, found)
  }

  // ---- a large board that is only shown

  /**
   * Shows the board as stored bytes.
   *
   * @param vector the state vector of the open canvases; null when no canvas is open
   */
  #show(seq: number, vector: Uint8Array | null): void {
    this.#shown = new ShownBoard({
      ...{ document: this.document, log: this.#log, seq, vector },
      wanted: () => void this.built(),
    })
    this.#know(seq)
    this.#state = { kind: 'stored' }
  }

  /** Keeps a built document in memory until the returned function is called. */
  hold(): () => void {
    this.#holds += 1
    return () => void (this.#holds -= 1)
  }

  /** Drops the document of a large board. @returns false, with nothing done, when it is used or would be missed */
  putAway(): boolean {
    const isUsed = this.#holds > 0 || this.document.getConnectionsCount() > this.editors
    if (!this.current || isUsed || this.outstanding || !this.#built.mayDrop) return false
    const seq = this.appliedSeq
    this.#show(seq, this.#built.drop())
    return true
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
    for (let attempt = 0, isFilled = false; !isFilled && !this.#isOver; attempt++) {
      isFilled = await this.#fill().then(
        () => true,
        (error: unknown) => this.#failedBuild(error, attempt),
      )
    }
    if (this.#isOver) return
    await shown.sendRest(this.#built.seq)
    this.#built.listen()
    this.#shown = null
    this.#isBuilding = false
    shown.end(this.#built.state)
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
    this.#built.unlisten()
  }

  /** Applies edits in one transaction. The caller calls `fanOut.broadcast` afterwards. */
  edit(origin: TurnOrigin, work: () => void): void {
    this.fanOut.beforeBroadcast(() => Y.transact(this.document, work, origin, false))
  }

  showWith(sockets: number): void {
    if (sockets * 2 >= this.editors && !this.fanOut.isSlow) this.document.flush()
  }

  whenShown(then: () => void): void {
    this.fanOut.afterSending(then)
  }

  get isCatchingUp(): boolean {
    return this.#state.kind === 'catching up'
  }

  /** Resolves when the document contains all known commits. */
  async caughtUp(): Promise<void> {
    while (this.#state.kind === 'catching up') await this.#state.done
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
    const { kind } = this.#state
    const isNext = (kind === 'following' || kind === 'stored') && seq === this.appliedSeq + 1
    if (!isNext) return this.noticed(seq)
    this.#know(seq)
    if (this.#shown) {
      const updates = writes.flatMap((write) => write.updates)
      return this.#shown.send(seq, updates)
    }
    const cost = writes.reduce((sum, { updates }) => sum + costOf(updates), 0)
    if (cost > partBytes) this.#follow(inTurns(this.#built.apply(seq, writes)))
    else atOnce(this.#built.apply(seq, writes))
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
    if (seq === this.appliedSeq && this.queue.edits.count === 0 && bytes < this.sizeBytes)
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
        if (attempt === 0 && added?.after === this.appliedSeq && (await this.#face.take(added))) {
          this.fanOut.broadcast()
          continue
        }
        const seq = await this.#face.readOn()
        if (seq === null) return await this.#build(this.#shown!)
        this.fanOut.broadcast()
        // A wrong hint can name a position that does not exist. What was known before the log was read is in it.
        if (seq < wanted && this.#knownSeq === wanted) this.#knownSeq = seq
      } catch (error) {
        if (error instanceof NoMemory) return this.#unusable(error)
        await this.#failedAttempt(error, attempt)
      }
    }
  }

  /** Whether it will leave memory. */
  get #isOver(): boolean {
    return this.isGone || this.isDistrusted || this.document.isDestroyed
  }

  readonly #clearFailed = (error: unknown): void => {
    this.#context.log.error({ err: error, boardId: this.boardId }, 'what was deleted could not be cleared')
    this.distrust()
  }
}
