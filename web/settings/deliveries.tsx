/** The delivery log of a webhook: each attempt, and what waits. */
import { useEffect, useState, type ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import { useAction } from '../controls/ask.tsx'
import { count } from '../controls/count.ts'
import { Failed, More } from '../controls/loading.tsx'
import { usePages } from '../controls/use-pages.ts'
import { When } from '../controls/when.tsx'
import { request } from '../service/request.ts'

type Delivery = Row<'GET /webhooks/{id}/deliveries'>

interface DeliveriesProps {
  webhookId: string
  name: string
  /** Whether a delivery was just queued. Its outcome is waited for. */
  isNews: boolean
}

const lookEveryMs = 700
const mostLooks = 20
const pageSize = 20

export function Deliveries({ webhookId, name, isNews }: DeliveriesProps): ReactNode {
  const path = { id: webhookId }
  const pages = usePages(webhookId, async (cursor) => {
    const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }
    const page = await request('GET /webhooks/{id}/deliveries', { path, query })
    return { rows: page.deliveries, next: page.next_cursor }
  })
  const { rows, fault, reload } = pages
  const [looks, setLooks] = useState(isNews ? mostLooks : 0)
  const isPending = rows?.some(({ status }) => status === 'waiting' || status === 'sending') ?? true
  useEffect(() => {
    if (looks === 0 || !isPending) return
    const timer = setTimeout(() => void reload().then(() => setLooks(looks - 1)), lookEveryMs)
    return () => clearTimeout(timer)
  }, [looks, isPending, reload])
  const again = async (id: string) => {
    await request('POST /webhooks/{id}/deliveries/{deliveryId}/redeliver', {
      path: { ...path, deliveryId: id },
    })
    await reload()
    setLooks(mostLooks)
  }
  return (
    <div className="within">
      {fault !== null && <Failed fault={fault} again={reload} />}
      {rows === null && fault === null && <p role="status">Loading…</p>}
      {rows?.length === 0 && <p className="quiet">Nothing was delivered in the last 30 days. Test it.</p>}
      {rows !== null && rows.length > 0 && (
        <>
          <button type="button" className="plain" onClick={() => void reload()}>
            Look again
          </button>
          <ul className="rows" aria-label={`Deliveries of ${name}`}>
            {rows.map((delivery) => (
              <DeliveryRow key={delivery.id} {...{ delivery, again }} />
            ))}
          </ul>
        </>
      )}
      <More of={pages} label="Show older deliveries" />
    </div>
  )
}

const states: Record<Delivery['status'], { says: string; look: string }> = {
  waiting: { says: 'Waiting', look: 'tag' },
  sending: { says: 'Sending', look: 'tag' },
  succeeded: { says: 'Delivered', look: 'tag good' },
  failed: { says: 'Failed', look: 'tag bad' },
  given_up: { says: 'Given up', look: 'tag bad' },
}

interface DeliveryRowProps {
  delivery: Delivery
  again(id: string): Promise<void>
}

function DeliveryRow({ delivery, again }: DeliveryRowProps): ReactNode {
  const { status, event, attempt, attempts_left: left, status_code: code, duration_ms: ms, error } = delivery
  const { run, isBusy, fault } = useAction()
  const { says, look } = states[status]
  const isPending = status === 'waiting' || status === 'sending'
  const told = [
    `attempt ${attempt}`,
    ...(code === null || error !== null ? [] : [`answered ${code}`]),
    ...(ms === null ? [] : [`${ms} ms`]),
    ...(status === 'failed' ? [`${count(left, 'attempt')} left`] : []),
  ]
  return (
    <li>
      <div className="person">
        <span>
          <span className={look}>{says}</span> <code>{event}</code>
        </span>
        <span className="quiet">
          <When at={delivery.attempted_at ?? delivery.next_attempt_at ?? delivery.created_at} as="exact" />,{' '}
          {told.join(', ')}
        </span>
        {error !== null && <span className="fault">{error}</span>}
        <details>
          <summary>What was sent</summary>
          <pre tabIndex={0}>{readable(delivery.payload)}</pre>
        </details>
        {fault !== null && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
      </div>
      {!isPending && (
        <button
          type="button"
          className="plain"
          disabled={isBusy}
          onClick={() => void run(() => again(delivery.delivery_id))}
        >
          Send again<span className="hidden"> {event}</span>
        </button>
      )}
    </li>
  )
}

const readable = (json: string) => JSON.stringify(JSON.parse(json), null, 2)
