import type { Sql } from 'postgres'

/** Of the queue and in flight, as a table. Those of webhooks that are gone are gone. */
export const allDeliveries = (admin: Sql) => admin`(
  select id, webhook_id, workspace_id, event, payload, status, attempt, next_attempt_at, created_at from webhook_deliveries
  union all
  select o.id, o.webhook_id, f.workspace_id, f.event, f.payload, case when a.id is null then 'sending' else 'succeeded' end,
    case when a.id is null then 0 else 1 end, null, f.created_at
  from webhook_flights f
  cross join lateral unnest(f.webhook_ids, f.delivery_ids) as o(webhook_id, id)
  left join webhook_attempts a on a.id = o.id
  where not exists (select from webhook_deliveries d where d.id = o.id)
    and exists (select from webhooks w where w.id = o.webhook_id)
)`
