/** One event becomes one delivery for each active webhook of its workspace that subscribes to it. */
import { everyEvent, payloadText, type ServiceEvent } from '../core/events.ts'
import type { Transaction } from '../sql/database.ts'

/**
 * Queues the deliveries, due at `at` (milliseconds) and in the order of the events. Runs in the transaction that takes
 * the events out of the outbox: both happen, or neither.
 *
 * @returns how many it queued
 */
export async function fanOut(tx: Transaction, events: ServiceEvent[], at: number): Promise<number> {
  const workspaceIds = [...new Set(events.map((event) => event.workspaceId))]
  // Held against deletion, which would fail the deliveries' foreign key.
  const webhooks = await tx<{ id: string; workspace_id: string; events: string[]; created_at: Date }[]>`
    select id, workspace_id, events, created_at
    from webhooks
    where active and workspace_id = any (${workspaceIds}::uuid[])
    for key share`
  const queued = events.flatMap((event) => {
    const subscribed = webhooks.filter(
      (webhook) =>
        webhook.workspace_id === event.workspaceId &&
        (webhook.events.includes(everyEvent) || webhook.events.includes(event.type)) &&
        webhook.created_at <= event.occurredAt, // what was waiting when it was made is not its own
    )
    if (subscribed.length === 0) return []
    const payload = payloadText(event)
    return subscribed.map((webhook) => ({ webhook, event, payload }))
  })
  if (queued.length === 0) return 0
  await tx`
    insert into webhook_deliveries (webhook_id, workspace_id, event, payload, next_attempt_at)
    select q.webhook_id, q.workspace_id, q.event, q.payload, ${new Date(at)}
    from unnest(
      ${queued.map(({ webhook }) => webhook.id)}::uuid[],
      ${queued.map(({ webhook }) => webhook.workspace_id)}::uuid[],
      ${queued.map(({ event }) => event.type)}::text[],
      ${queued.map(({ payload }) => payload)}::text[]
    ) with ordinality as q(webhook_id, workspace_id, event, payload, place)
    order by q.place`
  return queued.length
}
