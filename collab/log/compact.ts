/**
 * Merges a board's log into its snapshot, so that loading stays fast. The merged rows go to the board's history. The log
 * up to a given position never changes. So it is merged in a worker thread, without the board's lock, and its rows are
 * written to the file store before they are deleted. The lock is held only for writing the snapshot, recording the
 * segment and deleting the merged rows.
 *
 * One board is compacted at a time. The accounts that own the workspaces take turns. A log that is damaged or takes too
 * long to merge is not tried again before the next start.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import type { Logger } from '../../platform/log.ts'
import { task, TaskExceeded, type WorkerPool } from '../../platform/work/worker-pool.ts'
import type { Database } from '../../sql/database.ts'
import { stageBytes } from '../../sql/stage-bytes.ts'
import type { archiveLog, RowHead } from './archive.ts'
import {
  continuationOf,
  dropSegment,
  FilesEnded,
  recordSegment,
  rowHeads,
  writeSegment,
  type HistoryOptions,
  type WrittenSegment,
} from './history.ts'
import { ownBuffers, tail, type BoardHead, type Tail } from './log.ts'

export interface CompactorOptions {
  database: Database
  pool: WorkerPool
  log: Logger
  history: HistoryOptions
  /** Number of log rows above which a board is compacted. */
  rows?: number
  mergeMs?: number
  compacted?(boardId: string, sizeBytes: number): void
}

const archiveTask = task<typeof archiveLog>(new URL('./archive.ts', import.meta.url), 'archiveLog')

/**
 * After each board the compactor rests for this many times its working time. So merging, and the database's part in it,
 * takes at most a quarter of a core from the commits. A log that grows meanwhile is merged later.
 */
const restFactor = 3
const maxRestMs = 5000
const maxRemembered = 10_000
/** Bytes of log above which a board is compacted, if they are also a quarter of the snapshot. */
const manyBytes = 1024 * 1024

/**
 * Thrown instead of compacting a damaged log, which would delete what is left of it. `corkboard verify` reports the
 * damage.
 */
class LogDamaged extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`The log is damaged: ${what}.`, options)
  }
}

export class Compactor {
  readonly #options: CompactorOptions & { rows: number; mergeMs: number }
  /** Boards that are being compacted, or wait for it. */
  readonly queue = new FairQueue({ atOnce: 1, waiting: 10_000, waitingPerAccount: 1000 })
  /** Boards that are queued or being compacted. */
  readonly #due = new Map<string, Promise<void>>()
  readonly #stop = new AbortController()
  readonly #snapshotBytes = new Map<string, number>()
  /** Boards whose log is damaged or takes too long to merge. */
  readonly #leftAlone = new Set<string>()

  constructor(options: CompactorOptions) {
    this.#options = { rows: 1000, mergeMs: 30_000, ...options }
  }

  /** Compacts these boards even if their logs are short. */
  want(boardIds: string[]): void {
    for (const boardId of boardIds) this.#schedule(boardId)
  }

