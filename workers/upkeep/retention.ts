/** Forgets what has served: sessions and links that ended, results of commits, entries of the audit, idempotency keys, webhook deliveries, notifications, and of removed cards what was kept and their tombstones. */
import { auditCutoff, idempotencyCutoff, limits, notificationCutoff, trashCutoff } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { startLoop, type Loop } from '../loop.ts'

/** Rows of one transaction: their locks are held for milliseconds. */
const batch = 1000

export function startRetention(
  { database, clock, log, auditDays }: { database: Database; clock: Clock; log: Logger; auditDays: number },
  options: { intervalMs?: number } = {},
): Loop {
  return startLoop('retention', options.intervalMs ?? 60_000, log, async (stopping) => {
    const cutoff = trashCutoff(clock.now())
    await database.asSystem(async (tx) => {
      await tx`delete from sign_in_links where expires_at <= now()`
      await tx`delete from commits where created_at < now() - interval '1 hour'`
      await tx`delete from removed_cards where removed_at <= ${cutoff}`
    }, 'background')
    const isOld = (tx: Transaction) =>
      tx`p.created_at < now() - ${limits.webhooks.deliveryDays} * interval '1 day'`
    // Of deliveries only the places up to the latest old one are read.
    await inBatches(
      (tx) => tx`
        delete from webhook_deliveries
        where ctid = any (array(
          select d.ctid
          from webhook_deliveries d
          join webhook_payloads p on p.place = d.place
          where ${isOld(tx)} and d.status in ('succeeded', 'given_up')
            and d.place <= (select max(p.place) from webhook_payloads p where ${isOld(tx)})
          limit ${batch}
          for update of d skip locked
        ))`,
    )
    await inBatches(
      (tx) => tx`
        delete from webhook_payloads
        where ctid = any (array(
          select p.ctid
          from webhook_payloads p
          left join webhook_deliveries d
            on d.place = p.place and d.place <= (select max(p.place) from webhook_payloads p where ${isOld(tx)})
          where ${isOld(tx)} and d.id is null
          limit ${batch}
          for update of p skip locked
        ))`,
    )
    // A tombstone guards nothing: rows are written under the board's lock by who has seen its whole log.
    await inBatches(
      (tx) => tx`
        delete from card_index
        where ctid = any (array(
          select ctid from card_index where deleted_at <= ${cutoff} limit ${batch} for update skip locked
        ))`,
    )
    await inBatches(
      (tx) => tx`
        delete from notifications
        where ctid = any (array(
          select ctid from notifications where created_at <= ${notificationCutoff(clock.now())} limit ${batch} for update skip locked
        ))`,
    )
    await inBatches(
      (tx) => tx`
        delete from audit_operations
        where ctid = any (array(
          select ctid from audit_operations where occurred_at <= ${auditCutoff(clock.now(), auditDays)} limit ${batch}
        ))`,
    )
    await inBatches(
      (tx) => tx`
        delete from sessions
        where ctid = any (array(select ctid from sessions where expires_at <= now() limit ${batch} for update skip locked))`,
    )
    await inBatches(
      (tx) => tx`
        delete from sign_in_allowances
        where ctid = any (array(
          select ctid from sign_in_allowances where used_until < now() - interval '1 minute' limit ${batch} for update skip locked
        ))`,
    )
    await inBatches(
      (tx) => tx`
        delete from rate_leases
        where ctid = any (array(select ctid from rate_leases where until <= ${clock.now() - 3_600_000} limit ${batch}))`,
    )
    await inBatches(
      (tx) => tx`
        delete from idempotency_keys
        where ctid = any (array(
          select ctid from idempotency_keys
          where created_at < ${idempotencyCutoff(clock.now())}
          limit ${batch}
          for update skip locked
        ))`,
    )

    async function inBatches(statement: (tx: Transaction) => PromiseLike<{ count: number }>): Promise<void> {
      let deleted = batch
      while (deleted === batch && !stopping.aborted)
        deleted = await database.asSystem(async (tx) => (await statement(tx)).count, 'background')
    }
  })
}
