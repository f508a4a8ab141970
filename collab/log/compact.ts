/**
 * Merges a board's log into its snapshot, so that loading stays short. The log up to a position never changes, so it is
 * merged in a worker thread, without the board's lock; the lock is held only to write the snapshot and cut the log.
 *
 * One board at a time, with turns by the account that owns its workspace. A log that can't be merged, or is damaged, is not tried again.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import type { Logger } from '../../platform/log.ts'
import { task, TaskTimedOut, type WorkerPool } from '../../platform/work/worker-pool.ts'
import type { Database } from '../../sql/database.ts'
import { stageBytes } from '../../sql/stage-bytes.ts'
import { ownBuffers, tail, type BoardHead } from './log.ts'
import type { mergeLog } from './merge.ts'

export interface CompactorOptions {
  database: Database
  pool: WorkerPool
  log: Logger
  /** Log rows after which a board is compacted. */
  rows?: number
  /** … or bytes of log, when they are a quarter of the snapshot as well. */
  bytes?: number
  /** How long merging one log may take. */
  mergeMs?: number
  /** Told how large a board is, merged. */
  compacted?(boardId: string, sizeBytes: number): void
}

const mergeTask = task<typeof mergeLog>(new URL('./merge.ts', import.meta.url), 'mergeLog')

/**
 * It rests for so many times as long as it worked: merging, and the database's part in it, takes at most a quarter of a
 * core from the commits of a small machine. A log that grows meanwhile is only longer when it is merged.
 */
const restFactor = 3
const maxRestMs = 5000
/** Boards whose size or failure is remembered. */
const maxRemembered = 10_000

/** Compacting would throw away what is left of it. `corkboard verify` tells what is wrong. */
class LogDamaged extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`The log is damaged: ${what}.`, options)
  }
}

export class Compactor {
  readonly #options: CompactorOptions & { rows: number; bytes: number; mergeMs: number }
  readonly #queue = new FairQueue({ atOnce: 1, waiting: 10_000, waitingPerAccount: 1000 })
  /** Boards that wait for their turn, or have it. */
  readonly #due = new Map<string, Promise<void>>()
  readonly #stop = new AbortController()
  readonly #snapshotBytes = new Map<string, number>()
  /** Boards whose log is damaged, or took too long to merge. */
  readonly #leftAlone = new Set<string>()

  constructor(options: CompactorOptions) {
    this.#options = { rows: 1000, bytes: 1024 * 1024, mergeMs: 30_000, ...options }
  }

  /** Merges these boards although their logs are short. */
  want(boardIds: string[]): void {
    for (const boardId of boardIds) this.#schedule(boardId)
  }

  /** Told of each commit. */
  readonly grown = (boardId: string, head: BoardHead): void => {
    const large =
      head.logBytes > this.#options.bytes && head.logBytes > (this.#snapshotBytes.get(boardId) ?? 0) / 4
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
      await this.#queue.run(board.account, work, { signal })
    } catch (error) {
      if (signal.aborted || error instanceof QueueFull) return // told again as the log grows
      if (!(error instanceof TaskTimedOut || error instanceof LogDamaged)) {
        log.warn({ err: error, boardId }, 'a log could not be compacted; it will be tried again as it grows')
        return
      }
      this.#leftAlone.add(boardId)
      const fault = error instanceof LogDamaged ? 'is damaged' : 'takes too long to compact'
      log.error({ err: error, boardId }, `a log ${fault}; it is left as it is until the next start`)
    }
  }

  /** @returns the position up to which the snapshot now holds the log; null when there was nothing to do */
  async compact(boardId: string): Promise<number | null> {
    const { database, pool, mergeMs } = this.#options
    const found = await tail(database, boardId, 0)
    if (!found || found.updates.length === 0) return null
    const { snapshot, updates, ownerId, damagedAt } = found
    if (damagedAt !== null) throw new LogDamaged(`its row ${damagedAt} is missing or cut off`)
    const merged = await pool
      .run(
        mergeTask,
        { snapshot, updates },
        { account: ownerId, timeoutMs: mergeMs, transfer: ownBuffers(found) },
      )
      .catch((error: unknown) => {
        if (error instanceof TaskTimedOut || error instanceof QueueFull) throw error
        throw new LogDamaged('it cannot be merged', { cause: error })
      })
    if (this.#snapshotBytes.size > maxRemembered) this.#snapshotBytes.clear()
    this.#snapshotBytes.set(boardId, merged.byteLength)
    const staged = await stageBytes(database, merged)
    await database.asSystem(async (tx) => {
      // A statement of its own: the next one counts what was committed while this one waited.
      const [before] = await tx<{ bytes: number }[]>`
        select (select s.bytes from document_sizes s where s.board_id = d.board_id) as bytes
        from board_documents d
        where d.board_id = ${boardId}
        for update`
      const [written] = await tx`
        update board_documents d
        set snapshot = take_staged_bytes(${staged.id}, ${staged.pieces}), snapshot_seq = ${found.seq},
          log_rows = (select count(*) from board_updates u where u.board_id = d.board_id and u.seq > ${found.seq}),
          log_bytes = (select coalesce(sum(length(u.updates)), 0) from board_updates u where u.board_id = d.board_id and u.seq > ${found.seq})
        where d.board_id = ${boardId} and d.snapshot_seq < ${found.seq}
        returning d.board_id`
      if (!written) return
      await tx`delete from board_updates where board_id = ${boardId} and seq <= ${found.seq}`
      await tx`
        select shrink_guest_bytes(s.board_id, ${before!.bytes} - s.bytes)
        from document_sizes s
        where s.board_id = ${boardId}`
    }, 'background')
    this.#options.compacted?.(boardId, merged.byteLength)
    return found.seq
  }
}
