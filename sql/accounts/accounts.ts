/** Writes accounts, workspaces, memberships and shares, for the command line. Run it `asSystem`. */
import { endsTokens, type Transaction } from '../database.ts'

export class AccountError extends Error {}

export type MemberRole = 'owner' | 'editor' | 'viewer' | 'none'
export type ShareRole = 'editor' | 'viewer' | 'none'

/** Makes an account with its personal workspace. @throws AccountError when another account has the address */
export async function addUser(
  tx: Transaction,
  user: { email: string; name: string; tier: 'free' | 'pro' },
): Promise<{ userId: string; workspaceId: string }> {
  const [row] = await tx<{ id: string }[]>`
    insert into users (email, display_name, tier) values (${user.email}, ${user.name}, ${user.tier})
    on conflict (lower(email)) do nothing
    returning id`
  if (!row) throw new AccountError(`There is already an account with the e-mail ${user.email}.`)
  const [workspace] = await tx<{ id: string }[]>`
    insert into workspaces (name, owner_id, personal) values (${user.name}, ${row.id}, true) returning id`
  return { userId: row.id, workspaceId: workspace!.id }
}

/** @throws AccountError when no account has this address */
export async function findUser(tx: Transaction, email: string): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    select id from users u
    where lower(email) = lower(${email})
      and not exists (select from service_accounts s where s.id = u.id)
      and not exists (select from session_users s where s.id = u.id)`
  if (!row) throw new AccountError(`There is no account with the e-mail ${email}.`)
  return row.id
}

export async function setTier(tx: Transaction, userId: string, tier: 'free' | 'pro'): Promise<void> {
  await tx`update users set tier = ${tier} where id = ${userId}`
}

/**
 * Disables an account or enables it again. While it is disabled, its tokens and sessions are refused, and those of the
 * service accounts of its workspaces.
 */
export async function setDisabled(tx: Transaction, userId: string, isDisabled: boolean): Promise<void> {
  endsTokens(tx)
  await tx`
    update users set disabled_at = case when ${isDisabled} then coalesce(disabled_at, date_trunc('milliseconds', now())) end
    where id = ${userId}`
}

export async function addWorkspace(
  tx: Transaction,
  workspace: { name: string; ownerId: string },
): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    insert into workspaces (name, owner_id) values (${workspace.name}, ${workspace.ownerId}) returning id`
  return row!.id
}

/** Sets an account's role in a workspace. With the role `owner` the previous owner becomes an editor. */
export async function setMember(
  tx: Transaction,
  member: { workspaceId: string; userId: string; role: MemberRole },
): Promise<void> {
  const { workspaceId, userId, role } = member
  const [workspace] = await tx<{ owner_id: string }[]>`
    select owner_id from workspaces where id = ${workspaceId} for update`
  if (!workspace) throw new AccountError(`There is no workspace ${workspaceId}.`)
  if (workspace.owner_id === userId) {
    if (role === 'owner') return
    throw new AccountError('This account owns the workspace. Make another account the owner first.')
  }
  await tx`delete from workspace_members where workspace_id = ${workspaceId} and user_id = ${userId}`
  if (role === 'none') return
  if (role === 'owner') {
    // A personal workspace becomes an ordinary one. Its former owner gets another when a board is made without a workspace.
    await tx`update workspaces set owner_id = ${userId}, personal = false where id = ${workspaceId}`
    await tx`
      insert into workspace_members (workspace_id, user_id, role) values (${workspaceId}, ${workspace.owner_id}, 'editor')`
    return
  }
  await tx`insert into workspace_members (workspace_id, user_id, role) values (${workspaceId}, ${userId}, ${role})`
}

/** @param share `history`: the account sees the board's history from now on; without it, none */
export async function shareBoard(
  tx: Transaction,
  share: { boardId: string; userId: string; role: ShareRole; history?: boolean | undefined },
): Promise<void> {
  const { boardId, userId, role, history = false } = share
  const [board] = await tx`select from boards where id = ${boardId} for update`
  if (!board) throw new AccountError(`There is no board ${boardId}.`)
  const [before] = await tx<{ since: Date | null }[]>`
    delete from board_shares where board_id = ${boardId} and user_id = ${userId} returning history_since as since`
  if (role === 'none') return
  // A guest who sees the history already goes on seeing it from the same moment.
  await tx`
    insert into board_shares (board_id, user_id, role, history_since)
    values (
      ${boardId}, ${userId}, ${role},
      case when ${history} then coalesce(${before?.since ?? null}::timestamptz, date_trunc('milliseconds', clock_timestamp())) end
    )`
}
