/**
 * Takes deliveries that are due out of the queue, under a lease. Whoever holds the lease's fence may settle the
 * delivery; when it lapses, the delivery is due again.
 */
import { limits } from '../../core/limits.ts'
import { testEvent } from '../../core/events.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { notifyOwner } from './notify.ts'

export interface ClaimedDelivery {
  id: string
  /** Null: it is a row of the queue. */
  flight: Flight | null
  /** Which one of its flight, from 1. */
  nth: number
  webhookId: string
  event: string
  /** The exact bytes to send. */
  payload: Uint8Array
  /** Attempts that ended. */
  attempt: number
  fence: number
  /** Since when it was due, milliseconds. */
  dueAt: number
  leaseUntil: number
  url: string
  /** Both encrypted. */
  secret: Uint8Array
  previousSecret: Uint8Array | null
  /** Of the webhook's deliveries, before this one. */
  failuresInARow: number
}

/** An event that is being sent to webhooks whose receivers keep up: no row of the queue for each, but one for all of them. */
export interface Flight {
  place: number
  /** Its deliveries whose outcome is not written down yet. */
  open: number
}

export interface ClaimBounds {
  /** Of one webhook at a time; of one whose last delivery failed, one. */
  perWebhook: number
  /** Of all of them. */
  total: number
  /** Of those whose last delivery failed, together: what is slow or dead leaves the others this much less than the total. */
  failing: number
}

/** What this process may take on. */
export interface ClaimRoom {
  room: number
  /** To webhooks whose last delivery failed, one each. */
  roomForFailing: number
  /** Webhooks of which less than `perWebhook` may be taken, by how much; or, below 0, more. */
  byWebhook: ReadonlyMap<string, number>
}

export const leaseMs = 30_000
/** Deliveries that are given up in one go. */
const giveUpBatch = 500
/** Each has as many deliveries as a workspace has webhooks. */
const flightsInOneGo = 50

interface ClaimedRow {
  webhook_id: string
  /** Null: nothing of this webhook may be sent. */
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
}

/** @returns `more` when of a webhook that was looked at closely something may be due still */
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
      flight: null,
      nth: 0,
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
    }))
  let more = false
  for (const { webhook_id: id } of rows.filter((row) => row.id === null))
    more = (await refuse(database, id, now)) || more
  return { claimed, more }
}

/** Switches a webhook off when whoever made it may no longer write; when it is off, gives up what is due. @returns whether more may be due */
async function refuse(database: Database, webhookId: string, now: number): Promise<boolean> {
  return database.asSystem(async (tx) => {
    const [webhook] = await tx<
      { id: string; name: string; url: string; workspace_id: string; active: boolean; permitted: boolean }[]
    >`
      select id, name, url, workspace_id, active,
        created_by is not null and workspace_id in (select writable_workspaces(created_by)) as permitted
      from webhooks
      where id = ${webhookId}
      for no key update`
    if (!webhook) return false
    if (webhook.active && webhook.permitted) return true
    if (webhook.active)
      await switchOff(tx, webhook, 'The account that made this webhook may no longer write in the workspace.')
    return (await giveUp(tx, webhookId, now)) === giveUpBatch
  })
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

/** Puts back what was claimed, or was in flight, and not sent: due as it was. What somebody else has taken meanwhile stays theirs. */
export async function giveBack(database: Database, deliveries: ClaimedDelivery[]): Promise<void> {
  await database.callAsSystem(
    (sql) => sql`
      select give_back_deliveries(
        ${deliveries.map(({ id }) => id)}::uuid[],
        ${deliveries.map(({ flight }) => flight?.place ?? null)}::bigint[],
        ${deliveries.map(({ fence }) => fence)}::bigint[],
        ${deliveries.map(({ dueAt }) => new Date(dueAt).toISOString())}::text[]::timestamptz[]
      )`,
  )
  for (const { flight } of deliveries) if (flight) flight.open -= 1
}

/** Leases of processes that are gone: their attempts are logged as they are known, and the deliveries are due again. */
export async function takeBackLapsed(database: Database, now: number): Promise<number> {
  const rows = await database.asSystem(async (tx) => {
    await tx`select land_lapsed(${new Date(now)}, ${flightsInOneGo})`
    return tx`
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
      returning id`
  })
  return rows.length
}
