/**
 * Takes deliveries that are due out of the queue, under a lease. Whoever holds the lease's fence may settle the
 * delivery; when it lapses, the delivery is due again.
 */
import { limits } from '../core/limits.ts'
import { testEvent } from '../core/events.ts'
import type { Database, Transaction } from '../sql/database.ts'
import { notifyOwner } from './notify.ts'

export interface ClaimedDelivery {
  id: string
  webhookId: string
  event: string
  /** The exact text to send. */
  payload: string
  /** Attempts that ended. */
  attempt: number
  fence: number
  leaseUntil: number
  url: string
  /** Both encrypted. */
  secret: Uint8Array
  previousSecret: Uint8Array | null
  /** Of the webhook's deliveries, before this one. */
  failuresInARow: number
}

export interface ClaimBounds {
  /** Of one webhook at a time; of one whose last delivery failed, one. */
  perWebhook: number
  /** Of all of them. */
  total: number
  /** Of those whose last delivery failed, together: what is slow or dead leaves the others this much less than the total. */
  failing: number
}

/** What this process is sending. */
export interface InFlight {
  total: number
  /** To webhooks whose last delivery had failed when it was claimed. */
  failing: number
  byWebhook: ReadonlyMap<string, number>
}

export const leaseMs = 30_000
/** Deliveries that are given up in one go. */
const giveUpBatch = 500

interface DueWebhook {
  id: string
  url: string
  name: string
  workspace_id: string
  active: boolean
  failures: number
  secret: Uint8Array
  previous_secret: Uint8Array | null
  permitted: boolean
}

/** @returns `more` when deliveries that were due may be left although there was room for them */
export async function claimDue(
  database: Database,
  now: number,
  bounds: ClaimBounds,
  inFlight: InFlight,
): Promise<{ claimed: ClaimedDelivery[]; more: boolean }> {
  return database.asSystem(async (tx) => {
    const full = [...inFlight.byWebhook].flatMap(([id, count]) => (count >= bounds.perWebhook ? [id] : []))
    const webhooks = await dueWebhooks(tx, now, full)
    let more = false
    const shares: { webhook: DueWebhook; count: number }[] = []
    let { total, failing } = inFlight
    for (const webhook of webhooks) {
      if (webhook.active && !webhook.permitted) {
        await switchOff(
          tx,
          webhook,
          'The account that made this webhook may no longer write in the workspace.',
        )
        webhook.active = false
      }
      if (!webhook.active) more = (await giveUp(tx, webhook.id, now)) === giveUpBatch || more
      const isFailing = webhook.failures > 0
      const most = isFailing ? 1 : bounds.perWebhook
      const room = Math.min(
        most - (inFlight.byWebhook.get(webhook.id) ?? 0),
        bounds.total - total,
        isFailing ? bounds.failing - failing : Infinity,
      )
      if (room <= 0) continue
      shares.push({ webhook, count: room })
      total += room
      if (isFailing) failing += room
    }
    if (shares.length === 0) return { claimed: [], more }
    const leaseUntil = now + leaseMs
    const active = shares.flatMap(({ webhook }) => (webhook.active ? [webhook.id] : []))
    const rows = await tx<{ id: string; place: number; webhook_id: string; event: string; payload: string; attempt: number; fence: number }[]>`
      update webhook_deliveries d
      set status = 'sending', next_attempt_at = null, lease_until = ${new Date(leaseUntil)}, fence = d.fence + 1
      from (
        select c.id
        from unnest(
          ${shares.map(({ webhook }) => webhook.id)}::uuid[],
          ${shares.map(({ count }) => count)}::integer[]
        ) as s(webhook_id, count)
        cross join lateral (
          select x.id
          from webhook_deliveries x
          where x.webhook_id = s.webhook_id and x.status = 'waiting' and x.next_attempt_at <= ${new Date(now)}
            and (s.webhook_id = any (${active}::uuid[]) or x.event = ${testEvent})
          order by x.next_attempt_at, x.place
          limit s.count
          for update skip locked
        ) c
      ) q
      where d.id = q.id
      returning d.id, d.place, d.webhook_id, d.event, d.payload, d.attempt, d.fence` // prettier-ignore
    const byId = new Map(shares.map(({ webhook }) => [webhook.id, webhook]))
    const claimed = [...rows]
      .sort((a, b) => a.place - b.place)
      .map((row) => {
        const webhook = byId.get(row.webhook_id)!
        return {
          id: row.id,
          webhookId: row.webhook_id,
          event: row.event,
          payload: row.payload,
          attempt: row.attempt,
          fence: row.fence,
          leaseUntil,
          url: webhook.url,
          secret: webhook.secret,
          previousSecret: webhook.previous_secret,
          failuresInARow: webhook.failures,
        }
      })
    return { claimed, more }
  })
}

