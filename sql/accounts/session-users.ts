/** Writes and reads the users of minted sessions. functions/sessions.sql decides who may mint and end sessions. */
import type { SessionClaims, SessionUser } from '../acting-session.ts'
import { endsTokens, type Database, type Transaction } from '../database.ts'
import { scopes, type Principal } from './tokens.ts'

/** @returns null when the session has ended */
export async function findSessionPrincipal(
  database: Database,
  claims: SessionClaims,
): Promise<Principal | null> {
  type Row = Omit<Principal, 'session' | 'guest'> & SessionUser
  const [row] = await database.callAsSystem(
    (sql) => sql<Row[]>`
      select u.id as "userId", t.id as "tokenId", u.email, u.display_name as "displayName", o.tier, t.scopes,
        s.external_id as "externalId", s.color, s.avatar_url as "avatarUrl", a.id as "mintedBy", o.id as "ownerId"
      from session_users s
      join users u on u.id = s.id
      join workspaces w on w.id = s.workspace_id
      join users o on o.id = w.owner_id
      join tokens t on t.id = ${claims.token}
      left join service_accounts a on a.id = t.user_id
      where s.id = ${claims.account} and session_is_live(${JSON.stringify(claims)}::text::jsonb)`,
  )
  if (!row) return null
  const { externalId, color, avatarUrl, mintedBy, ownerId, ...principal } = row
  return {
    ...principal,
    ...{ serviceAccountId: null, grantId: null, clientId: null, rateLimit: null },
    scopes: scopes.filter(
      (scope) => scope === 'read' || [claims, row].every((one) => one.scopes.includes(scope)),
    ),
    session: { externalId, color, avatarUrl, mintedBy, ownerId, claims },
    guest: null,
  }
}

/** The workspace in which the caller may mint and end sessions. Run it `asUser`. @param given default: that of a service account */
export async function mintingWorkspace(tx: Transaction, given: string | null): Promise<string | null> {
  const [row] = await tx<{ id: string | null }[]>`select minting_workspace(${given}) as id`
  return row!.id
}

export interface NewSession extends Omit<SessionClaims, 'account' | 'issued' | 'expires'> {
  user: { id: string; name: string; color: string | null; avatarUrl: string | null }
  ttlSeconds: number
  /** How many users of an owner may have a live session. */
  live: { free: number; pro: number }
}

/** Run it `asUser`, as the minter. @returns the claims; or the number of live users, when the owner has no room for more */
export async function mintSession(
  tx: Transaction,
  { user, ttlSeconds, live, ...claims }: NewSession,
): Promise<{ claims: SessionClaims } | { live: number } | null> {
  const [row] = await tx<
    { fault: string | null; live: number; account: string; issued: string; expires: string }[]
  >`
    select fault, live, account, issued, expires
    from mint_session(
      ${claims.workspace}, ${user.id}, ${user.name}, ${user.color}, ${user.avatarUrl}, ${ttlSeconds}, ${claims.token},
      ${claims.history ? (claims.boards ?? [claims.workspace]) : []}::uuid[], ${live.free}, ${live.pro}
    )`
  const { fault, account, issued, expires } = row!
  if (fault === 'full') return { live: row!.live }
  return fault ? null : { claims: { ...claims, account, issued, expires } }
}

/** Ends what was issued before now. Run it `asUser`. @returns false when the caller may not */
export async function endSessions(
  tx: Transaction,
  { workspace, userId, boardId }: { workspace: string; userId: string | null; boardId: string | null },
): Promise<boolean> {
  endsTokens(tx)
  const [row] = await tx<
    { done: boolean }[]
  >`select end_sessions(${workspace}, ${userId}, ${boardId}) as done`
  return row!.done
}

/** Names of accounts, and for users of sessions the product's own id. Run it `asSystem`. */
export async function namesOf(tx: Transaction, accounts: string[]): Promise<Map<string, Names>> {
  const rows = await tx<(Names & { id: string })[]>`
    select u.id, u.display_name as name, s.external_id as "externalId", g.id is not null as "isGuest"
    from users u
    left join session_users s on s.id = u.id
    left join guests g on g.id = u.id
    where u.id = any (${accounts}::uuid[])`
  return new Map(rows.map(({ id, ...names }) => [id, names]))
}

export interface Names {
  name: string | null
  /** For a user of sessions: the product's own id of the user. */
  externalId: string | null
  /** It came by a guest link. */
  isGuest: boolean
}

/** The account of a user of sessions. Run it `asSystem`. */
export async function findSessionUser(
  tx: Transaction,
  workspaceId: string,
  externalId: string,
): Promise<string | null> {
  const [row] = await tx<{ id: string }[]>`
    select id from session_users where workspace_id = ${workspaceId} and external_id = ${externalId}`
  return row?.id ?? null
}
