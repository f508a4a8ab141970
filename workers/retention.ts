/** Forgets what has served: results of old commits, and of cards removed 30 days ago what was kept and their tombstones. */
import { trashCutoff } from '../core/limits.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import { startLoop, type Loop } from './loop.ts'

/** Rows of one transaction: their locks are held for milliseconds. */
const batch = 1000

export function startRetention(
  { database, clock, log }: { database: Database; clock: Clock; log: Logger },
  options: { intervalMs?: number } = {},
): Loop {
  return startLoop('retention', options.intervalMs ?? 60_000, log, async (stopping) => {
    await database.asSystem((tx) => tx`delete from commits where created_at < now() - interval '1 hour'`)
    const cutoff = trashCutoff(clock.now())
    await database.asSystem((tx) => tx`delete from removed_cards where removed_at <= ${cutoff}`)
    // A tombstone guards nothing: rows are written under the board's lock by who has seen its whole log.
    for (let deleted = batch; deleted === batch && !stopping.aborted;)
      deleted = await database.asSystem(async (tx) => {
        const { count } = await tx`
          delete from card_index
          where ctid = any (array(
            select ctid from card_index where deleted_at <= ${cutoff} limit ${batch} for update skip locked
          ))`
        return count
      })
  })
}
