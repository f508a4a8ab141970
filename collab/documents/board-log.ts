/** Reads the log of a board in memory, applies it to the board's document, and measures it. */
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { Logger } from '../../platform/log.ts'
import type { Database, StatementPool } from '../../sql/database.ts'
import type { BoardQueue } from '../commit/board-queue.ts'
import { news, ownBuffers, tail, type BoardHead, type LogContent, type News, type Tail } from '../log/log.ts'
import type { LogLoader } from './load.ts'
import type { DocumentMemory } from './memory.ts'
import { nothingIndexed, type LogOrigin } from './origin.ts'
import type { StoredContent } from './stored-state.ts'

export interface BoardLogOptions {
  database: Database
  loader: LogLoader
  memory: DocumentMemory
  log: Logger
}

export class BoardLog {
  readonly #boardId: string
  readonly #document: Document
  readonly #options: BoardLogOptions
  readonly #gone: () => void
  readonly #queue: BoardQueue
  /** Read with the log. */
  #ownerId = ''
  /** A measure of the board's size: bytes of snapshot and log when they were read, plus the bytes since. */
  sizeBytes = 0
  /** Steps that integrating the document's items took since the start of loading, as meter.ts counts them. */
  mergeSteps = 0

  /** @param gone called when the board does not exist any more */
  constructor(document: Document, queue: BoardQueue, options: BoardLogOptions, gone: () => void) {
    this.#boardId = queue.boardId
    this.#document = document
    this.#queue = queue
    this.#options = options
    this.#gone = gone
  }

  /**
   * Reads what was committed after a position.
   *
   * @param mostBytes a log of more bytes is not read; see `Tail.isLeftOut`. Null: it is read in any case.
   */
  async read(
    from: number,
    { pool, mostBytes }: { pool?: StatementPool; mostBytes: number | null },
  ): Promise<Tail> {
    const found = await tail(this.#options.database, this.#boardId, from, pool, mostBytes)
    if (!found) {
      this.#gone()
      throw new Error('The board does not exist.')
    }
    return this.#counted(found)
  }

  /** The same for what others have committed since. Usually that is little. */
  async follow(from: number): Promise<News> {
    const found = await news(this.#options.database, this.#boardId, from)
    return found ? this.#counted(found) : this.read(from, { pool: 'follow', mostBytes: null })
  }

  /** Counts the document's memory for the account that owns the workspace now. */
  #counted<Found extends News>(found: Found): Found {
    const { ownerId: account, isPro } = found
    this.#ownerId = account
    this.#options.memory.count(this.#document, { account, isPro, kind: 'live' })
    return found
  }

  /** Reads the whole of a large log when it is its turn, and uses it. */
  readLarge<T>(use: (log: Tail) => Promise<T>): Promise<T> {
    const { memory, loader } = this.#options
    memory.opening(this.#document)()
    return loader.large.run(this.#ownerId, async () => use(await this.read(0, { mostBytes: null })))
  }

  /** Takes over the counters and the size of what was read. */
  learn({ updates: _updates, snapshot: _snapshot, ...head }: News): void {
    this.sizeBytes = head.snapshotBytes + head.logBytes
    this.learnHead(head)
  }

  learnHead(head: BoardHead): void {
    if ((this.#queue.head?.seq ?? -1) <= head.seq) this.#queue.learn(head)
  }

  /** Applies what was read, or what continues it. Nobody else may use it. */
  async apply(found: LogContent, { isOpening }: { isOpening: boolean }): Promise<void> {
    const { memory, loader } = this.#options
    const { snapshot, updates } = found
    const steps = await loader.apply(
      this.#document,
      { snapshot, updates },
      {
        account: this.#ownerId,
        origin: logOrigin(),
        failed: this.failed,
        requireRoom: isOpening ? memory.opening(this.#document) : memory.following(this.#document),
        transfer: ownBuffers(found),
      },
    )
    this.mergeSteps += steps // editors' updates were counted meanwhile
  }

  /** Reports an update of the log that could not be applied completely. */
  readonly failed = (error: unknown): void => {
    this.#options.log.error(
      { err: error, boardId: this.#boardId },
      'an update of the log could not be applied completely',
    )
  }

  /** Encodes the whole log for clients, without a document in this thread. */
  content(): Promise<StoredContent> {
    const { loader } = this.#options
    return this.readLarge(async (found) => {
      const { seq } = found
      return { seq, ...(await loader.encode(found, this.#ownerId)) }
    })
  }
}

const logOrigin = (): LogOrigin => ({
  source: 'local',
  skipStoreHooks: false,
  fromLog: true,
  indexed: nothingIndexed,
})

/** Sends an update of the log to the document's canvases, without applying it. */
export function sendToCanvases(document: Document, update: Uint8Array): void {
  const origin = logOrigin()
  document.emit('update', [update, origin, document, new Y.Transaction(document, origin, false)])
}

/**
 * Nobody is shown a document while it loads. So what is loaded need not be encoded again for them, and merged: that takes
 * a third of the load's CPU time. @returns a function that gives updates to their listeners again
 */
export function withoutListeners(document: Document): () => void {
  const listeners = [...document._observers.get('update')!] as ((update: Uint8Array) => void)[]
  for (const listener of listeners) document.off('update', listener)
  return () => listeners.forEach((listener) => document.on('update', listener))
}
