/**
 * The documents in memory. They are loaded on demand, stay for a while after use, and are dropped when nothing is
 * outstanding.
 */
import type { Document, Extension, Hocuspocus } from '@hocuspocus/server'
import * as Y from 'yjs'
import { noBoard } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { QueueFull } from '../../platform/work/fair-queue.ts'
import { NoMemory } from '../commit/refusal.ts'
import { BoardDocument, type DocumentContext } from './document.ts'
import { DocumentMemory, type MemoryBounds, type Payer } from './memory.ts'
import { isFromLog } from './origin.ts'
import { caughtUpSoon, showable } from './reach.ts'
import { Refusals, temporaryRefusal, tooCostly } from './refusals.ts'
import { isTooCostly, type ApplyLogOptions } from './load.ts'
import { ownBuffers, type LogContent } from '../log/log.ts'
import { limitCleanup } from '../updates/cleanup.ts'
import { clearLater, cleared } from '../updates/clear.ts'

export interface DocumentsOptions extends Omit<DocumentContext, 'memory' | 'onUnusable'> {
  /** Called when what canvases show can't be kept or built. They must be closed. */
  onUnusable(boardId: string, reason: 'memory' | 'cost'): void
  clock: Clock
  memory: MemoryBounds
  /** Total size above which documents that nobody has open are dropped early, in encoded bytes. */
  warmBytes: number
}

/** How long a document that nobody has open stays in memory. */
const idleMs = 60_000
/**
 * How long the document of a large open board stays without being changed or read: so long for each megabyte, and a minute
 * at least; a sixth of it while memory is tight. Building it again takes 0.3 s for each megabyte.
 */
const quietMsPerByte = 30_000 / 1e6
const tightShare = 1 / 6

type CopyPayer = Pick<Payer, 'account' | 'isPro'>

/** Keeps a document in memory until it is released. */
export interface Lease {
  board: BoardDocument
  release(): void
}

/** Figures of the documents in memory. */
export interface DocumentsCounts {
  documents: number
  sizeBytes: number
  /** What they and their copies take in memory, by an estimate. */
  memoryBytes: number
  /** The most rows that the log of one of them has after its snapshot. */
  logRows: number
  /** The age of the oldest change that is not in the card index. */
  indexLagMs: number
}

/** A full queue is a fault of the moment: whoever asked is told to come again. */
const busyOr = (error: unknown): unknown =>
  error instanceof QueueFull
    ? new ServiceError(
        'session_unavailable',
        'Too many documents are being opened. Open fewer at the same time. Try again in a few seconds.',
        { cause: error },
      )
    : error

const request = new Request('http://localhost/')
const openBySystem = { isAuthenticated: true, readOnly: false }

export class Documents {
  readonly #options: DocumentsOptions
  readonly #memory: DocumentMemory
  readonly #boards = new Map<string, BoardDocument>()
  #hocuspocus: Hocuspocus | null = null
  readonly #refusals: Refusals
  readonly #evicting = new WeakSet<BoardDocument>()
  #sweeper: NodeJS.Timeout | null = null
  #swept = { sizeBytes: 0, logRows: 0, indexLagMs: 0 }

  constructor(options: DocumentsOptions) {
    this.#options = options
    this.#memory = new DocumentMemory(options.memory)
    this.#refusals = new Refusals(options.clock)
  }

  /** Sets the Hocuspocus instance. It and this class need each other, so the gateway sets it after creating both. */
  attach(hocuspocus: Hocuspocus): void {
    this.#hocuspocus = hocuspocus
    this.#sweeper = setInterval(() => this.sweep(), 2000)
    this.#sweeper.unref()
  }

  find(boardId: string): BoardDocument | null {
    return this.#boards.get(boardId) ?? null
  }

