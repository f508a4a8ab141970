/**
 * Reclaims files 30 days after the last reference to them went, or 30 days after an upload that nothing referred to.
 *
 *   read    which files each board names that has changed since it was read last
 *   mark    since when nothing names a file
 *   condemn what nothing has named for 30 days: for everybody else it is gone now, so that no card can come to name it
 *   remove  what was condemned before this round began to read, and nothing names still: first the bytes, then the row. The
 *           bytes stay for as long as another workspace's row does
 *
 * A process that ends anywhere in between leaves what the next round goes on from.
 */
import { fileReferences } from '../../collab/boards/file-references.ts'
import { ServiceError } from '../../core/errors.ts'
import { storedKeysOf } from '../../core/file.ts'
import { limits, type DaysByTier } from '../../core/limits.ts'
import type { WorkerPool } from '../../platform/work/worker-pool.ts'
import type { FileParts } from './end-uploads.ts'
import { errorCode } from '../../sql/database.ts'
import { never, startLoop, type Loop } from '../loop.ts'

const hourMs = 60 * 60 * 1000
/** Longer than a request that was let through before a file was condemned can take to be committed. */
const settleMs = 10 * 60 * 1000
const boardsAtOnce = 100
const filesAtOnce = 100

export interface ReclaimParts extends FileParts {
  pool: WorkerPool
  /** For how many days history is kept. It keeps the files that it names. */
  historyDays: DaysByTier
}

export const startReclaiming = (parts: ReclaimParts): Loop =>
  startLoop('reclaim files', hourMs, parts.log, (stopping) => reclaimFiles(parts, stopping))

export async function reclaimFiles(parts: ReclaimParts, stopping = never): Promise<void> {
  const { database, clock } = parts
  const begun = new Date(clock.now())
  const [any] = await database.asSystem((tx) => tx`select from images limit 1`)
  if (!any) return
  const unread = await readBoards(parts, stopping)
  if (!unread) return
  await mark(parts, begun, unread)
  await condemn(parts, begun)
  await removeCondemned(parts, new Date(begun.getTime() - settleMs), stopping)
}

/** @returns the boards that can't be read; null when it was stopped */
async function readBoards(parts: ReclaimParts, stopping = never): Promise<string[] | null> {
  const { database, log } = parts
  const unread: string[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; !stopping.aborted;) {
    const boards = await database.asSystem(
      (tx) => tx<{ board_id: string }[]>`
        select d.board_id
        from board_documents d
        left join file_scans s on s.board_id = d.board_id
        where d.board_id > ${after} and s.position is distinct from d.seq
        order by d.board_id
        limit ${boardsAtOnce}`,
      'background',
    )
    if (boards.length === 0) return unread
    for (const { board_id } of boards) {
      if (stopping.aborted) return null
      after = board_id
      try {
        await readBoard(parts, board_id)
      } catch (error) {
        if (isAway(error)) throw error
        log.warn(
          { err: error, boardId: board_id },
          'a board cannot be read: the files of its workspace are kept until it can',
        )
        unread.push(board_id)
      }
    }
  }
  return null
}

/** The database, for all boards. A statement that took too long is the board's own. */
const isAway = (error: unknown) =>
  error instanceof ServiceError && error.code === 'storage_unavailable' && errorCode(error.cause) !== '57014'

