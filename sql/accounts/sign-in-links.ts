/**
 * Writes one-time links with which a user sets a password. An account has one link: a new link replaces the old one.
 */
import type { Transaction } from '../database.ts'
import { makeSecret, secretHash } from './sessions.ts'

export interface LinkOwner {
  userId: string
  email: string
  name: string | null
}

/** @returns the link's code, which cannot be read again, and the time at which it expires */
export async function makeLink(
  tx: Transaction,
  { userId, hours }: { userId: string; hours: number },
): Promise<{ code: string; expiresAt: Date }> {
  const code = makeSecret()
  const [row] = await tx<{ expires_at: Date }[]>`
    insert into sign_in_links (user_id, hash, expires_at)
    values (${userId}, ${secretHash(code)}, date_trunc('milliseconds', now() + ${hours} * interval '1 hour'))
    on conflict (user_id) do update set hash = excluded.hash, expires_at = excluded.expires_at
    returning expires_at`
  return { code, expiresAt: row!.expires_at }
}

/** Returns the account of a link; null when the link was used or replaced or has expired, or the account is disabled. */
export async function findLink(tx: Transaction, code: string): Promise<LinkOwner | null> {
  const hash = secretHash(code)
  if (!hash) return null
  const [row] = await tx<LinkOwner[]>`
    select l.user_id as "userId", u.email, u.display_name as name
    from sign_in_links l
    join users u on u.id = l.user_id
    where l.hash = ${hash} and l.expires_at > now() and u.disabled_at is null`
  return row ?? null
}

/** Uses a link and returns its account. If several requests use one link at once, only one gets the account. */
export async function takeLink(tx: Transaction, code: string): Promise<string | null> {
  const [row] = await tx<{ userId: string }[]>`
    delete from sign_in_links
    where hash = ${secretHash(code)} and expires_at > now()
    returning user_id as "userId"`
  return row?.userId ?? null
}

export async function dropLink(tx: Transaction, userId: string): Promise<void> {
  await tx`delete from sign_in_links where user_id = ${userId}`
}
