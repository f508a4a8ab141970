/** Writes passwords, as their hashes in the PHC string format. */
import type { Transaction } from '../database.ts'
import { endSessions } from './sessions.ts'
import { dropLink } from './sign-in-links.ts'

export interface PasswordRow {
  userId: string
  name: string | null
  /** Null where no password was set. */
  phc: string | null
}

/** @param of an account by its e-mail or its id; null for an account that there is none of, or that no person signs in as */
export async function findPassword(
  tx: Transaction,
  of: { email: string } | { userId: string },
): Promise<PasswordRow | null> {
  const [row] = await tx<PasswordRow[]>`
    select u.id as "userId", u.display_name as name, p.phc
    from users u
    left join passwords p on p.user_id = u.id
    where ${'email' in of ? tx`lower(u.email) = lower(${of.email})` : tx`u.id = ${of.userId}`}
      and not exists (select from service_accounts s where s.id = u.id)`
  return row ?? null
}

/** Whether it is the account's password still; until the transaction ends nobody sets another. */
export async function holdPassword(tx: Transaction, userId: string, phc: string): Promise<boolean> {
  const rows = await tx`select from passwords where user_id = ${userId} and phc = ${phc} for update`
  return rows.length > 0
}

/** Ends all sessions of the account, and the link that may be under way. */
export async function setPassword(tx: Transaction, userId: string, phc: string): Promise<void> {
  await tx`
    insert into passwords (user_id, phc) values (${userId}, ${phc})
    on conflict (user_id) do update set phc = excluded.phc, changed_at = date_trunc('milliseconds', clock_timestamp())`
  await dropLink(tx, userId)
  await endSessions(tx, userId)
}

/** The same password, hashed anew. */
export async function rehashPassword(tx: Transaction, userId: string, phc: string): Promise<void> {
  await tx`update passwords set phc = ${phc} where user_id = ${userId}`
}
