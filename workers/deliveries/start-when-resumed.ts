import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { findPause } from '../../sql/delivery-pause.ts'
import { startLoop, type Loop } from '../loop.ts'

const lookMs = 1000

/**
 * Starts the loop that `start` makes, unless a restore has paused deliveries: then as soon as they are resumed. Only a
 * restore pauses them, and it needs a database that no node uses, so nobody looks again afterwards.
 */
export function startWhenResumed(
  { database, log }: { database: Database; log: Logger },
  start: () => Loop,
): Loop {
  let delivering: Loop | null = null
  let isTold = false
  const looking = startLoop('look for the end of the pause', lookMs, log, async (stopping) => {
    const since = await database.asSystem(findPause)
    if (since === null && !stopping.aborted) {
      delivering = start()
      void looking.stop()
    } else if (!isTold) {
      isTold = true
      log.warn({ since }, 'a restore has paused webhook deliveries; run `corkboard resume` to send them')
    }
  })
  return {
    async stop() {
      await looking.stop()
      await delivering?.stop()
    },
  }
}
