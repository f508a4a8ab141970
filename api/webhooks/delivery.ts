/**
 * The delivery log of a webhook: an entry for each attempt, and one for each delivery that waits or is being sent. Newest
 * first. Pending entries sort by their due time, so they come before past attempts.
 */
import type { Static } from 'typebox'
import { id, integer, named, nullable, oneOf, text, time } from '../http/vocabulary.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { uuidPattern } from '../http/schemas.ts'

export const Delivery = named(
  'Delivery',
  'An entry of the delivery log: an attempt, or a delivery that waits or is being sent.',
  {
    id: id('Id of this entry.'),
    delivery_id: id(
      'Id of the delivery, as in the header `X-Service-Delivery`. All its attempts have the same id.',
    ),
    webhook_id: id('Id of the webhook.'),
    event: text('Name of the event, such as `card.created`.'),
    status: oneOf(
      ['waiting', 'sending', 'succeeded', 'failed', 'given_up'],
      '`failed`: another attempt follows. `given_up`: no other attempt follows.',
    ),
    attempt: integer(`Number of the attempt, 1 to ${limits.webhooks.attempts}.`),
    attempts_left: integer('How many attempts may follow this one.'),
    status_code: nullable(integer('HTTP status of the receiver’s response. Null without a response.')),
    duration_ms: nullable(integer('Duration of the attempt in milliseconds. Null until it has ended.')),
    error: nullable(text('What went wrong. Null without an error.')),
    payload: text('The exact request body.'),
    created_at: time('When the delivery was queued.'),
    attempted_at: nullable(time('When the attempt was made. Null before it is made.')),
    next_attempt_at: nullable(time('When the next attempt is due. Null when no attempt is due.')),
  },
)

export type DeliveryRow = Static<typeof Delivery> & {
  /** The time by which the log is sorted, with microseconds. */
  position: string
}

export const presentDelivery = ({ position: _position, ...entry }: DeliveryRow) => entry

/** Entries after a cursor. Each part reads an index in order, so a long log costs no more than a short one. */
export function readLog(
  tx: Transaction,
  webhookId: string,
  after: { position: string; id: string } | null,
  limit: number,
): Promise<DeliveryRow[]> {
  const page = (at: string, id: string) => tx`
    ${after ? tx`and (${tx(at)}, ${tx(id)}) < (${after.position}::text::timestamptz, ${after.id}::uuid)` : tx``}
    order by ${tx(at)} desc, ${tx(id)} desc
    limit ${limit}`
  return tx<DeliveryRow[]>`
    select ${entryColumns(tx)}, to_char(e.at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as position
    from (
      (
        select ${pendingColumns(tx)}, d.next_attempt_at as at
        from webhook_deliveries d
        where d.webhook_id = ${webhookId} and d.status = 'waiting' ${page('d.next_attempt_at', 'd.id')}
      )
      union all
      (
        select ${pendingColumns(tx)}, d.lease_until
        from webhook_deliveries d
        where d.webhook_id = ${webhookId} and d.status = 'sending' ${page('d.lease_until', 'd.id')}
      )
      union all
      (
        select d.place, d.id, d.id, d.webhook_id, d.status, d.attempt, 0, d.status_code, d.duration_ms, null, d.attempted_at, null,
          d.attempted_at
        from webhook_deliveries d
        where d.webhook_id = ${webhookId} and d.status = 'succeeded' ${page('d.attempted_at', 'd.id')}
      )
      union all
      (
        select a.place, a.id, a.delivery_id, a.webhook_id, a.status, a.attempt, a.attempts_left, a.status_code, a.duration_ms, a.error,
          a.attempted_at, null, a.attempted_at
        from webhook_attempts a
        where a.webhook_id = ${webhookId} ${page('a.attempted_at', 'a.id')}
      )
      order by at desc, id desc
      limit ${limit}
    ) e
    join webhook_payloads p on p.place = e.place
    order by e.at desc, e.id desc`
}

/** The entry of a delivery that was just queued. */
export async function readPending(tx: Transaction, id: string): Promise<DeliveryRow> {
  const [row] = await tx<DeliveryRow[]>`
    select ${entryColumns(tx)}, '' as position
    from (select ${pendingColumns(tx)} from webhook_deliveries d where d.id = ${id}) e
    join webhook_payloads p on p.place = e.place`
  return row!
}

const entryColumns = (tx: Transaction) => tx`
  e.id, e.delivery_id, e.webhook_id, p.event, e.status, e.attempt, e.attempts_left, e.status_code, e.duration_ms, e.error,
  p.payload, p.created_at, e.attempted_at, e.next_attempt_at`

const pendingColumns = (tx: Transaction) => tx`
  d.place, d.id, d.id as delivery_id, d.webhook_id, d.status, d.attempt + 1 as attempt,
  ${limits.webhooks.attempts} - d.attempt - 1 as attempts_left, null::integer as status_code, null::integer as duration_ms,
  null::text as error, null::timestamptz as attempted_at, d.next_attempt_at`

const cursorPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\|([^|]+)\|([^|]+)$/

export const cursorOf = (row: DeliveryRow) => `${row.position}|${row.id}|${row.webhook_id}`

/** @throws ServiceError `bad_request` for a cursor that is not from this webhook's log */
export function readCursor(cursor: string, webhookId: string): { position: string; id: string } {
  const [, position = '', id = '', webhook] = cursorPattern.exec(cursor) ?? []
  if (webhook !== webhookId || !uuidPattern.test(id) || Number.isNaN(Date.parse(position))) {
    throw badRequest('cursor must be next_cursor of a page of this list, unchanged.')
  }
  return { position, id }
}
