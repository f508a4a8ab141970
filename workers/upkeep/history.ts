/**
 * Ends the history of boards: deletes segments whose retention has ended, and files that no segment refers to. A process
 * that ends anywhere in between leaves what the next round goes on from.
 */
import { randomUUID } from 'node:crypto'
import { claimFile, dropFiles, putFile, readFile, takeLeftovers } from '../../collab/log/history.ts'
import type { mergeSegments } from '../../collab/log/archive.ts'
import { historyCutoff, type DaysByTier } from '../../core/limits.ts'
import { task, type WorkerPool } from '../../platform/work/worker-pool.ts'
import type { Transaction } from '../../sql/database.ts'
import type { FileParts } from './end-uploads.ts'
import { never, startLoop, type Loop } from '../loop.ts'

const hourMs = 60 * 60 * 1000
/** Longer than a compaction takes. Files that were written before, and have no segment, never get one. */
const writingMs = hourMs
const atOnce = 100
const mergeMs = 60_000

export interface HistoryParts extends FileParts {
  pool: WorkerPool
  /** For how many days history is kept. */
  historyDays: DaysByTier
  /** Merges the logs of these boards. */
  compact(boardIds: string[]): void
}

const mergeTask = task<typeof mergeSegments>(
  new URL('../../collab/log/archive.ts', import.meta.url),
  'mergeSegments',
)

export const startEndingHistory = (parts: HistoryParts): Loop =>
  startLoop('end history', hourMs, parts.log, (stopping) => endHistory(parts, stopping))

export async function endHistory(parts: HistoryParts, stopping = never): Promise<void> {
  await compactOldLogs(parts)
  await endSegments(parts, stopping)
  await removeLeftovers(parts, stopping)
}

interface BoardHistory {
  board_id: string
  owner_id: string
  tier: 'free' | 'pro'
}

const cutoffs = ({ clock, historyDays }: HistoryParts) => ({
  free: historyCutoff(clock.now(), historyDays.free),
  pro: historyCutoff(clock.now(), historyDays.pro),
})

/** Logs that are too short to be compacted otherwise. Their rows may contain what was removed long ago. */
async function compactOldLogs(parts: HistoryParts): Promise<void> {
  const { free, pro } = cutoffs(parts)
  const boards = await parts.database.asSystem(
    (tx) => tx<{ board_id: string }[]>`
      select d.board_id
      from board_documents d
      join workspaces w on w.id = d.workspace_id
      join users u on u.id = w.owner_id
      join board_updates l on l.board_id = d.board_id and l.seq = d.snapshot_seq + 1
      where l.created_at <= case u.tier when 'pro' then ${pro}::timestamptz else ${free}::timestamptz end
      limit 1000`,
    'background',
  )
  parts.compact(boards.map(({ board_id }) => board_id))
}

async function endSegments(parts: HistoryParts, stopping = never): Promise<void> {
  const { database, log } = parts
  const { free, pro } = cutoffs(parts)
  const left: string[] = []
  while (!stopping.aborted) {
    const boards = await database.asSystem(
      (tx) => tx<BoardHistory[]>`
        select distinct h.board_id, w.owner_id, u.tier
        from board_history h
        join workspaces w on w.id = h.workspace_id
        join users u on u.id = w.owner_id
        where h.to_at <= case u.tier when 'pro' then ${pro}::timestamptz else ${free}::timestamptz end
          and h.board_id <> all (${left}::uuid[])
        limit ${atOnce}`,
      'background',
    )
    if (boards.length === 0) return
    for (const board of boards) {
      if (stopping.aborted) return
      left.push(board.board_id)
      try {
        await endSegmentsOf(parts, board, board.tier === 'pro' ? pro : free)
      } catch (error) {
        log.warn(
          { err: error, boardId: board.board_id },
          'the old history of a board could not be deleted; it will be tried again',
        )
      }
    }
  }
}

interface SegmentKeys {
  from_seq: number
  to_at: Date
  key: string
  base_key: string | null
}

