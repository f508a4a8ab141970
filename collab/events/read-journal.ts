/** Reads the journal of events for all streams of a process at once, with the accounts that may see each event. */
import { limits } from '../../core/limits.ts'
import type { Statement } from '../../sql/database.ts'

/** The last row of the journal that was read. A `place` of 0: the position before all rows of that time. */
export interface Position {
  at: Date
  place: number
}

export interface JournalEvent extends Position {
  workspace_id: string
  board_id: string | null
  type: string
  /** Null when none of the accounts may see the event. */
  payload: string | null
  /** Of the accounts, those that may see the event. */
  readers: string[]
  /** Of the accounts, the members of the workspace. */
  members: string[]
}

/** `1772447400123-48211` */
export const eventId = ({ at, place }: Position) => `${at.getTime()}-${place}`

/** @returns null for a text that is no id of an event */
export function positionOf(id: string): Position | null {
  const [, ms, place] = /^(\d{13,15})-(\d{1,15})$/.exec(id) ?? []
  return ms === undefined ? null : { at: new Date(Number(ms)), place: Number(place) }
}

export const isAfter = (one: Position, other: Position): boolean =>
  one.at.getTime() === other.at.getTime() ? one.place > other.place : one.at > other.at

/**
 * Returns the position up to which the next statement may read, and the tokens that have ended.
 * sql/functions/feed.sql says why these are two statements.
 */
export async function readHorizon(
  sql: Statement,
  tokenIds: string[],
): Promise<{ horizon: Position; ended: string[] }> {
  const [row] = await sql<{ at: Date; ended: string[] }[]>`
    select feed_horizon() as at, array(
      select q.id
      from unnest(${tokenIds}::uuid[]) as q(id)
      where not exists (
        select
        from tokens t
        join users u on u.id = t.user_id
        left join service_accounts s on s.id = t.user_id
        left join workspaces w on w.id = s.workspace_id
        left join users payer on payer.id = w.owner_id
        where t.id = q.id and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
          and u.disabled_at is null and payer.disabled_at is null
      )
    ) as ended`
  return { horizon: { at: row!.at, place: 0 }, ended: row!.ended }
}

/** Whether the journal has every event after this position: it is not too old, and not of another database's future. */
export async function isKept(sql: Statement, { at }: Position): Promise<boolean> {
  const [row] = await sql<{ kept: boolean }[]>`
    select ${at}::timestamptz between now() - ${limits.eventStreams.days} * interval '1 day'
      and now() + interval '1 minute' as kept`
  return row!.kept
}

/** Returns the next events in the range (`after`, `until`], at most `limit`, for these accounts. */
export const readJournal = (
  sql: Statement,
  { after, until, accounts, limit }: { after: Position; until: Position; accounts: string[]; limit: number },
): Promise<JournalEvent[]> => sql<JournalEvent[]>`
  with fresh as materialized (
    select at, place, workspace_id, board_id, coalesce(board_id, workspace_id) as audience, type, payload
    from event_journal
    where (at, place) > (${after.at}, ${after.place}) and (at, place) <= (${until.at}, ${until.place})
    order by at, place
    limit ${limit}
  ), audiences as (
    select a.audience,
      array(
        select r from board_readers(a.board_id, a.workspace_id) r where r = any (${accounts}::uuid[])
      ) as readers,
      array(select r from board_readers(null, a.workspace_id) r where r = any (${accounts}::uuid[])) as members
    from (select distinct audience, workspace_id, board_id from fresh) a
  )
  select f.at, f.place, f.workspace_id, f.board_id, f.type,
    case when cardinality(a.readers) > 0 then f.payload end as payload, a.readers, a.members
  from fresh f
  join audiences a using (audience)
  order by f.at, f.place`
