/** Writes the hashes of passwords, in the PHC string format. */
import type { Transaction } from '../database.ts'
import { endSessions } from './sessions.ts'
import { dropLink } from './sign-in-links.ts'

export interface PasswordRow {
  userId: string
  name: string | null
  /** Null when the account has no password. */
  phc: string | null
}

/** @param of the account's e-mail or id. @returns null when the account does not exist, is disabled, or is a service account */
export async function findPassword(
  tx: Transaction,
  of: { email: string } | { userId: string },
): Promise<PasswordRow | null> {
  const [row] = await tx<PasswordRow[]>`
    select u.id as "userId", u.display_name as name, p.phc
    from users u
    left join passwords p on p.user_id = u.id
    where ${'email' in of ? tx`lower(u.email) = lower(${of.email})` : tx`u.id = ${of.userId}`}
      and u.disabled_at is null and not exists (select from service_accounts s where s.id = u.id)`
  return row ?? null
}

/** Returns whether this is still the account's password, and locks the row until the transaction ends. */
export async function holdPassword(tx: Transaction, userId: string, phc: string): Promise<boolean> {
  const rows = await tx`select from passwords where user_id = ${userId} and phc = ${phc} for update`
  return rows.length > 0
}

/** Sets the password, ends all sessions of the account and removes its sign-in link. */
export async function setPassword(tx: Transaction, userId: string, phc: string): Promise<void> {
  await tx`
    insert into passwords (user_id, phc) values (${userId}, ${phc})
    on conflict (user_id) do update set phc = excluded.phc, changed_at = date_trunc('milliseconds', clock_timestamp())`
  await dropLink(tx, userId)
  await endSessions(tx, userId)
}

/** Stores a new hash of the same password. */
export async function rehashPassword(tx: Transaction, userId: string, phc: string): Promise<void> {
  await tx`update passwords set phc = ${phc} where user_id = ${userId}`
}