const readSegments = (tx: Transaction, boardId: string) => tx<SegmentKeys[]>`
  select from_seq, to_at, key, base_key from board_history where board_id = ${boardId} order by from_seq`

/** Deletes the segments that ended before `cutoff`. The first one that is kept gets a base, unless it has one. */
async function endSegmentsOf(parts: HistoryParts, board: BoardHistory, cutoff: Date): Promise<void> {
  const { database } = parts
  const boardId = board.board_id
  const baseKey = `history/${boardId}/${randomUUID().slice(0, 8)}-base`
  await claimFile(database, baseKey)
  const segments = await database.asSystem((tx) => readSegments(tx, boardId))
  const kept = segments.findIndex(({ to_at }) => to_at > cutoff)
  const ended = kept < 0 ? segments : segments.slice(0, kept)
  const first = segments[kept]
  const base = first && !first.base_key ? await writeBase(parts, board, ended, baseKey) : null
  const isDone = await database.asSystem(async (tx) => {
    await tx`select from board_documents where board_id = ${boardId} for update`
    const now = await readSegments(tx, boardId)
    // The base was made of files that an expunge has replaced meanwhile, or another process has ended the segments.
    if (segments.some(({ key, base_key: base }, n) => now[n]?.key !== key || now[n]?.base_key !== base))
      return false
    // A compaction has recorded a segment meanwhile that builds on these. The next round gives it a base.
    if (!first && now.length > ended.length) return false
    if (base && first) {
      await tx`
        update board_history set base_key = ${base.key}, base_bytes = ${base.bytes}, base_at = ${ended.at(-1)!.to_at}
        where board_id = ${boardId} and from_seq = ${first.from_seq}`
      await takeLeftovers(tx, [base.key])
    }
    await tx`
      delete from board_history
      where board_id = ${boardId} and from_seq = any (${ended.map(({ from_seq }) => from_seq)}::bigint[])`
    return true
  }, 'background')
  // An expunge has deleted the row of the file before the file was written. So nothing else would delete it.
  if (!isDone) await parts.files.remove([baseKey])
  if (!base || !isDone) await dropFiles(database, [baseKey])
}

/** Writes the document after these segments to a file. */
async function writeBase(
  { files, pool }: HistoryParts,
  { owner_id: account }: BoardHistory,
  segments: SegmentKeys[],
  key: string,
): Promise<{ key: string; bytes: number }> {
  const from = segments.findLastIndex(({ base_key }) => base_key !== null)
  const read = async (key: string) => {
    const bytes = await readFile(files, key)
    if (!bytes) throw new Error(`The file ${key} is missing.`)
    return bytes
  }
  const baseKey = segments[from]?.base_key
  const input = {
    base: baseKey ? await read(baseKey) : null,
    segments: await Promise.all(segments.slice(Math.max(0, from)).map(({ key }) => read(key))),
  }
  const base = await pool.run(mergeTask, input, { account, timeoutMs: mergeMs })
  await putFile(files, key, base)
  return { key, bytes: base.byteLength }
}

/** Deletes the files that no segment refers to: first the files, then their rows. */
export async function removeLeftovers(parts: FileParts, stopping = never): Promise<void> {
  const { database, files, clock, log } = parts
  const before = new Date(clock.now() - writingMs)
  const left: string[] = []
  while (!stopping.aborted) {
    const rows = await database.asSystem(
      (tx) => tx<{ key: string }[]>`
        update history_leftovers set ended = true
        where key in (
          select key from history_leftovers
          where (ended or added_at <= ${before}) and key <> all (${left}::text[])
          limit ${atOnce}
          for update skip locked
        )
        returning key`,
    )
    if (rows.length === 0) return
    const keys = rows.map(({ key }) => key)
    try {
      await files.remove(keys)
      await database.asSystem(
        (tx) => tx`delete from history_leftovers where key = any (${keys}::text[]) and ended`,
      )
    } catch (error) {
      log.warn(
        { err: error, keys: keys.length },
        'files of old history could not be deleted; it will be tried again',
      )
      left.push(...keys)
    }
  }
}
