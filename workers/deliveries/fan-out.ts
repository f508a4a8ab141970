/** One event becomes one delivery for each active webhook of its workspace that subscribes to it. */
import { randomUUIDv7 } from 'node:crypto'
import { everyEvent, payloadText, type ServiceEvent } from '../../core/events.ts'
import { arrayLiteral } from '../../sql/array-literal.ts'
import type { Transaction } from '../../sql/database.ts'
import { leaseMs, type ClaimedDelivery } from './claim.ts'

/** Slots of who sends. */
export interface Reservation {
  /** Runs `work` when no claim is under way, or after a moment all the same. */
  inTurn<Result>(work: () => Result): Promise<Result>
  /** Whether one more delivery of this webhook may be sent at once; none while a claim is under way. */
  take(webhookId: string): boolean
  /** The transaction is committed: sends them, and gives back what is not used. */
  start(deliveries: ClaimedDelivery[]): void
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

/** An event with the webhooks that get it at once, and the ids of their deliveries. */
interface Departure {
  event: ServiceEvent
  payload: string
  webhooks: Subscriber[]
  ids: string[]
}

interface Queued {
  webhook: Subscriber
  event: string
  payload: string
}

/**
 * Queues the deliveries, due at `at` (milliseconds) and in the order of the events. Runs in the transaction that takes
 * the events out of the outbox: both happen, or neither. Those for which there are slots are in flight at once.
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
  // Held against deletion: nothing may be queued for a webhook that is gone.
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
  const { departing, waiting } = await slots.inTurn(() => assign(events, webhooks, slots))
  const leased = departing.length > 0 ? await depart(tx, departing, at) : []
  // After them: their places come after those of what is in flight.
  if (waiting.length > 0) await enqueue(tx, waiting, at)
  return { queued: leased.length + waiting.length, leased }
}

/** Who gets which event, and whether at once. */
function assign(events: ServiceEvent[], webhooks: Subscriber[], slots: Reservation) {
  const departing: Departure[] = []
  const waiting: Queued[] = []
  for (const event of events) {
    const subscribed = webhooks.filter(
      (webhook) =>
        webhook.workspace_id === event.workspaceId &&
        (webhook.events.includes(everyEvent) || webhook.events.includes(event.type)) &&
        webhook.created_at <= event.occurredAt, // what was waiting when it was made is not its own
    )
    if (subscribed.length === 0) continue
    const payload = payloadText(event)
    const ready = subscribed.filter((webhook) => {
      webhook.ready &&= slots.take(webhook.id) // once one has to wait, those after it do
      return webhook.ready
    })
    if (ready.length > 0)
      departing.push({ event, payload, webhooks: ready, ids: ready.map(() => randomUUIDv7()) })
    for (const webhook of subscribed)
      if (!webhook.ready) waiting.push({ webhook, event: event.type, payload })
  }
  return { departing, waiting }
}

/** Under a lease, one row for each event: most are written down once more, in the log, and that is all of them. */
async function depart(tx: Transaction, departures: Departure[], at: number): Promise<ClaimedDelivery[]> {
  const leaseUntil = at + leaseMs
  const rows = await tx<{ place: number; first: string }[]>`
    insert into webhook_flights (workspace_id, event, payload, webhook_ids, delivery_ids, lease_until)
    select d.workspace_id, d.event, d.payload, d.webhook_ids::uuid[], d.delivery_ids::uuid[], ${new Date(leaseUntil)}
    from unnest(
      ${departures.map(({ event }) => event.workspaceId)}::uuid[],
      ${departures.map(({ event }) => event.type)}::text[],
      ${departures.map(({ payload }) => payload)}::text[],
      ${departures.map(({ webhooks }) => arrayLiteral(webhooks.map(({ id }) => id)))}::text[],
      ${departures.map(({ ids }) => arrayLiteral(ids))}::text[]
    ) with ordinality as d(workspace_id, event, payload, webhook_ids, delivery_ids, nth)
    order by d.nth
    returning place, delivery_ids[1] as first`
  const placeOf = new Map(rows.map(({ place, first }) => [first, place]))
  return departures.flatMap(({ event, payload, webhooks, ids }) => {
    const flight = { place: placeOf.get(ids[0]!)!, open: ids.length }
    const bytes = Buffer.from(payload)
    return webhooks.map((webhook, n) => ({
      id: ids[n]!,
      flight,
      nth: n + 1,
      webhookId: webhook.id,
      event: event.type,
      payload: bytes,
      attempt: 0,
      fence: 1,
      dueAt: at,
      leaseUntil,
      url: webhook.url,
      secret: webhook.secret,
      previousSecret: webhook.previous_secret,
      failuresInARow: 0,
    }))
  })
}

async function enqueue(tx: Transaction, queued: Queued[], at: number): Promise<void> {
  const webhooks = [...new Set(queued.map(({ webhook }) => webhook))]
  const payloads = [...new Set(queued.map(({ payload }) => payload))]
  const events = [...new Set(queued.map(({ event }) => event))]
  const placeIn = <Value>(values: Value[]) => {
    const places = new Map(values.map((value, place) => [value, place + 1]))
    return (value: Value) => places.get(value)!
  }
  const [webhookAt, payloadAt, eventAt] = [placeIn(webhooks), placeIn(payloads), placeIn(events)]
  // What several deliveries share is sent once.
  await tx`
    insert into webhook_deliveries (webhook_id, workspace_id, event, payload, next_attempt_at)
    select (${webhooks.map(({ id }) => id)}::uuid[])[q.webhook], (${webhooks.map(({ workspace_id: id }) => id)}::uuid[])[q.webhook],
      (${events}::text[])[q.event], (${payloads}::text[])[q.payload], ${new Date(at)}
    from unnest(
      ${arrayLiteral(queued.map(({ webhook }) => webhookAt(webhook)))}::text::integer[],
      ${arrayLiteral(queued.map(({ event }) => eventAt(event)))}::text::integer[],
      ${arrayLiteral(queued.map(({ payload }) => payloadAt(payload)))}::text::integer[]
    ) with ordinality as q(webhook, event, payload, place)
    order by q.place`
}
