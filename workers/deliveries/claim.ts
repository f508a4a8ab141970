/**
 * Takes deliveries that are due out of the queue, under a lease. The holder of the lease's fence may record the outcome.
 * When the lease lapses, the delivery is due again.
 */
import { testEvent } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import type { Database } from '../../sql/database.ts'
import { leaseMs, type ClaimedDelivery } from './delivery.ts'
import { refuseDue } from './switch-off.ts'

export interface ClaimBounds {
  /** Most attempts under way to one webhook. One attempt, if its last delivery failed. */
  perWebhook: number
  /** Most attempts under way in all. */
  total: number
  /** Most of `total` that go to webhooks whose last delivery failed. The rest stays free for other webhooks. */
  failing: number
}

/** How many deliveries this process may claim. */
export interface ClaimRoom {
  room: number
  /** How many of them may go to webhooks whose last delivery failed, one each. */
  roomForFailing: number
  /** Taken slots of webhooks, of `perWebhook`. Negative when a claim may take more than `perWebhook`. */
  byWebhook: ReadonlyMap<string, number>
}

/** Most deliveries with a lapsed lease that one transaction takes back. */
const lapsedBatch = 500

interface ClaimedRow {
  webhook_id: string
  /** Null: no delivery of this webhook may be sent. */
  id: string | null
  place: number
  event: string
  payload: string
  attempt: number
  fence: number
  due_at: Date
  url: string
  secret: Uint8Array
  previous_secret: Uint8Array | null
  failures: number
  trace: string | null
}

/** @returns `more`: a webhook that was switched off may have more due deliveries */
export async function claimDue(
  database: Database,
  now: number,
  bounds: ClaimBounds,
  { room, roomForFailing, byWebhook }: ClaimRoom,
): Promise<{ claimed: ClaimedDelivery[]; more: boolean }> {
  const leaseUntil = now + leaseMs
  const rows = await database.callAsSystem(
    (sql) => sql<ClaimedRow[]>`
      select * from claim_deliveries(
        ${new Date(now)}, ${new Date(leaseUntil)},
        ${[...byWebhook.keys()]}::uuid[], ${[...byWebhook.values()]}::integer[],
        ${bounds.perWebhook}, ${room}, ${roomForFailing}, ${testEvent}
      )`,
  )
  const claimed = rows
    .filter((row) => row.id !== null)
    .sort((a, b) => a.place - b.place)
    .map((row) => ({
      id: row.id!,
      webhookId: row.webhook_id,
      event: row.event,
      payload: Buffer.from(row.payload),
      attempt: row.attempt,
      fence: row.fence,
      dueAt: row.due_at.getTime(),
      leaseUntil,
      url: row.url,
      secret: row.secret,
      previousSecret: row.previous_secret,
      failuresInARow: row.failures,
      trace: row.trace,
    }))
  let more = false
  for (const { webhook_id: id } of rows.filter((row) => row.id === null))
    more = (await refuseDue(database, id, now)) || more
  return { claimed, more }
}

/** Puts back deliveries that were claimed but not sent, due as before. Skips those that another process has claimed. */
export async function giveBack(database: Database, deliveries: ClaimedDelivery[]): Promise<void> {
  await database.callAsSystem(
    (sql) => sql`
      select give_back_deliveries(
        ${deliveries.map(({ id }) => id)}::uuid[],
        ${deliveries.map(({ fence }) => fence)}::bigint[],
        ${deliveries.map(({ dueAt }) => new Date(dueAt).toISOString())}::text[]::timestamptz[]
      )`,
  )
}

/** Ends the claims whose lease lapsed: logs their attempts as interrupted, and makes the deliveries due again. */
export async function takeBackLapsed(database: Database, now: number): Promise<void> {
  await database.asSystem(
    (tx) => tx`
      with lapsed as (
        select id, lease_until
        from webhook_deliveries
        where status = 'sending' and lease_until <= ${new Date(now)}
        order by lease_until
        limit ${lapsedBatch}
        for update skip locked
      ), due as (
        update webhook_deliveries d
        set status = 'waiting', next_attempt_at = ${new Date(now)}, lease_until = null, fence = d.fence + 1
        from lapsed l
        where d.id = l.id
        returning d.id, d.place, d.webhook_id, d.workspace_id, d.attempt, l.lease_until
      )
      insert into webhook_attempts (
        delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, error, attempted_at
      )
      select id, place, webhook_id, workspace_id, attempt + 1, ${limits.webhooks.attempts} - attempt, 'failed',
        'interrupted: the service stopped before it knew the outcome; it is sent again and this does not count',
        lease_until - ${leaseMs} * interval '1 millisecond'
      from due`,
  )
}
