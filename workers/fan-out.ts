/** One event becomes one delivery for each active webhook of its workspace that subscribes to it. */
import { randomUUID } from 'node:crypto'
import { everyEvent, payloadText, type ServiceEvent } from '../core/events.ts'
import { arrayLiteral } from '../sql/array-literal.ts'
import type { Transaction } from '../sql/database.ts'
import { leaseMs, type ClaimedDelivery } from './claim.ts'

/** Slots of who sends. */
export interface Reservation {
  /** Whether one more delivery of this webhook may be sent at once. */
  take(webhookId: string): boolean
  /** The transaction is committed: sends them, and gives back what is not used. */
  start(deliveries: ClaimedDelivery[]): void
  /** For what is being claimed, which counts and goes first; not for long. */
  settled(): Promise<void>
  /** How many slots each of these webhooks has, as soon as that is worth while; 0 when one is slower than the others, or it takes too long. */
  roomAgain(webhookIds: ReadonlySet<string>, withinMs: number): Promise<number>
  /** It is not. */
  release(): void
}

interface Subscriber {
  id: string
  workspace_id: string
  events: string[]
  created_at: Date
  url: string
  secret: Uint8Array
  previous_secret: Uint8Array | null
  /** Nothing of it waits that would have to go first, it does not fail, and its creator may write. */
  ready: boolean
}

/**
 * Queues the deliveries, due at `at` (milliseconds) and in the order of the events. Runs in the transaction that takes
 * the events out of the outbox: both happen, or neither. Those for which there are slots are queued under a lease.
 *
 * @returns how many it queued, and which of them are to be sent once the transaction is committed
 */
export async function fanOut(
  tx: Transaction,
  events: ServiceEvent[],
  at: number,
  slots: Reservation,
): Promise<{ queued: number; leased: ClaimedDelivery[] }> {
  const workspaceIds = [...new Set(events.map((event) => event.workspaceId))]
  // Held against deletion, which would fail the deliveries' foreign key.
  const webhooks = await tx<Subscriber[]>`
    select w.id, w.workspace_id, w.events, w.created_at, w.url, w.secret,
      case when w.previous_secret_until > ${new Date(at)} then w.previous_secret end as previous_secret,
      w.failures = 0 and w.created_by is not null and w.workspace_id in (select writable_workspaces(w.created_by))
        and not exists (
          select from webhook_deliveries d
          where d.webhook_id = w.id and d.status = 'waiting' and d.next_attempt_at <= ${new Date(at)}
        ) as ready
    from webhooks w
    where w.active and w.workspace_id = any (${workspaceIds}::uuid[])
    for key share of w`
  await slots.settled()
  const leaseUntil = at + leaseMs
  const payloads: { event: string; text: string }[] = []
  const queued = events.flatMap((event) => {
    const subscribed = webhooks.filter(
      (webhook) =>
        webhook.workspace_id === event.workspaceId &&
        (webhook.events.includes(everyEvent) || webhook.events.includes(event.type)) &&
        webhook.created_at <= event.occurredAt, // what was waiting when it was made is not its own
    )
    if (subscribed.length === 0) return []
    const payload = payloadText(event)
    const payloadAt = payloads.push({ event: event.type, text: payload })
    return subscribed.map((webhook) => {
      webhook.ready &&= slots.take(webhook.id) // once one has to wait, those after it do
      return { id: randomUUID(), webhook, event: event.type, payload, payloadAt, leased: webhook.ready }
    })
  })
  if (queued.length === 0) return { queued: 0, leased: [] }
  const placeOf = new Map(webhooks.map((webhook, place) => [webhook, place + 1]))
  // A payload is sent once for all of its deliveries.
  await tx`
    insert into webhook_deliveries (id, webhook_id, workspace_id, event, payload, status, fence, next_attempt_at, lease_until)
    select q.id,
      (${webhooks.map(({ id }) => id)}::uuid[])[q.webhook], (${webhooks.map(({ workspace_id: id }) => id)}::uuid[])[q.webhook],
      (${payloads.map(({ event }) => event)}::text[])[q.payload], (${payloads.map(({ text }) => text)}::text[])[q.payload],
      case when q.leased then 'sending' else 'waiting' end, q.leased::integer,
      case when not q.leased then ${new Date(at)}::timestamptz end, case when q.leased then ${new Date(leaseUntil)}::timestamptz end
    from unnest(
      ${arrayLiteral(queued.map(({ id }) => id))}::text::uuid[],
      ${arrayLiteral(queued.map(({ webhook }) => placeOf.get(webhook)!))}::text::integer[],
      ${arrayLiteral(queued.map(({ payloadAt }) => payloadAt))}::text::integer[],
      ${arrayLiteral(queued.map(({ leased }) => Number(leased)))}::text::boolean[]
    ) with ordinality as q(id, webhook, payload, leased, place)
    order by q.place`
  const leased = queued
    .filter((one) => one.leased)
    .map(({ id, webhook, event, payload }) => ({
      ...{ id, event, payload, dueAt: at, leaseUntil, attempt: 0, fence: 1, failuresInARow: 0 },
      ...{ webhookId: webhook.id, url: webhook.url },
      ...{ secret: webhook.secret, previousSecret: webhook.previous_secret },
    }))
  return { queued: queued.length, leased }
}
