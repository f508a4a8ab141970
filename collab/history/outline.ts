/** The outline of a board's past: which segments and log rows it consists of, and which moments can be read. */
import { ServiceError } from '../../core/errors.ts'
import { historyCutoff } from '../../core/limits.ts'
import type { HistoryOptions } from '../log/history.ts'
import type { Database } from '../../sql/database.ts'

/** A moment of a board: a position of its log, a time in milliseconds, or the id of a named version. */
export type Moment = Instant | { version: string }
export type Instant = { position: number } | { at: number }

export interface Segment {
  from_seq: number
  to_seq: number
  /** Times of the first and the last row, in milliseconds. */
  from_at: number
  to_at: number
  key: string
  base_key: string | null
  base_at: number | null
}

export interface Outline {
  boardId: string
  /** The account that owns the board's workspace. */
  ownerId: string
  /** The newest position, and that of the snapshot. */
  seq: number
  snapshotSeq: number
  /** Segments that follow each other up to the snapshot. */
  segments: Segment[]
  /** Rows of the log: position and time. */
  rows: [seq: number, at: number][]
  /** The first position that can be read, and the first moment, in milliseconds. */
  firstSeq: number
  firstAt: number
}

interface OutlineRow {
  owner_id: string
  tier: string
  created_at: Date
  seq: number
  snapshot_seq: number
  segments: Segment[] | null
  rows: [number, number][] | null
}

/** @param since the first moment that the reader may see; null: all of the past */
export async function readOutline(
  { database, history }: { database: Database; history: HistoryOptions },
  boardId: string,
  since: Date | null,
): Promise<Outline> {
  const [row] = await database.asSystem(
    (tx) => tx<OutlineRow[]>`
      select w.owner_id, u.tier, b.created_at, d.seq, d.snapshot_seq, (
        select json_agg(json_build_object(
          'from_seq', h.from_seq, 'to_seq', h.to_seq, 'from_at', (extract(epoch from h.from_at) * 1000)::bigint,
          'to_at', (extract(epoch from h.to_at) * 1000)::bigint, 'key', h.key, 'base_key', h.base_key,
          'base_at', (extract(epoch from h.base_at) * 1000)::bigint
        ) order by h.from_seq)
        from board_history h
        where h.board_id = b.id
      ) as segments, (
        select json_agg(json_build_array(l.seq, (extract(epoch from l.created_at) * 1000)::bigint) order by l.seq)
        from board_updates l
        where l.board_id = b.id and l.seq > d.snapshot_seq
      ) as rows
      from boards b
      join board_documents d on d.board_id = b.id
      join workspaces w on w.id = b.workspace_id
      join users u on u.id = w.owner_id
      where b.id = ${boardId}`,
  )
  if (!row) throw new ServiceError('not_found', 'No such board.')
  const { owner_id: ownerId, seq, snapshot_seq: snapshotSeq } = row
  const segments = chainOf(row.segments ?? [], snapshotSeq)
  const rows = row.rows ?? []
  const first = segments[0]
  const firstSeq = first ? first.from_seq - 1 : snapshotSeq
  const now = history.clock.now()
  const begins = firstSeq === 0 ? row.created_at.getTime() : (first?.base_at ?? rows[0]?.[1] ?? now)
  const cutoff = historyCutoff(now, history.days[row.tier === 'pro' ? 'pro' : 'free']).getTime()
  const firstAt = Math.max(begins, cutoff, since?.getTime() ?? 0)
  return { boardId, ownerId, seq, snapshotSeq, segments, rows, firstSeq, firstAt }
}

/** The newest segments that follow each other without a gap. */
function chainOf(segments: Segment[], snapshotSeq: number): Segment[] {
  const chain: Segment[] = []
  let next = snapshotSeq
  for (const segment of segments.toReversed()) {
    if (segment.to_seq !== next) break
    chain.unshift(segment)
    next = segment.from_seq - 1
  }
  // The oldest ones can be read only from a base, or from the beginning.
  const from = chain.findIndex(({ from_seq, base_key }) => from_seq === 1 || base_key !== null)
  return from < 0 ? [] : chain.slice(from)
}

/** @throws ServiceError `not_found` for a moment that is not kept */
export function requireKept({ firstAt, firstSeq, seq }: Outline, moment: Instant): void {
  const isKept = 'at' in moment ? moment.at >= firstAt : moment.position >= firstSeq
  if (!isKept) throw notKept(firstAt)
  if ('position' in moment && moment.position > seq)
    throw new ServiceError(
      'not_found',
      `The board has no position ${moment.position}. The newest one is ${seq}.`,
    )
}

export const notKept = (firstAt: number) =>
  new ServiceError(
    'not_found',
    `This moment of the board is not kept, or you may not see it. The first one is ${new Date(firstAt).toISOString()}.`,
  )
