/** Bounds tries of secrets, such as the codes of links and invitations. */
import { ServiceError } from '../../core/errors.ts'
import { takeAttempt, type Allowance } from '../../sql/accounts/sign-in-allowances.ts'
import type { Database } from '../../sql/database.ts'

/** Counts a try in a transaction of its own, so that it also counts when the request fails. @throws ServiceError `rate_limited` */
export async function takeTry(database: Database, allowances: Allowance[]): Promise<void> {
  const seconds = await database.asSystem((tx) => takeAttempt(tx, allowances))
  if (seconds === 0) return
  throw new ServiceError('rate_limited', `Too many tries. Try again in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  })
}
