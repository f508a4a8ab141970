/**
 * Merges a board's log into its snapshot, so that loading stays short. The log up to a position never changes, so it is
 * merged in a worker thread, without the board's lock; the lock is held only to write the snapshot and cut the log.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import { tail, type BoardHead } from './log.ts'
import { Merger } from './merge.ts'

export interface CompactorOptions {
  database: Database
  log: Logger
  /** Log rows after which a board is compacted. */
  rows?: number
  /** … or bytes of log, when they are a quarter of the snapshot as well. */
  bytes?: number
  /** Told how large a board is, merged. */
  compacted?(boardId: string, sizeBytes: number): void
}

/**
 * It rests for so many times as long as it worked: merging, and the database's part in it, takes at most a quarter of a
 * core from the commits of a small machine. A log that grows meanwhile is only longer when it is merged.
 */
const restFactor = 3
const maxRestMs = 5000

export class Compactor {
  readonly #options: CompactorOptions & { rows: number; bytes: number }
  readonly #waiting = new Set<string>()
  #running: Promise<void> | null = null
  readonly #merger = new Merger()
  readonly #stop = new AbortController()
  readonly #snapshotBytes = new Map<string, number>()

  constructor(options: CompactorOptions) {
    this.#options = { rows: 1000, bytes: 1024 * 1024, ...options }
  }

  /** Told of each commit. */
  readonly grown = (boardId: string, head: BoardHead): void => {
    const large =
      head.logBytes > this.#options.bytes && head.logBytes > (this.#snapshotBytes.get(boardId) ?? 0) / 4
    if ((head.logRows < this.#options.rows && !large) || this.#stop.signal.aborted) return
    this.#waiting.add(boardId)
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#waiting.clear()
    await this.#running
    await this.#merger.close()
  }

  async #run(): Promise<void> {
    for (const boardId of this.#waiting) {
      this.#waiting.delete(boardId)
      const started = performance.now()
      try {
        await this.compact(boardId)
      } catch (error) {
        this.#options.log.warn(
          { err: error, boardId },
          'a log could not be compacted; it will be tried again as it grows',
        )
      }
      const restMs = Math.min(maxRestMs, restFactor * (performance.now() - started))
      await delay(restMs, undefined, { signal: this.#stop.signal }).catch(() => undefined)
    }
  }

  /** @returns the position up to which the snapshot now holds the log; null when there was nothing to do */
  async compact(boardId: string): Promise<number | null> {
    const found = await tail(this.#options.database, boardId, 0)
    if (!found || found.updates.length === 0) return null
    const merged = await this.#merger.merge({ snapshot: found.snapshot, updates: found.updates })
    if (this.#snapshotBytes.size > 10_000) this.#snapshotBytes.clear()
    this.#snapshotBytes.set(boardId, merged.byteLength)
    await this.#options.database.asSystem(async (tx) => {
      const [written] = await tx`
        update board_documents d
        set snapshot = ${Buffer.from(merged.buffer, merged.byteOffset, merged.byteLength)}, snapshot_seq = ${found.seq},
          log_rows = (select count(*) from board_updates u where u.board_id = d.board_id and u.seq > ${found.seq}),
          log_bytes = (select coalesce(sum(length(u.updates)), 0) from board_updates u where u.board_id = d.board_id and u.seq > ${found.seq})
        where d.board_id = ${boardId} and d.snapshot_seq < ${found.seq}
        returning d.board_id`
      if (written) await tx`delete from board_updates where board_id = ${boardId} and seq <= ${found.seq}`
    })
    this.#options.compacted?.(boardId, merged.byteLength)
    return found.seq
  }
}
