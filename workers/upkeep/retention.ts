/** Deletes what is past its retention. */
import { auditCutoff, idempotencyCutoff, limits, notificationCutoff, trashCutoff } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { deleteInBatches, inBatches, type Condition } from '../in-batches.ts'
import { startLoop, type Loop } from '../loop.ts'

/** Rows of one transaction: their locks are held for milliseconds. */
const batch = 1000
const hourMs = 3_600_000

/** By table: the rows that are past their retention. */
const outdated = (now: number, auditDays: number): Record<string, Condition> => ({
  // Tombstones. They guard nothing: rows are written under the board's lock by who has seen its whole log.
  card_index: (tx) => tx`deleted_at <= ${trashCutoff(now)}`,
  notifications: (tx) => tx`created_at <= ${notificationCutoff(now)}`,
  guests: (tx) => tx`ends_at <= ${auditCutoff(now, auditDays)}`,
  board_links: (tx) => tx`
    ended_at <= now() - interval '1 day' and not exists (select from guests g where g.link_id = board_links.id)`,
  invitations: (tx) => tx`expires_at <= now() or ended_at <= now() - interval '1 hour'`,
  sessions: (tx) => tx`expires_at <= now()`,
  ended_sessions: (tx) => tx`ended_at < now() - ${limits.sessions.ttlSeconds.max + 60} * interval '1 second'`,
  session_history: (tx) =>
    tx`user_id in (select id from session_users where live_until < now() - ${limits.sessions.historyDays} * interval '1 day')`,
  sign_in_allowances: (tx) => tx`used_until < now() - interval '1 minute'`,
  rate_leases: (tx) => tx`until <= ${now - hourMs}`,
  idempotency_keys: (tx) => tx`created_at < ${idempotencyCutoff(now)}`,
})

/** An hour later than readers may ask for (api/events/read-journal.ts), so that no event goes while one reads it. */
const deleteJournal = (tx: Transaction) => tx`
  delete from event_journal
  where ctid = any (array(
    select ctid from event_journal
    where at < now() - ${limits.eventStreams.days} * interval '1 day' - interval '1 hour'
    limit ${batch}
  ))`

const isOldPayload = (tx: Transaction) =>
  tx`p.created_at < now() - ${limits.webhooks.deliveryDays} * interval '1 day'`

/** Reads only the places up to the latest old one. */
const deleteDeliveries = (tx: Transaction) => tx`
  delete from webhook_deliveries
  where ctid = any (array(
    select d.ctid
    from webhook_deliveries d
    join webhook_payloads p on p.place = d.place
    where ${isOldPayload(tx)} and d.status in ('succeeded', 'given_up')
      and d.place <= (select max(p.place) from webhook_payloads p where ${isOldPayload(tx)})
    limit ${batch}
    for update of d skip locked
  ))`

const deletePayloads = (tx: Transaction) => tx`
  delete from webhook_payloads
  where ctid = any (array(
    select p.ctid
    from webhook_payloads p
    left join webhook_deliveries d
      on d.place = p.place and d.place <= (select max(p.place) from webhook_payloads p where ${isOldPayload(tx)})
    where ${isOldPayload(tx)} and d.id is null
    limit ${batch}
    for update of p skip locked
  ))`

/** Locks no rows: nothing updates audit entries, and the service may not. */
const deleteAudit = (tx: Transaction, cutoff: Date) => tx`
  delete from audit_operations
  where ctid = any (array(select ctid from audit_operations where occurred_at <= ${cutoff} limit ${batch}))`

export function startRetention(
  { database, clock, log, auditDays }: { database: Database; clock: Clock; log: Logger; auditDays: number },
  options: { intervalMs?: number } = {},
): Loop {
  return startLoop('retention', options.intervalMs ?? 60_000, log, async (stopping) => {
    const now = clock.now()
    await database.asSystem(async (tx) => {
      await tx`delete from sign_in_links where expires_at <= now()`
      await tx`delete from commits where created_at < now() - interval '1 hour'`
      await tx`delete from removed_cards where removed_at <= ${trashCutoff(now)}`
    }, 'background')
    await inBatches(database, batch, deleteDeliveries, stopping)
    await inBatches(database, batch, deletePayloads, stopping)
    await inBatches(database, batch, deleteJournal, stopping)
    await inBatches(database, batch, (tx) => deleteAudit(tx, auditCutoff(now, auditDays)), stopping)
    for (const [table, condition] of Object.entries(outdated(now, auditDays)))
      await deleteInBatches(database, batch, table, condition, stopping)
  })
}
