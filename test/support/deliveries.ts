/** Deliveries and attempts in the database, as the workers leave them. */
import type { Sql } from 'postgres'

/** Deliveries with what they send, as a table. */
export const allDeliveries = (admin: Sql) => admin`(
  select d.*, p.event, p.payload, p.created_at
  from webhook_deliveries d
  join webhook_payloads p on p.place = d.place
)`

/** All attempts, as a table: those that succeeded are in the rows of their deliveries. */
export const allAttempts = (admin: Sql) => admin`(
  select id, delivery_id, webhook_id, attempt, attempts_left, status, status_code, duration_ms, error, attempted_at
  from webhook_attempts
  union all
  select id, id, webhook_id, attempt, 0, status, status_code, duration_ms, null, attempted_at
  from webhook_deliveries
  where status = 'succeeded'
)`

export interface DeliveryState {
  status?: 'waiting' | 'sending' | 'succeeded' | 'given_up'
  event?: string
  /** Of the nth delivery. */
  payload?: (nth: number) => string
  attempt?: number
  fence?: number
  /** When it is due, when its lease ends, or when the attempt that succeeded was made. Default: one second ago. */
  at?: Date | string
  createdAt?: Date
}

/** Adds deliveries of one webhook in this state, one payload each and a microsecond apart. @returns their ids, in order */
export async function addDeliveries(
  admin: Sql,
  webhookId: string,
  count: number,
  state: DeliveryState = {},
): Promise<string[]> {
  const { status = 'waiting', event = 'card.created', payload = () => '{}', attempt = 0, fence = 0 } = state
  const at = state.at ?? new Date(Date.now() - 1000)
  const instant = typeof at === 'string' ? at : at.toISOString()
  const payloads = Array.from({ length: count }, (_, n) => payload(n + 1))
  const rows = await admin<{ id: string }[]>`
    with made as (
      insert into webhook_payloads (workspace_id, event, payload, created_at)
      select w.workspace_id, ${event}, t.payload, coalesce(${state.createdAt ?? null}, date_trunc('milliseconds', clock_timestamp()))
      from webhooks w, unnest(${payloads}::text[]) with ordinality as t(payload, nth)
      where w.id = ${webhookId}
      order by t.nth
      returning place, workspace_id
    ), placed as (
      select m.*, ${instant}::text::timestamptz + row_number() over (order by place) * interval '1 microsecond' - interval '1 microsecond' as at
      from made m
    )
    insert into webhook_deliveries (
      place, webhook_id, workspace_id, status, attempt, fence, next_attempt_at, lease_until, attempted_at, status_code, duration_ms
    )
    select place, ${webhookId}, workspace_id, ${status}, ${attempt}, ${fence},
      case when ${status} = 'waiting' then at end,
      case when ${status} = 'sending' then at end,
      case when ${status} = 'succeeded' then at end,
      case when ${status} = 'succeeded' then 200 end,
      case when ${status} = 'succeeded' then 12 end
    from placed
    order by place
    returning id, place`
  return rows.map(({ id }) => id)
}
