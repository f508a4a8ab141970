/** Writes the sessions of signed-in users. Times come from the database's clock, which all processes share. */
import { createHash, randomBytes } from 'node:crypto'
import { limits } from '../../core/limits.ts'
import type { Database, Transaction } from '../database.ts'

/** Who is signed in. */
export interface SignedIn {
  sessionId: string
  userId: string
  email: string
  name: string | null
}

export interface NewSession {
  userId: string
  ip: string
  userAgent: string | null
}

/** Makes a secret of 256 random bits for a cookie or a link. */
export const makeSecret = () => randomBytes(32).toString('base64url')

/** Returns the hash under which a secret is stored; null when the text cannot be a secret. */
export function secretHash(secret: string): Buffer | null {
  return /^[\w-]{43}$/.test(secret) ? createHash('sha256').update(secret).digest() : null
}

const { idleDays, days } = limits.signIn.session

/** Most sessions of one account. A new session ends the least recently used one. */
const mostSessions = 100

/** @returns the cookie's value, which cannot be read again, and the session's id */
export async function startSession(
  tx: Transaction,
  { userId, ip, userAgent }: NewSession,
): Promise<{ secret: string; sessionId: string }> {
  await tx`
    delete from sessions
    where id in (select id from sessions where user_id = ${userId} order by last_seen_at desc, id offset ${mostSessions - 1})`
  const secret = makeSecret()
  const [row] = await tx<{ id: string }[]>`
    insert into sessions (user_id, hash, ip, user_agent, expires_at)
    values (${userId}, ${secretHash(secret)}, ${ip}, ${userAgent}, now() + ${idleDays} * interval '1 day')
    returning id`
  return { secret, sessionId: row!.id }
}

/**
 * Returns the user of a session cookie, or null when the session has ended or the account is disabled. Stores its
 * time of use, at most each minute.
 */
export async function findSession(database: Database, secret: string): Promise<SignedIn | null> {
  const hash = secretHash(secret)
  if (!hash) return null
  const [row] = await database.callAsSystem(
    (sql) => sql<SignedIn[]>`
      with found as (
        select s.id, s.user_id, s.created_at, s.last_seen_at, u.email, u.display_name
        from sessions s
        join users u on u.id = s.user_id
        where s.hash = ${hash} and s.expires_at > now() and u.disabled_at is null
      ), used as (
        update sessions s
        set last_seen_at = date_trunc('milliseconds', now()),
          expires_at = least(now() + ${idleDays} * interval '1 day', f.created_at + ${days} * interval '1 day')
        from found f
        where s.id = f.id and f.last_seen_at < now() - interval '1 minute'
      )
      select id as "sessionId", user_id as "userId", email, display_name as name from found`,
  )
  return row ? { ...row } : null
}

/** Ends a session; its sockets are closed within 2 seconds. @returns false when the account has no such session */
export async function endSession(tx: Transaction, userId: string, sessionId: string): Promise<boolean> {
  const ended = await tx`delete from sessions where id = ${sessionId} and user_id = ${userId}`
  return ended.count > 0
}

export async function endSessionOf(tx: Transaction, secret: string): Promise<void> {
  await tx`delete from sessions where hash = ${secretHash(secret)}`
}

/** Ends all sessions of an account. */
export async function endSessions(tx: Transaction, userId: string): Promise<void> {
  await tx`delete from sessions where user_id = ${userId}`
}
