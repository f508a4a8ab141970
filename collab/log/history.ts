/** Writes and reads the history of a board: the segments in the file store, and their rows in `board_history`. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { historyCutoff, type DaysByTier } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import { piecesOf } from '../../sql/commit-call.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import type { RowHead } from './archive.ts'
import type { Tail } from './log.ts'

export interface HistoryOptions {
  files: ObjectStore
  clock: Clock
  /** For how many days history is kept. */
  days: DaysByTier
}

/** What a cut adds to a board's history. */
export interface Cut {
  boardId: string
  rows: RowHead[]
  segment: Uint8Array
  base: Uint8Array | null
  /** From when on the board was like the base. */
  baseAt: Date
  /** Keys of files that the rows may name. The files are kept as long as the segment. */
  fileKeys: string[]
  keptUntil: Date
}

/** A segment whose files are written, but which has no row yet. */
export interface WrittenSegment {
  cut: Cut
  key: string
  baseKey: string | null
}

/** How a cut continues the history. */
export interface Continuation {
  /** Whether the document before the cut has to be kept with the segment. */
  keepsBase: boolean
  /** When the segment before ended; null when the history begins with this one. */
  endedAt: Date | null
  /** Rows that are older than this are not kept. */
  cutoff: Date
}

/**
 * A base is kept when the rows since the last one are larger than it. So all bases together are never larger than all
 * rows, and the rows to replay are at most as large as a base. A base is also kept where the history begins, and after a card's past was
 * expunged.
 */
export async function continuationOf(
  database: Database,
  boardId: string,
  before: { snapshotSeq: number; snapshotBytes: number },
  { clock, days }: HistoryOptions,
): Promise<Continuation> {
  const [found] = await database.asSystem(
    (tx) => tx<
      { tier: string; ends: number | null; ended_at: Date | null; expunged: boolean | null; bytes: number }[]
    >`
      select u.tier, (select max(h.to_seq) from board_history h where h.board_id = b.id) as ends,
      (select max(h.to_at) from board_history h where h.board_id = b.id) as ended_at,
      (select h.expunged from board_history h where h.board_id = b.id order by h.from_seq desc limit 1) as expunged, (
        select coalesce(sum(h.row_bytes), 0)::bigint
        from board_history h
        where h.board_id = b.id and h.from_seq >= coalesce(
          (select max(o.from_seq) from board_history o where o.board_id = b.id and o.base_key is not null), 0
        )
      ) as bytes
      from boards b
      join workspaces w on w.id = b.workspace_id
      join users u on u.id = w.owner_id
      where b.id = ${boardId}`,
  )
  const continues = before.snapshotSeq === (found?.ends ?? 0)
  return {
    keepsBase:
      before.snapshotSeq > 0 &&
      (!continues || found?.expunged === true || (found?.bytes ?? 0) > before.snapshotBytes),
    endedAt: continues ? (found?.ended_at ?? null) : null,
    cutoff: historyCutoff(clock.now(), days[found?.tier === 'pro' ? 'pro' : 'free']),
  }
}

/**
 * Writes the files of a segment. Their keys are recorded first. So files whose segment is never recorded are found and
 * deleted (workers/upkeep/history.ts).
 */
export async function writeSegment(
  database: Database,
  files: ObjectStore,
  cut: Cut,
): Promise<WrittenSegment> {
  const [first, last] = [cut.rows[0]!, cut.rows.at(-1)!]
  // The random part keeps two processes that make the same cut from writing one file.
  const name = `history/${cut.boardId}/${first.seq}-${last.seq}-${randomUUID().slice(0, 8)}`
  const written = { cut, key: name, baseKey: cut.base && `${name}-base` }
  const keys = keysOf(written)
  await database.asSystem(
    (tx) => tx`insert into history_leftovers (key) select key from unnest(${keys}::text[]) as k(key)`,
  )
  await putFile(files, written.key, cut.segment)
  if (cut.base) await putFile(files, written.baseKey!, cut.base)
  return written
}

const keysOf = ({ key, baseKey }: WrittenSegment) => (baseKey ? [key, baseKey] : [key])

export const putFile = (files: ObjectStore, key: string, bytes: Uint8Array) =>
  files.put(key, Readable.from(piecesOf([bytes])), {
    bytes: bytes.byteLength,
    contentType: 'application/octet-stream',
  })

/**
 * Records a segment, in the transaction that deletes its rows from the log. The board's document is locked.
 *
 * @throws FilesEnded when the history has changed since `continuationOf` read it, and the segment does not fit any more
 */
