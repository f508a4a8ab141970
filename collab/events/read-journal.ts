/** Reads the journal of events for all followers of a process at once, with those who may see each event. */
import type { Statement } from '../../sql/database.ts'
import { readerKey, type Follower, type Reader } from './follower.ts'
import type { JournalEvent, Position } from './position.ts'

/** Followers, as the access of each is checked. */
type Checked = Pick<Follower, 'reader' | 'wanted' | 'isList'>

/** Followers with the same key have the same access. */
export const accessKey = ({ reader, wanted, isList }: Checked): string =>
  `${readerKey(reader)} ${reader.tokenId} ${isList ? (wanted.workspace ?? 'account') : ''}`

/**
 * Returns the position up to which the next statement may read, and which of the followers have no access any more: their
 * token or session has ended, or their list is not theirs. sql/functions/feed.sql says why these are two statements.
 */
export async function readHorizon(
  sql: Statement,
  followers: Checked[],
): Promise<{ horizon: Position; ended: Set<string> }> {
  const asked = [...new Map(followers.map((follower) => [accessKey(follower), follower])).values()]
  const [row] = await sql<{ at: Date; ended: number[] }[]>`
    select feed_horizon() as at, array(
      select q.nth::integer - 1
      from unnest(
        ${asked.map(({ reader }) => reader.account)}::uuid[],
        ${asked.map(({ reader }) => reader.tokenId)}::uuid[],
        ${asked.map(({ reader: { session } }) => (session ? JSON.stringify(session) : null))}::text[]::jsonb[],
        ${asked.map(({ isList }) => String(isList))}::text[]::boolean[],
        ${asked.map(({ wanted, isList }) => (isList ? (wanted.workspace ?? null) : null))}::uuid[]
      ) with ordinality as q(account, token_id, session, is_list, workspace, nth)
      where (case
        when q.session is not null then session_is_live(q.session)
          and (q.workspace is null or (q.session ->> 'boards' is null and session_reaches(q.session, q.workspace, false)))
        else exists (
          select
          from users u
          left join service_accounts s on s.id = u.id
          left join workspaces w on w.id = s.workspace_id
          left join users payer on payer.id = w.owner_id
          where u.id = q.account and u.disabled_at is null and payer.disabled_at is null and (
            exists (
              select from tokens t
              where t.id = q.token_id and t.user_id = u.id and t.revoked_at is null
                and (t.expires_at is null or t.expires_at > now())
            )
            or exists (select from sessions c where c.id = q.token_id and c.user_id = u.id and c.expires_at > now())
          )
        )
        and not (q.is_list and exists (select from guests g where g.id = q.account))
        and (q.workspace is null or q.account in (select board_readers(null, q.workspace)))
      end) is not true
    ) as ended`
  const ended = new Set(row!.ended.map((nth) => accessKey(asked[nth]!)))
  return { horizon: { at: row!.at, place: 0 }, ended }
}

/** The accounts and minted sessions among readers, each once. */
export interface Audience {
  accounts: string[]
  sessions: Reader[]
}

export function audienceOf(readers: Reader[]): Audience {
  const each = [...new Map(readers.map((reader) => [readerKey(reader), reader])).values()]
  return {
    accounts: each.filter(({ session }) => !session).map(({ account }) => account),
    sessions: each.filter(({ session }) => session),
  }
}

/** The minted sessions that may read in their workspace at this moment: their places, from 0. */
const reached = (sql: Statement, { sessions }: Audience) => sql`
  select c.nth::integer - 1 as nth, (c.claims ->> 'workspace')::uuid as workspace_id, c.claims
  from unnest(${sessions.map(({ session }) => JSON.stringify(session))}::text[]::jsonb[]) with ordinality as c(claims, nth)
  where session_reaches(c.claims, (c.claims ->> 'workspace')::uuid, false)`

/** Returns the next events in the range (`after`, `until`], at most `limit`, for these readers. */
export const readJournal = (
  sql: Statement,
  { after, until, audience, limit }: { after: Position; until: Position; audience: Audience; limit: number },
): Promise<JournalEvent[]> => sql<JournalEvent[]>`
  with fresh as materialized (
    select at, place, workspace_id, board_id, coalesce(board_id, workspace_id) as audience, account_id, type, payload
    from event_journal
    where (at, place) > (${after.at}, ${after.place}) and (at, place) <= (${until.at}, ${until.place})
    order by at, place
    limit ${limit}
  ), reached as materialized (${reached(sql, audience)}
  ), in_workspace as materialized (
    select w.workspace_id,
      array(
        select r from board_readers(null, w.workspace_id) r where r = any (${audience.accounts}::uuid[])
      ) as members
    from (select distinct workspace_id from fresh) w
  ), audiences as (
    select p.audience, w.members,
      case
        when exists (select from board_shares s where s.board_id = p.board_id) then array(
          select r from board_readers(p.board_id, p.workspace_id) r where r = any (${audience.accounts}::uuid[])
        )
        else w.members
      end as readers,
      array(
        select s.nth from reached s
        where s.workspace_id = p.workspace_id
          and (s.claims ->> 'boards' is null or s.claims -> 'boards' ? p.board_id::text)
      ) as sessions
    from (select distinct audience, workspace_id, board_id from fresh) p
    join in_workspace w using (workspace_id)
  ), told as (
    select f.*, a.members,
      -- An account is told of its own access what is still true.
      case
        when f.account_id is null then a.readers
        when (f.type = 'access.granted') = (f.account_id = any (a.readers))
          then array(select f.account_id where f.account_id = any (${audience.accounts}::uuid[]))
        else '{}'
      end as readers,
      case when f.account_id is null then a.sessions else '{}' end as sessions
    from fresh f
    join audiences a using (audience)
  )
  select at, place, workspace_id, board_id, type, readers, members, sessions,
    case when cardinality(readers) + cardinality(sessions) > 0 then payload end as payload
  from told
  order by at, place`

/** Who may read in a workspace, or, by shares, on a board: accounts, and for a workspace the places of sessions. */
export interface PlaceAudience {
  id: string
  accounts: string[]
  sessions: number[]
}

/** Returns who of the readers may read in these workspaces, and on these boards by a share. Sessions may name boards. */
export const readAudiences = (
  sql: Statement,
  { workspaces, boards }: { workspaces: string[]; boards: string[] },
  audience: Audience,
): Promise<PlaceAudience[]> => sql<PlaceAudience[]>`
  with reached as materialized (${reached(sql, audience)})
  select w.id, array(select r from board_readers(null, w.id) r where r = any (${audience.accounts}::uuid[])) as accounts,
    array(select s.nth from reached s where s.workspace_id = w.id) as sessions
  from unnest(${workspaces}::uuid[]) as w(id)
  union all
  select b.id, array(select r from board_readers(b.id, null) r where r = any (${audience.accounts}::uuid[])), '{}'
  from unnest(${boards}::uuid[]) as b(id)
  where exists (select from board_shares s where s.board_id = b.id)`