/** A file that was named until now is named by the board's history as long as that is kept. */
async function readBoard(
  { database, pool, clock, historyDays }: ReclaimParts,
  boardId: string,
): Promise<void> {
  const found = await fileReferences(database, pool, boardId)
  if (!found) return
  const keys = found.references.map(({ image_key }) => image_key)
  const untils = found.references.map(({ until }) => until?.toISOString() ?? null)
  await database.asSystem(async (tx) => {
    const [board] = await tx`select from board_documents where board_id = ${boardId} for key share`
    if (!board) return
    const [newer] =
      await tx`select from file_scans where board_id = ${boardId} and position > ${found.position}`
    if (newer) return
    const [owner] = await tx<{ tier: string }[]>`
      select u.tier from boards b join workspaces w on w.id = b.workspace_id join users u on u.id = w.owner_id
      where b.id = ${boardId}`
    const days = historyDays[owner?.tier === 'pro' ? 'pro' : 'free']
    const kept = new Date(clock.now() + days * 24 * hourMs)
    await tx`
      update file_references set until = ${kept}
      where board_id = ${boardId} and image_key <> all (${keys}::text[]) and until is null`
    await tx`
      insert into file_references as r (board_id, image_key, until)
      select ${boardId}, r.image_key, r.until::timestamptz
      from unnest(${keys}::text[], ${untils}::text[]) as r(image_key, until)
      where exists (select from images i where i.image_key = r.image_key)
      on conflict (board_id, image_key) do update
      set until = case when excluded.until is not null then greatest(coalesce(r.until, ${kept}), excluded.until) end`
    await tx`
      insert into file_scans (board_id, position) values (${boardId}, ${found.position})
      on conflict (board_id) do update set position = excluded.position`
  }, 'background')
}

/**
 * Each workspace's row by the boards of that workspace. A board that names a file which its workspace has no row of keeps
 * it wherever it is. Of an unread board nobody knows what it names by now: its workspace keeps what it has.
 */
async function mark({ database }: FileParts, now: Date, unread: string[]): Promise<void> {
  await database.asSystem(async (tx) => {
    const named = tx`(exists (
      select from (
        select board_id, image_key from file_references union all select board_id, image_key from version_files
      ) r
      join board_documents d on d.board_id = r.board_id
      where r.image_key = i.image_key and (
        d.workspace_id = i.workspace_id
        or not exists (select from images o where o.image_key = r.image_key and o.workspace_id = d.workspace_id)
      )
    ) or exists (
      select from board_documents u where u.workspace_id = i.workspace_id and u.board_id = any (${unread}::uuid[])
    ))`
    await tx`delete from file_references where until <= ${now}`
    await tx`
      update images i set unreferenced_since = null, condemned_at = null
      where i.unreferenced_since is not null and ${named}`
    await tx`
      update images i set unreferenced_since = ${now}
      where i.unreferenced_since is null and not ${named}`
  }, 'background')
}

async function condemn({ database }: FileParts, now: Date): Promise<void> {
  const cutoff = new Date(now.getTime() - limits.files.reclaimDays * 24 * hourMs)
  await database.asSystem(
    (tx) => tx`
      update images set condemned_at = ${now}
      where unreferenced_since <= ${cutoff} and created_at <= ${cutoff} and condemned_at is null`,
    'background',
  )
}

async function removeCondemned(
  { database, files, log }: FileParts,
  before: Date,
  stopping = never,
): Promise<void> {
  const left: string[] = []
  while (!stopping.aborted) {
    const condemned = await database.asSystem(
      (tx) => tx<{ image_key: string }[]>`
        select distinct image_key from images
        where condemned_at <= ${before} and unreferenced_since is not null and image_key <> all (${left}::text[])
        limit ${filesAtOnce}`,
    )
    if (condemned.length === 0) return
    for (const { image_key } of condemned) {
      try {
        // Another workspace may have the file, or have lost it too late for this round.
        const [kept] = await database.asSystem(
          (tx) => tx`
            select from images
            where image_key = ${image_key} and (condemned_at is null or condemned_at > ${before})`,
        )
        if (!kept) await files.remove(storedKeysOf(image_key))
        await database.asSystem(
          (tx) => tx`delete from images where image_key = ${image_key} and condemned_at <= ${before}`,
        )
      } catch (error) {
        log.warn({ err: error, key: image_key }, 'a file could not be reclaimed; it will be tried again')
        left.push(image_key)
      }
    }
  }
}