  /** Called after each commit. */
  readonly grown = (boardId: string, head: BoardHead): void => {
    const large = head.logBytes > manyBytes && head.logBytes > (this.#snapshotBytes.get(boardId) ?? 0) / 4
    if (head.logRows >= this.#options.rows || large) this.#schedule(boardId)
  }

  #schedule(boardId: string): void {
    if (this.#stop.signal.aborted || this.#due.has(boardId) || this.#leftAlone.has(boardId)) return
    const run = this.#run(boardId).finally(() => this.#due.delete(boardId))
    this.#due.set(boardId, run)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#due.values())
  }

  async #run(boardId: string): Promise<void> {
    const { database, log } = this.#options
    const { signal } = this.#stop
    try {
      const [board] = await database.asSystem(
        (tx) => tx<{ account: string }[]>`
          select w.owner_id as account
          from board_documents d
          join workspaces w on w.id = d.workspace_id
          where d.board_id = ${boardId}`,
      )
      if (!board) return
      const work = async () => {
        const startedAt = performance.now()
        try {
          await this.compact(boardId)
        } finally {
          const restMs = Math.min(maxRestMs, restFactor * (performance.now() - startedAt))
          await delay(restMs, undefined, { signal }).catch(() => undefined)
        }
      }
      await this.queue.run(board.account, work, { signal })
    } catch (error) {
      if (signal.aborted || error instanceof QueueFull) return // `grown` schedules it again
      if (!(error instanceof TaskExceeded || error instanceof LogDamaged)) {
        log.warn({ err: error, boardId }, 'compacting a log failed; it will be tried again as the log grows')
        return
      }
      this.#leftAlone.add(boardId)
      const fault =
        error instanceof LogDamaged ? 'is damaged' : 'takes too long or too much memory to compact'
      log.error({ err: error, boardId }, `a log ${fault}; it will not be compacted until the next start`)
    }
  }

  /**
   * Compacts a board. @returns the position up to which the snapshot now contains the log; null when there was nothing
   * to do
   */
  async compact(boardId: string): Promise<number | null> {
    const { database, history } = this.#options
    const found = await tail(database, boardId, 0)
    if (!found || found.updates.length === 0) return null
    if (found.damagedAt !== null) throw new LogDamaged(`its row ${found.damagedAt} is missing or cut off`)
    const { seq, snapshotSeq } = found
    const { keepsBase, endedAt, cutoff } = await continuationOf(database, boardId, found, history)
    const rows = await rowHeads(database, boardId, found)
    if (!rows) return null
    const [merged, segment, fileKeys, base = null] = await this.#archive(found, rows, keepsBase)
    const isOutdated = rows.at(-1)!.at <= cutoff.getTime()
    const cut = {
      ...{ boardId, rows, segment: segment!, base },
      baseAt: endedAt ?? new Date(rows[0]!.at),
      fileKeys: namesIn(fileKeys!),
      keptUntil: new Date(rows.at(-1)!.at + (history.clock.now() - cutoff.getTime())),
    }
    const written = isOutdated ? null : await writeSegment(database, history.files, cut)
    const isCut = await this.#cut(boardId, { seq, snapshotSeq, merged: merged! }, written).catch(
      (error: unknown) => {
        if (error instanceof FilesEnded) return false
        throw error
      },
    )
    if (!isCut && written) await dropSegment(database, written)
    if (isCut) this.#options.compacted?.(boardId, merged!.byteLength)
    return seq
  }

  async #archive(found: Tail, rows: RowHead[], keepsBase: boolean): Promise<Uint8Array[]> {
    const { pool, mergeMs } = this.#options
    const { snapshot, updates, ownerId } = found
    return pool
      .run(
        archiveTask,
        { snapshot, updates, rows, keepsBase },
        { account: ownerId, timeoutMs: mergeMs, transfer: ownBuffers(found) },
      )
      .catch((error: unknown) => {
        if (error instanceof TaskExceeded || error instanceof QueueFull) throw error
        throw new LogDamaged('it cannot be merged', { cause: error })
      })
  }

  /**
   * Replaces the log up to `seq` by a snapshot. @returns false, with nothing written, when another process did so
   * meanwhile
   */
  async #cut(
    boardId: string,
    { seq, snapshotSeq, merged }: { seq: number; snapshotSeq: number; merged: Uint8Array },
    written: WrittenSegment | null,
  ): Promise<boolean> {
    const { database } = this.#options
    if (this.#snapshotBytes.size > maxRemembered) this.#snapshotBytes.clear()
    this.#snapshotBytes.set(boardId, merged.byteLength)
    const staged = await stageBytes(database, merged)
    return database.asSystem(async (tx) => {
      // This is a separate statement, so that the next one sees what was committed while this one waited for the lock.
      const [before] = await tx<{ bytes: number }[]>`
        select (select s.bytes from document_sizes s where s.board_id = d.board_id) as bytes
        from board_documents d
        where d.board_id = ${boardId}
        for update`
      const [done] = await tx`
        update board_documents d
        set snapshot = take_staged_bytes(${staged.id}, ${staged.pieces}), snapshot_seq = ${seq},
          log_rows = (select count(*) from board_updates u where u.board_id = d.board_id and u.seq > ${seq}),
          log_bytes = (select coalesce(sum(length(u.updates)), 0) from board_updates u where u.board_id = d.board_id and u.seq > ${seq})
        where d.board_id = ${boardId} and d.snapshot_seq = ${snapshotSeq}
        returning d.board_id`
      if (!done) return false
      if (written) await recordSegment(tx, written)
      else await tx`delete from board_history where board_id = ${boardId}` // older than what is not kept
      await tx`delete from board_updates where board_id = ${boardId} and seq <= ${seq}`
      await tx`
        select shrink_guest_bytes(s.board_id, ${before!.bytes} - s.bytes)
        from document_sizes s
        where s.board_id = ${boardId}`
      return true
    }, 'background')
  }
}

const namesIn = (json: Uint8Array) => JSON.parse(Buffer.from(json).toString()) as string[]
