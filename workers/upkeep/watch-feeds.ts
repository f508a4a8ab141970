/** Logs the database sessions that delay the change feeds: their transactions stamped a change and have not ended. */
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { feedHolders, feedLagMs } from '../../sql/boards/feeds.ts'
import { startLoop, type Loop } from '../loop.ts'

export function startWatchingFeeds(
  { database, log }: { database: Database; log: Logger },
  options: { intervalMs?: number; boundMs?: number } = {},
): Loop {
  // A write takes part of a second, and its stamp is the beginning of that second.
  const { intervalMs = 5000, boundMs = 5000 } = options
  return startLoop('watch-feeds', intervalMs, log, async () => {
    const lagMs = await database.asSystem(feedLagMs)
    if (lagMs < boundMs) return
    const pids = await database.asSystem(feedHolders)
    log.warn(
      { lagMs, pids },
      'a transaction that does not end delays the change feeds; end these database sessions',
    )
  })
}
