/**
 * Checks which boards an account may open, and whether it may write. Called when a socket authenticates, and again
 * every second.
 */
import { inTrash, noBoard, notWritable } from '../core/board.ts'
import type { BytesByTier } from '../core/limits.ts'
import type { SessionClaims } from '../sql/acting-session.ts'
import {
  runAsSystem,
  type Database,
  type Statement,
  type StatementPool,
  type Transaction,
} from '../sql/database.ts'
import { withoutOperation } from '../sql/operation.ts'
import type { Scope } from '../sql/accounts/tokens.ts'

/** `full`: a guest with write access who has added as much as guests may. */
export interface BoardAccess {
  may: 'write' | 'full' | 'read' | 'none'
  isGuest: boolean
  /** For a guest who came by a link: the id of the link. */
  linkId: string | null
  /** The owner of the link's board, whose limits apply. */
  linkOwner: string | null
  /** Display name of the account. Null when it has none. */
  name: string | null
  /** The user of a session, as others see them. Null for other accounts. */
  sessionUser: ShownSessionUser | null
}

export interface ShownSessionUser {
  /** The product's own id of the user. */
  id: string
  name: string | null
  color: string | null
  avatar_url: string | null
  /** The service account that minted the latest session. Null when a person did. */
  service_account_id: string | null
}

export interface AccessQuestion {
  account: string
  /** The id of a token, or of a session, which has all scopes. */
  tokenId: string
  boardId: string
  /** The session in which the account acts. Its `tokenId` is that of the minter. Undefined: none. */
  session: SessionClaims | undefined
}

/** Equal questions have the same key. Two sessions of one user that were issued at different times are different. */
export const questionKey = ({ account, tokenId, boardId, session }: AccessQuestion): string =>
  `${account} ${tokenId} ${boardId} ${session?.issued ?? ''}`

/**
 * Returns the access for each question, in order. It is `none` for a board in the trash, for a token or session that
 * has ended, and for a disabled account or a service account of its workspaces.
 *
 * @param pool `follow` for open sockets: requests never use these connections
 */
export async function boardAccess(
  database: Database,
  documentBytes: BytesByTier,
  questions: AccessQuestion[],
  pool: StatementPool = 'request',
): Promise<BoardAccess[]> {
  if (questions.length === 0) return []
  const ask = (sql: Statement) => sql<
    {
      access: 'write' | 'read' | null
      scopes: Scope[] | null
      guest: boolean
      link_id: string | null
      link_owner: string | null
      full: boolean | null
      name: string | null
      user: ShownSessionUser | null
    }[]
  >`
    select
      u.display_name as name, x.link_id,
      case when x.id is not null then (select w.owner_id from workspaces w where w.id = b.workspace_id) end as link_owner,
      case when s.id is not null then json_build_object(
        'id', s.external_id, 'name', u.display_name, 'color', s.color, 'avatar_url', s.avatar_url,
        'service_account_id', (select a.id from service_accounts a where a.id = s.minted_by)
      ) end as "user",
      not exists (
        select from workspaces w
        where w.id = b.workspace_id
          and (w.owner_id = q.account or exists (
            select from workspace_members m where m.workspace_id = w.id and m.user_id = q.account
          ))
      ) as guest,
      case when exists (select from guest_bytes g where g.user_id = q.account) or x.id is not null
        then guest_is_full(q.account, b.workspace_id, 1, ${documentBytes.free}, ${documentBytes.pro})
      end as "full",
      case
        when b.deleted_at is not null then null
        when q.session is not null then session_access(q.session, b.id, b.workspace_id)
        else board_access(q.account, b.id, b.workspace_id)
      end as access,
      case
        when q.session is null and u.disabled_at is null and o.disabled_at is null
          then coalesce(t.scopes, case when c.id is not null then array['read', 'write', 'delete'] end)
        when session_is_live(q.session)
          then array(select jsonb_array_elements_text(q.session -> 'scopes') intersect select unnest(t.scopes))
      end as scopes
    from unnest(
      ${questions.map((question) => question.account)}::uuid[],
      ${questions.map((question) => question.tokenId)}::uuid[],
      ${questions.map((question) => question.boardId)}::uuid[],
      ${questions.map(({ session }) => (session ? JSON.stringify(session) : null))}::text[]::jsonb[]
    ) with ordinality as q(account, token_id, board_id, session, at)
    left join boards b on b.id = q.board_id
    left join users u on u.id = q.account
    left join guests x on x.id = q.account
    left join service_accounts a on a.id = q.account
    left join workspaces aw on aw.id = a.workspace_id
    left join users o on o.id = aw.owner_id
    left join tokens t
      on t.id = q.token_id and t.user_id = coalesce((q.session ->> 'minter')::uuid, q.account) and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    left join sessions c on c.id = q.token_id and c.user_id = q.account and c.expires_at > now()
    left join session_users s on s.id = q.account
    order by q.at`
  const rows = await runAsSystem(database, pool, ask)
  return rows.map(({ access, scopes, guest, link_id, link_owner, full, name, user }) => ({
    may: mayDo(access, scopes, full),
    isGuest: guest,
    linkId: link_id,
    linkOwner: link_owner,
    name,
    sessionUser: user,
  }))
}

function mayDo(
  access: 'write' | 'read' | null,
  scopes: Scope[] | null,
  isFull: boolean | null,
): BoardAccess['may'] {
  if (!access || !scopes) return 'none'
  if (access === 'read' || !scopes.includes('write')) return 'read'
  return isFull ? 'full' : 'write'
}

/**
 * Checks write access before a document is loaded for a write, so that nobody else can make the service load it. The
 * commit checks again.
 *
 * @param where the field that names the board, for messages
 * @returns the board's workspace
 * @throws ServiceError `not_found`, `forbidden` or `conflict`
 */
export async function requireWritable(
  database: Database,
  account: string,
  boardId: string,
  where = '',
): Promise<string> {
  const read = (tx: Transaction) => tx<
    { access: 'write' | 'read'; trashed: boolean; workspace_id: string }[]
  >`
    select workspace_id, board_access(${account}, id, workspace_id) as access, deleted_at is not null as trashed
    from boards
    where id = ${boardId}`
  const [board] = await withoutOperation(() => database.asUser(account, read))
  if (!board) throw noBoard(where)
  if (board.access !== 'write') throw notWritable(where)
  if (board.trashed) throw inTrash(where)
  return board.workspace_id
}
