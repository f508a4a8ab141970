/** Forgets what has served: results of old commits, removed cards and webhook deliveries after 30 days. */
import { limits } from '../core/limits.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import { startLoop, type Loop } from './loop.ts'

export function startRetention(database: Database, log: Logger): Loop {
  return startLoop('retention', 60_000, log, async () => {
    await database.asSystem(async (tx) => {
      await tx`delete from commits where created_at < now() - interval '1 hour'`
      await tx`delete from removed_cards where removed_at < now() - ${limits.trashDays} * interval '1 day'`
      await tx`
        delete from webhook_deliveries
        where created_at < now() - ${limits.webhooks.deliveryDays} * interval '1 day' and status in ('succeeded', 'given_up')`
    })
  })
}
