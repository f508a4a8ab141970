/** Forgets what applications left behind: ended codes, tokens and grants, and clients that nobody uses. */
import { limits } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { purgeArtifacts } from '../../sql/oauth/oauth-artifacts.ts'
import { reapClients } from '../../sql/oauth/oauth-clients.ts'
import { purgeGrants } from '../../sql/oauth/oauth-grants.ts'
import { purgeAccessTokens } from '../../sql/accounts/tokens.ts'
import { never, startLoop, type Loop } from '../loop.ts'

/** Rows of one transaction: their locks are held for milliseconds. */
const batch = 500

export function startForgettingApplications(
  { database, clock, log }: { database: Database; clock: Clock; log: Logger },
  options: { intervalMs?: number } = {},
): Loop {
  return startLoop('forget applications', options.intervalMs ?? 300_000, log, (stopping) =>
    forgetApplications(database, new Date(clock.now()), stopping),
  )
}

/** Once, to the end, or until it is told to stop. */
export async function forgetApplications(
  database: Database,
  now: Date,
  stopping: AbortSignal = never,
): Promise<void> {
  const { idleClientDays: idleDays } = limits.oauth
  await inBatches((tx) => purgeArtifacts(tx, now, batch))
  await inBatches((tx) => purgeAccessTokens(tx, now, batch))
  await inBatches((tx) => purgeGrants(tx, now, batch))
  await inBatches((tx) => reapClients(tx, { now, idleDays, batch }))

  async function inBatches(purge: (tx: Transaction) => Promise<number>): Promise<void> {
    let gone = batch
    while (gone === batch && !stopping.aborted) gone = await database.asSystem(purge, 'background')
  }
}
