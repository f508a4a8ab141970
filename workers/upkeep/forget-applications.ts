/** Deletes expired codes, tokens and grants of OAuth applications, and clients that nobody uses. */
import { limits } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { purgeArtifacts } from '../../sql/oauth/oauth-artifacts.ts'
import { reapClients } from '../../sql/oauth/oauth-clients.ts'
import { purgeGrants } from '../../sql/oauth/oauth-grants.ts'
import { purgeAccessTokens } from '../../sql/accounts/tokens.ts'
import { inBatches } from '../in-batches.ts'
import { never, startLoop, type Loop } from '../loop.ts'

/** Rows of one transaction. */
const batch = 500

export function startForgettingApplications(
  { database, clock, log }: { database: Database; clock: Clock; log: Logger },
  options: { intervalMs?: number } = {},
): Loop {
  return startLoop('forget applications', options.intervalMs ?? 300_000, log, (stopping) =>
    forgetApplications(database, new Date(clock.now()), stopping),
  )
}

/** Runs once, to the end or until `stopping` is aborted. */
export async function forgetApplications(
  database: Database,
  now: Date,
  stopping: AbortSignal = never,
): Promise<void> {
  const { idleClientDays: idleDays } = limits.oauth
  await inBatches(database, batch, (tx) => purgeArtifacts(tx, now, batch), stopping)
  await inBatches(database, batch, (tx) => purgeAccessTokens(tx, now, batch), stopping)
  await inBatches(database, batch, (tx) => purgeGrants(tx, now, batch), stopping)
  await inBatches(database, batch, (tx) => reapClients(tx, { now, idleDays, batch }), stopping)
}
