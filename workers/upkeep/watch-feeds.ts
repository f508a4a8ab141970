/** Says who holds the feeds back: a transaction that has stamped a change and does not end. */
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { feedHolders, feedLagMs } from '../../sql/boards/feeds.ts'
import { startLoop, type Loop } from '../loop.ts'

export function startWatchingFeeds(
  { database, log }: { database: Database; log: Logger },
  options: { intervalMs?: number; boundMs?: number } = {},
): Loop {
  // A writer takes part of a second, and is stamped with the beginning of its second.
  const { intervalMs = 5000, boundMs = 5000 } = options
  return startLoop('watch-feeds', intervalMs, log, async () => {
    const lagMs = await database.asSystem(feedLagMs)
    if (lagMs < boundMs) return
    const pids = await database.asSystem(feedHolders)
    log.warn({ lagMs, pids }, 'a transaction holds the change feeds back')
  })
}
