/**
 * A board with its document in memory: the document contains the log up to a position, and the edits that are not committed
 * yet.
 */
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { Steps } from '../../platform/work/loop-turn.ts'
import type { Database } from '../../sql/database.ts'
import type { BoardQueue } from '../commit/board-queue.ts'
import type { CommitQueue } from '../commit/commit.ts'
import type { CommittedWrite } from '../commit/committing-document.ts'
import { bytesOf, type Added, type News, type Tail } from '../log/log.ts'
import { applyWrites } from './apply-writes.ts'
import { withoutListeners, type BoardLog } from './board-log.ts'
import { empty, isAtRest } from './empty.ts'
import type { FanOut } from './fan-out.ts'
import { largeLogBytes } from './load.ts'
import { authorsOf, isFromLog, senderOf } from './origin.ts'
import { SharedState } from './shared-state.ts'
import type { Unindexed } from './unindexed.ts'

export interface BuiltBoardOptions {
  document: Document
  log: BoardLog
  queue: BoardQueue
  unindexed: Unindexed
  fanOut: FanOut
  database: Database
  /** Where edits are queued. */
  commits: CommitQueue
  /** Called when the document contains the log up to a position. */
  reached(seq: number): void
}

export class BuiltBoard {
  readonly #options: BuiltBoardOptions
  /** The encoded document, for clients that join. */
  readonly state: SharedState
  /** The document contains the log up to this position. */
  seq = 0

  constructor(options: BuiltBoardOptions) {
    this.#options = options
    this.state = new SharedState(options.document)
  }

  /**
   * Applies the whole log to the empty document, and compares the index with it. After a failure, another call goes on.
   *
   * @param found the log, when it is read already
   * @param knownSeq returns the newest known position. What is committed meanwhile, here or elsewhere, is applied, too.
   */
  async fill(knownSeq: () => number, found?: Tail): Promise<void> {
    const { document, unindexed, database } = this.#options
    const hear = withoutListeners(document)
    try {
      let head = await this.#applyTail(found)
      do head = await this.#applyTail()
      while (this.seq < knownSeq())
      // Compare with the newest position: nobody has recorded which cards changed during the loading.
      if (head.indexedSeq < head.seq) await unindexed.compare(database)
    } finally {
      hear()
    }
  }

  /** From now on its edits are queued, and its changes recorded for the index. */
  listen(): void {
    const { document, unindexed } = this.#options
    document.on('update', this.#onUpdate)
    document.on('afterTransaction', unindexed.onTransaction)
  }

  unlisten(): void {
    const { document, unindexed } = this.#options
    document.off('update', this.#onUpdate)
    document.off('afterTransaction', unindexed.onTransaction)
  }

  /** Whether nothing would be lost by `drop`. */
  get mayDrop(): boolean {
    const { document, log, queue } = this.#options
    return queue.head?.indexedSeq === this.seq && log.sizeBytes > largeLogBytes && isAtRest(document)
  }

  /** Empties the document. @returns its state vector, encoded */
  drop(): Uint8Array {
    const { document, log } = this.#options
    const vector = Y.encodeStateVector(document)
    this.unlisten()
    this.state.drop()
    empty(document)
    log.mergeSteps = 0
    this.seq = 0
    return vector
  }

  /** Applies writes of the API that this process has committed. */
  *apply(seq: number, writes: CommittedWrite[]): Steps<void> {
    const { document, log } = this.#options
    for (const applied of applyWrites(document, writes, log.failed)) {
      log.sizeBytes += applied
      yield
    }
    this.#reached(seq)
  }

  /** Applies what another node has added. */
  async take({ head, updates }: Added): Promise<true> {
    const { log } = this.#options
    await log.apply({ snapshot: null, updates }, { isOpening: false })
    log.sizeBytes += bytesOf(updates)
    log.learnHead(head)
    this.#reached(head.seq)
    return true
  }

  /** Applies what the log has got. @returns its newest position */
  async readOn(): Promise<number> {
    const { seq } = await this.#applyFound(await this.#options.log.follow(this.seq))
    return seq
  }

  async #applyTail(found?: Tail): Promise<Tail> {
    const { log } = this.#options
    found ??= await log.read(this.seq, { mostBytes: this.seq === 0 ? largeLogBytes : null })
    return found.isLeftOut ? log.readLarge((whole) => this.#applyFound(whole)) : this.#applyFound(found)
  }

  async #applyFound<Found extends News>(found: Found): Promise<Found> {
    const { log } = this.#options
    await log.apply(found, { isOpening: this.seq === 0 })
    log.learn(found)
    this.#reached(found.seq)
    return found
  }

  #reached(seq: number): void {
    this.seq = seq
    this.#options.reached(seq)
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (isFromLog(origin)) return
    const { log, fanOut, commits, queue } = this.#options
    log.sizeBytes += update.byteLength
    const authors = authorsOf(origin, update)
    fanOut.wrote(authors.actors, update, senderOf(origin))
    commits.edit(queue, { update, ...authors })
  }
}
