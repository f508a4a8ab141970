/** What lets somebody in: after a restore also what was ended since the backup. Run these functions `asSystem`. */
import type { Transaction } from '../database.ts'

export interface Access {
  kind: 'token' | 'application' | 'link' | 'guest link' | 'invitation'
  id: string
  /** The account. Of a guest link and an invitation: the owner of the workspace. */
  email: string
  /** Of a token or an application. Of a guest link or an invitation: the board or the workspace. */
  name: string | null
  scopes: string[] | null
  expiresAt: Date | null
}

export interface LiveAccess {
  access: Access[]
  /** Number of browsers that are signed in. */
  sessions: number
}

/** Returns what is neither ended nor expired. Tokens of applications count as their application. */
export async function findAccess(tx: Transaction): Promise<LiveAccess> {
  const access = await tx<Access[]>`
    select a.kind, a.id, u.email, a.name, a.scopes, a.ends as "expiresAt"
    from (
      select 'token' as kind, id, user_id, name, scopes, expires_at as ends
      from tokens
      where revoked_at is null and grant_id is null and (expires_at is null or expires_at > now())
      union all
      select 'application', id, user_id, client_name, scopes, ends_at
      from oauth_grants
      where revoked_at is null and ends_at > now()
      union all
      select 'link', user_id, user_id, null, null, expires_at from sign_in_links where expires_at > now()
      union all
      select 'guest link', l.id, w.owner_id, b.name, null, l.expires_at
      from board_links l
      join boards b on b.id = l.board_id
      join workspaces w on w.id = b.workspace_id
      where l.ended_at is null and (l.expires_at is null or l.expires_at > now())
      union all
      select 'invitation', i.id, w.owner_id, w.name, null, i.expires_at
      from invitations i
      join workspaces w on w.id = i.workspace_id and w.owner_id = i.invited_by
      where i.ended_at is null and i.expires_at > now()
    ) a
    join users u on u.id = a.user_id
    order by a.kind, u.email, a.id`
  const [sessions] = await tx<{ count: number }[]>`
    select count(*)::integer as count from sessions where expires_at > now()`
  return { access: [...access], sessions: sessions!.count }
}

/** Ends all of it. Accounts, their passwords and registered clients stay. */
export async function endAccess(tx: Transaction): Promise<void> {
  await tx`select end_oauth_grants(array(select id from oauth_grants where revoked_at is null))`
  await tx`
    update tokens set revoked_at = date_trunc('milliseconds', clock_timestamp())
    where revoked_at is null`
  await tx`delete from sessions`
  await tx`delete from sign_in_links`
  await tx`update board_links set ended_at = date_trunc('milliseconds', clock_timestamp()) where ended_at is null`
  await tx`update invitations set ended_at = date_trunc('milliseconds', clock_timestamp()) where ended_at is null`
}
