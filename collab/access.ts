/** Who may open which board, and how; asked when a socket authenticates and again every second. */
import { inTrash, noBoard, notWritable } from '../core/board.ts'
import type { Database } from '../sql/database.ts'
import type { Scope } from '../sql/tokens.ts'

export type BoardAccess = 'write' | 'read' | 'none'

export interface AccessQuestion {
  account: string
  /** Or the session's, which has all scopes. */
  tokenId: string
  boardId: string
}

/** The answers, in the order of the questions. A board in the trash, and a token or session that ended, give none. */
export async function boardAccess(database: Database, questions: AccessQuestion[]): Promise<BoardAccess[]> {
  if (questions.length === 0) return []
  const rows = await database.asSystem(
    (tx) => tx<{ access: 'write' | 'read' | null; scopes: Scope[] | null }[]>`
      select
        case when b.deleted_at is null then board_access(q.account, b.id, b.workspace_id) end as access,
        coalesce(t.scopes, case when s.id is not null then array['read', 'write', 'delete'] end) as scopes
      from unnest(
        ${questions.map((question) => question.account)}::uuid[],
        ${questions.map((question) => question.tokenId)}::uuid[],
        ${questions.map((question) => question.boardId)}::uuid[]
      ) with ordinality as q(account, token_id, board_id, at)
      left join boards b on b.id = q.board_id
      left join tokens t
        on t.id = q.token_id and t.user_id = q.account and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
      left join sessions s on s.id = q.token_id and s.user_id = q.account and s.expires_at > now()
      order by q.at`,
  )
  return rows.map(({ access, scopes }) => {
    if (!access || !scopes) return 'none'
    return access === 'write' && scopes.includes('write') ? 'write' : 'read'
  })
}

/**
 * Before a document is opened for a write: whoever may not write must not make the service load it. The commit decides
 * all the same.
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
  const [board] = await database.asUser(
    account,
    (tx) => tx<{ access: 'write' | 'read'; trashed: boolean; workspace_id: string }[]>`
      select workspace_id, board_access(${account}, id, workspace_id) as access, deleted_at is not null as trashed
      from boards
      where id = ${boardId}`,
  )
  if (!board) throw noBoard(where)
  if (board.access !== 'write') throw notWritable(where)
  if (board.trashed) throw inTrash(where)
  return board.workspace_id
}