/** Those with a delivery that is due, the failing ones last, else the one that waited longest first; but for those named. */
async function dueWebhooks(tx: Transaction, now: number, except: string[]): Promise<DueWebhook[]> {
  return tx<DueWebhook[]>`
    with recursive waiting as (
      (select webhook_id from webhook_deliveries where status = 'waiting' order by webhook_id limit 1)
      union all
      select n.webhook_id
      from waiting v
      cross join lateral (
        select d.webhook_id
        from webhook_deliveries d
        where d.status = 'waiting' and d.webhook_id > v.webhook_id
        order by d.webhook_id
        limit 1
      ) n
    )
    select w.id, w.url, w.name, w.workspace_id, w.active, w.failures, w.secret,
      case when w.previous_secret_until > ${new Date(now)} then w.previous_secret end as previous_secret,
      w.created_by is not null and w.workspace_id in (select writable_workspaces(w.created_by)) as permitted
    from waiting v
    cross join lateral (
      select d.next_attempt_at
      from webhook_deliveries d
      where d.webhook_id = v.webhook_id and d.status = 'waiting' and d.next_attempt_at <= ${new Date(now)}
      order by d.next_attempt_at
      limit 1
    ) due
    join webhooks w on w.id = v.webhook_id
    where v.webhook_id <> all (${except}::uuid[])
    order by w.failures > 0, due.next_attempt_at
    limit 1000`
}

/** Switches it off, once, and tells the workspace's owner. */
export async function switchOff(
  tx: Transaction,
  webhook: { id: string; name: string; url: string; workspace_id: string },
  reason: string,
): Promise<void> {
  const rows = await tx`
    update webhooks set active = false, disabled_reason = ${reason} where id = ${webhook.id} and active returning id`
  if (rows.length === 0) return
  await notifyOwner(tx, webhook.workspace_id, 'webhook.disabled', {
    webhook_id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    reason,
  })
}

/** What is due while the webhook is off is not sent; what is due after it was switched on again is. */
async function giveUp(tx: Transaction, webhookId: string, now: number): Promise<number> {
  const rows = await tx`
    with given_up as (
      update webhook_deliveries d
      set status = 'given_up', next_attempt_at = null
      where d.id = any (array(
        select x.id
        from webhook_deliveries x
        where x.webhook_id = ${webhookId} and x.status = 'waiting' and x.next_attempt_at <= ${new Date(now)}
          and x.event <> ${testEvent}
        order by x.next_attempt_at
        limit ${giveUpBatch}
        for update skip locked
      ))
      returning d.id, d.webhook_id, d.workspace_id, d.attempt
    )
    insert into webhook_attempts (delivery_id, webhook_id, workspace_id, attempt, attempts_left, status, error, attempted_at)
    select id, webhook_id, workspace_id, least(attempt + 1, ${limits.webhooks.attempts}), 0, 'given_up',
      'not sent: the webhook was switched off', ${new Date(now)}
    from given_up
    returning id`
  return rows.length
}

/** Leases of processes that are gone: their attempts are logged as they are known, and the deliveries are due again. */
export async function takeBackLapsed(database: Database, now: number): Promise<number> {
  const rows = await database.asSystem(
    (tx) => tx`
      with lapsed as (
        select id, lease_until
        from webhook_deliveries
        where status = 'sending' and lease_until <= ${new Date(now)}
        order by lease_until
        limit ${giveUpBatch}
        for update skip locked
      ), due as (
        update webhook_deliveries d
        set status = 'waiting', next_attempt_at = ${new Date(now)}, lease_until = null, fence = d.fence + 1
        from lapsed l
        where d.id = l.id
        returning d.id, d.webhook_id, d.workspace_id, d.attempt, l.lease_until
      )
      insert into webhook_attempts (delivery_id, webhook_id, workspace_id, attempt, attempts_left, status, error, attempted_at)
      select id, webhook_id, workspace_id, attempt + 1, ${limits.webhooks.attempts} - attempt, 'failed',
        'interrupted: the service stopped before it knew the outcome; it is sent again and this does not count',
        lease_until - ${leaseMs} * interval '1 millisecond'
      from due
      returning id`,
  )
  return rows.length
}
