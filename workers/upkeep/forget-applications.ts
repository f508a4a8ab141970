/** Deletes expired codes, tokens and grants of OAuth applications, and clients that nobody uses. */
import { limits } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { deleteInBatches, type Condition } from '../in-batches.ts'
import { startLoop, type Loop } from '../loop.ts'

/** Rows of one transaction. */
const batch = 500

export function startForgettingApplications(parts: { database: Database; clock: Clock; log: Logger }): Loop {
  const { database, clock, log } = parts
  return startLoop('forget applications', 300_000, log, (stopping) =>
    forgetApplications(database, new Date(clock.now()), stopping),
  )
}

/** Runs once, to the end or until `stopping` is aborted. */
export async function forgetApplications(
  database: Database,
  now: Date,
  stopping?: AbortSignal,
): Promise<void> {
  for (const [table, condition] of Object.entries(forgettable(now)))
    await deleteInBatches(database, batch, table, condition, stopping)
}

/** By table, in this order: tokens and grants are kept for a day after their end. */
const forgettable = (now: Date): Record<string, Condition> => ({
  oauth_artifacts: (tx) => tx`expires_at < ${now}`,
  tokens: (tx) => tx`grant_id is not null and expires_at < ${now}::timestamptz - interval '1 day'`,
  oauth_grants: (tx) => tx`least(ends_at, revoked_at) < ${now}::timestamptz - interval '1 day'`,
  // Clients without a valid grant: a week after their registration if they were never used, else long after their use.
  oauth_clients: (tx) => tx`
    created_at < ${now}::timestamptz - interval '7 days'
    and (used_at is null or used_at < ${now}::timestamptz - ${limits.oauth.idleClientDays} * interval '1 day')
    and not exists (
      select from oauth_grants g
      where g.client_id = oauth_clients.client_id and g.revoked_at is null and g.ends_at > ${now}
    )`,
})