  all(): BoardDocument[] {
    return [...this.#boards.values()]
  }

  /** All but the number are as of the last sweep, at most two seconds ago: it looks at each document anyway. */
  counts(): DocumentsCounts {
    return { documents: this.#boards.size, memoryBytes: this.#memory.totalBytes, ...this.#swept }
  }

  /**
   * Loads a document. Hocuspocus calls it for a document that is not in memory. After a loading that took too long, or
   * too much memory, requests for the board are refused at once for a while.
   */
  async load(boardId: string, document: Document): Promise<void> {
    const { queue } = this.#options
    const context = {
      ...{ ...this.#options, memory: this.#memory },
      onUnusable: (id: string, error: unknown) => this.#unusable(id, error),
    }
    const board = new BoardDocument(boardId, document, queue.board(boardId), context)
    try {
      const refused = this.#refusals.find(boardId)
      if (refused) throw refused
      await board.load()
    } catch (error) {
      document.destroy() // without this, its timers would keep running
      if (isTooCostly(error)) throw this.#refuseCostly(boardId, error)
      if (error instanceof NoMemory && !this.#refusals.find(boardId))
        throw this.#refusals.noMemory(boardId, error)
      throw Object.assign(busyOr(error) as Error, { reason: temporaryRefusal })
    }
    board.use(this.#options.clock.now())
    this.#boards.set(boardId, board)
  }

  #refuseCostly(boardId: string, error: unknown): Error {
    this.#options.log.error(
      { err: error, boardId },
      'a document takes too long to load; requests for it are refused for a while',
    )
    return this.#refusals.costly(boardId, error)
  }

  #unusable(boardId: string, error: unknown): void {
    const isCostly = isTooCostly(error)
    if (isCostly) this.#refuseCostly(boardId, error)
    else
      this.#options.log.warn(
        { boardId },
        'a document was closed: it is larger than what its account may have in memory',
      )
    this.#options.onUnusable(boardId, isCostly ? 'cost' : 'memory')
  }

  /**
   * Loads a document if necessary, and keeps it in memory until the lease is released.
   *
   * @throws ServiceError `not_found`, `storage_unavailable` or `session_unavailable`
   */
  lease(boardId: string): Promise<Lease> {
    return this.#hold(boardId, async (board) => {
      await board.built()
      await caughtUpSoon(board)
    })
  }

  /** Brings a board into memory, so that a canvas can be shown everything up to `seq`. Its document may not be built. */
  async show(boardId: string, seq: number): Promise<void> {
    const { release } = await this.#hold(boardId, (board) => showable(board, seq))
    release()
  }

  async #hold(boardId: string, prepare: (board: BoardDocument) => Promise<void>): Promise<Lease> {
    const hocuspocus = this.#hocuspocus
    if (!hocuspocus) throw new Error('The gateway has not been started yet.')
    for (let attempt = 0; attempt < 5; attempt++) {
      const document = await hocuspocus.createDocument(boardId, request, 'service', openBySystem, {})
      const board = this.#boards.get(boardId)
      if (!board || board.document !== document || document.isDestroyed) continue
      document.addDirectConnection() // prevents unloading from now on
      const release = () => {
        board.use(this.#options.clock.now())
        document.removeDirectConnection()
      }
      try {
        await prepare(board)
      } catch (error) {
        release()
        throw error
      }
      if (!board.isGone && !board.isDistrusted) return { board, release }
      release()
      if (board.isGone) throw noBoard()
      break
    }
    const refused = this.#refusals.find(boardId)
    if (refused) throw refused
    throw new ServiceError('session_unavailable', 'The live document could not be opened. Try again shortly.')
  }

  async withDocument<T>(boardId: string, work: (board: BoardDocument) => T | Promise<T>): Promise<T> {
    const lease = await this.lease(boardId)
    try {
      return await work(lease.board)
    } finally {
      lease.release()
    }
  }

  /** Keeps documents in memory while something is outstanding, and for a while after their last use. */
  readonly extension: Extension = {
    extensionName: 'documents',
    afterLoadDocument: async ({ document }) => {
      // This replaces Hocuspocus' own handler, which restarts its timer and runs a chain of hooks for each update.
      document.onUpdate((_document, origin) => this.#scheduleStore(document, origin))
    },
    beforeUnloadDocument: async ({ documentName }) => {
      const board = this.#boards.get(documentName)
      // An error without a message prevents the unloading and is not printed.
      if (board && !this.#mayGo(board)) throw new Error()
    },
    afterUnloadDocument: async ({ documentName }) => {
      const board = this.#boards.get(documentName)
      if (!board?.document.isDestroyed) return
      board.drop()
      this.#boards.delete(documentName)
    },
  }

  /**
   * Opens a state that was encoded at some moment. It does so in turns, for a large one partly in a worker thread. Others
   * may use the same bytes: joins share a board's state, and an update may still wait for its commit.
   *
   * @param updates the state, as updates in their order
   * @param account whose turn and whose memory it takes
   * @returns a copy that counts until it is destroyed
   * @throws ServiceError `session_unavailable`
   */
  #open(updates: Uint8Array[], account: string): Promise<Y.Doc> {
    const log = { snapshot: null, updates }
    return this.#fill((copy, options) => this.#options.loader.apply(copy, log, options), {
      account,
      isPro: null,
    })
  }

  /** The same for a state that a worker thread has cut into parts. */
  openParts(parts: Uint8Array[], payer: CopyPayer): Promise<Y.Doc> {
    return this.#fill((copy, options) => this.#options.loader.applyParts(copy, parts, options), payer)
  }

  /** Opens a log that was read for this alone, as `open` does. It can't be used afterwards. */
  openLog(log: LogContent, payer: CopyPayer): Promise<Y.Doc> {
    const transfer = ownBuffers(log)
    return this.#fill(
      (copy, options) => this.#options.loader.apply(copy, log, { ...options, transfer }),
      payer,
    )
  }

  /** Opens states as copies for `work`, and destroys them afterwards. */
  async withCopies<T>(
    account: string,
    work: (open: (...updates: Uint8Array[]) => Promise<Y.Doc>) => Promise<T>,
  ): Promise<T> {
    const copies: Y.Doc[] = []
    const open = async (...updates: Uint8Array[]) => {
      const copy = await this.#open(updates, account)
      copies.push(copy)
      return copy
    }
    try {
      return await work(open)
    } finally {
      for (const copy of copies) copy.destroy()
    }
  }

  async #fill(
    apply: (copy: Y.Doc, options: ApplyLogOptions) => Promise<unknown>,
    { account, isPro }: CopyPayer,
  ): Promise<Y.Doc> {
    const copy = new Y.Doc()
    limitCleanup(copy)
    clearLater(copy)
    this.#memory.count(copy, { account, isPro, kind: 'copies' })
    const requireRoom = this.#memory.opening(copy)
    const failed = (error: unknown) => {
      throw error
    }
    try {
      await apply(copy, { account, origin: null, failed, requireRoom })
      await cleared(copy)
    } catch (error) {
      copy.destroy()
      throw isTooCostly(error) ? tooCostly(error) : busyOr(error)
    }
    return copy
  }

  /**
   * Writes the index rows of edits: Hocuspocus' store hook. When another node has just written those of all nodes, the
   * newest edits wait for the next time. So nodes whose editors edit one board take turns.
   */
  async index(boardId: string): Promise<void> {
    const board = this.#boards.get(boardId)
    if (!board || !this.#hocuspocus) return
    const { leftOverMs } = board
    const isEarly = leftOverMs !== null && leftOverMs < this.#hocuspocus.configuration.debounce / 2
    if (isEarly) this.#scheduleStore(board.document, null)
    else await this.#options.queue.flush(boardId)
  }

  /** Schedules the store hook. It runs a fixed time after the first change since its last run. */
  #scheduleStore(document: Document, origin: unknown): void {
    const hocuspocus = this.#hocuspocus
    if (
      !hocuspocus ||
      isFromLog(origin) ||
      hocuspocus.debouncer.isDebounced(`onStoreDocument-${document.name}`)
    )
      return
    void hocuspocus.storeDocumentHooks(document, {
      instance: hocuspocus,
      clientsCount: document.getConnectionsCount(),
      document,
      documentName: document.name,
      lastContext: {},
      lastTransactionOrigin: { source: 'local' },
    })
  }

  #mayGo(board: BoardDocument): boolean {
    if (board.isGone) return true
    if (board.isDistrusted) return board.queue.edits.count === 0
    return !board.outstanding && this.#evicting.has(board)
  }

  /** Drops documents that were idle for long, then the least recently used ones above the memory limit. */
  sweep(): void {
    const now = this.#options.clock.now()
    const boards = this.all()
    const swept = { sizeBytes: 0, logRows: 0, indexLagMs: 0 }
    for (const board of boards) {
      swept.sizeBytes += board.sizeBytes
      swept.logRows = Math.max(swept.logRows, board.queue.head?.logRows ?? 0)
      swept.indexLagMs = Math.max(swept.indexLagMs, board.indexLagMs)
      if (board.editors > 0) board.use(now)
    }
    this.#swept = swept
    this.#memory.recount()
    let bytes = swept.sizeBytes
    const idle = boards
      .filter(
        (board) => (board.isDistrusted || !board.outstanding) && board.document.getConnectionsCount() === 0,
      )
      .sort((a, b) => a.lastUsedAt - b.lastUsedAt)
    for (const board of idle) {
      const isRecent = now - board.lastUsedAt < idleMs
      const wanted = isRecent && bytes <= this.#options.warmBytes && !this.#memory.isTight(board.document)
      if (wanted && !board.isGone && !board.isDistrusted) continue
      bytes -= board.sizeBytes
      this.#memory.leaves(board.document)
      this.#evicting.add(board)
      void this.#hocuspocus?.unloadDocument(board.document).finally(() => {
        this.#evicting.delete(board)
        if (!board.isDistrusted) this.#memory.stays(board.document)
      })
    }
    for (const board of boards) if (board.quietMs > this.#keepsFor(board)) board.putAway()
    this.#memory.relieved()
  }

  #keepsFor({ document, sizeBytes }: BoardDocument): number {
    const ms = Math.max(idleMs, sizeBytes * quietMsPerByte)
    return this.#memory.isTight(document) ? ms * tightShare : ms
  }

  /** Drops all documents. Without this, their timers would keep running, and the process would keep their memory. */
  stop(): void {
    if (this.#sweeper) clearInterval(this.#sweeper)
    for (const board of this.all()) {
      board.drop()
      board.document.destroy()
      this.#hocuspocus?.documents.delete(board.boardId)
    }
    this.#boards.clear()
  }
}