export async function recordSegment(tx: Transaction, segment: WrittenSegment): Promise<void> {
  const { cut, key, baseKey } = segment
  const [first, last] = [cut.rows[0]!, cut.rows.at(-1)!]
  if (!baseKey && first.seq > 1) {
    // Without a base it needs the segment before it, as it was: it may have ended, or lost a card's past, meanwhile.
    const before = await tx`
      select from board_history where board_id = ${cut.boardId} and to_seq = ${first.seq - 1} and not expunged`
    if (before.count === 0) throw new FilesEnded()
  }
  await tx`
    insert into board_history (
      board_id, workspace_id, from_seq, to_seq, from_at, to_at, row_bytes, bytes, key, base_bytes, base_key,
      base_at
    )
    select board_id, workspace_id, ${first.seq}, ${last.seq}, ${new Date(first.at)}, ${new Date(last.at)},
      ${cut.rows.reduce((sum, { bytes }) => sum + bytes, 0)}, ${cut.segment.byteLength}, ${key},
      ${cut.base?.byteLength ?? 0}, ${baseKey}, ${cut.base && cut.baseAt}
    from board_documents
    where board_id = ${cut.boardId}`
  await takeLeftovers(tx, keysOf(segment))
  await tx`
    insert into file_references as r (board_id, image_key, until)
    select ${cut.boardId}, k.key, ${cut.keptUntil}
    from unnest(${cut.fileKeys}::text[]) as k(key)
    where exists (select from images i where i.image_key = k.key)
    on conflict (board_id, image_key) do update
    set until = greatest(r.until, excluded.until)
    where r.until is not null`
}

/**
 * The files of a segment can't become part of the history: they were written too long ago, a card's past was expunged
 * meanwhile, or the segment before it has ended. The log is cut again later.
 */
export class FilesEnded extends Error {}

/** Removes files from the leftovers, because a segment refers to them now. @throws FilesEnded */
export async function takeLeftovers(tx: Transaction, keys: string[]): Promise<void> {
  const taken = await tx`delete from history_leftovers where key = any (${keys}::text[]) and not ended`
  if (taken.count !== keys.length) throw new FilesEnded()
}

/** Marks the files of a segment that will not be recorded. They are deleted soon. */
export const dropSegment = (database: Database, segment: WrittenSegment): Promise<void> =>
  dropFiles(database, keysOf(segment))

/**
 * Records the key of a file that is going to be written. What it is made from must be read afterwards: when a card's past
 * is expunged in between, the file must not become part of the history.
 */
export async function claimFile(database: Database, key: string): Promise<void> {
  await database.asSystem((tx) => tx`insert into history_leftovers (key) values (${key})`)
}

/** Marks files that nothing will refer to. Files that have become part of the history are not marked. */
export async function dropFiles(database: Database, keys: string[]): Promise<void> {
  await database.asSystem(
    (tx) => tx`update history_leftovers set ended = true where key = any (${keys}::text[])`,
  )
}

/** Deletes the files of a board's history that nothing refers to any more, and then their rows. */
export async function deleteEnded(database: Database, files: ObjectStore, boardId: string): Promise<void> {
  const ended = await database.asSystem(
    (tx) => tx<{ key: string }[]>`
      select key from history_leftovers where ended and key like ${`history/${boardId}/%`}`,
  )
  const keys = ended.map(({ key }) => key)
  await files.remove(keys)
  await database.asSystem(
    (tx) => tx`delete from history_leftovers where key = any (${keys}::text[]) and ended`,
  )
}

/** A file that is missing has been deleted meanwhile: its segment's retention has ended, or its board was purged. */
export async function readFile(files: ObjectStore, key: string): Promise<Buffer | null> {
  const stream = await files.get(key)
  return stream && buffer(stream)
}

/**
 * The rows between the snapshot and the newest position, without their updates. Null when another process has compacted
 * the log meanwhile.
 */
export async function rowHeads(
  database: Database,
  boardId: string,
  { seq, snapshotSeq }: Tail,
): Promise<RowHead[] | null> {
  const rows = await database.asSystem(
    (tx) => tx<RowHead[]>`
      select seq, (extract(epoch from created_at) * 1000)::bigint as at, octet_length(updates) as bytes, actors,
        causes::text as causes
      from board_updates
      where board_id = ${boardId} and seq > ${snapshotSeq} and seq <= ${seq}
      order by seq`,
    'background',
  )
  return rows.length === seq - snapshotSeq ? [...rows] : null
}
