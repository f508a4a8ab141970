/** One webhook: what it is, and everything that one can do with it. */
import { useState, type ReactNode } from 'react'
import { Ask, useAction } from '../controls/ask.tsx'
import { count } from '../controls/count.ts'
import { When } from '../controls/when.tsx'
import { ignoreGone, request } from '../service/request.ts'
import { Deliveries } from './deliveries.tsx'
import { fieldsOf, WebhookForm, type Webhook } from './webhook-form.tsx'

interface WebhookRowProps {
  webhook: Webhook
  reload(): Promise<void>
  showSecret(secret: string): void
}

type Open = 'log' | 'form' | null

export function WebhookRow({ webhook, reload, showSecret }: WebhookRowProps): ReactNode {
  const [open, setOpen] = useState<Open>(null)
  /** Grows with each test, so that the log shows it. */
  const [tests, setTests] = useState(0)
  const { run, isBusy, fault } = useAction()
  const name = webhook.name || webhook.url
  const path = { id: webhook.id }
  const change = async (body: Partial<Pick<Webhook, 'url' | 'name' | 'events' | 'active'>>) => {
    await request('PATCH /webhooks/{id}', { path, body })
    await reload()
  }
  const test = async () => {
    await request('POST /webhooks/{id}/test', { path })
    setTests(tests + 1)
    setOpen('log')
  }
  return (
    <li className="webhook">
      <Facts of={webhook} />
      <div className="button-row">
        <button type="button" className="plain" disabled={isBusy} onClick={() => void run(test)}>
          Test<span className="hidden"> {name}</span>
        </button>
        <Toggle
          name={name}
          says="Deliveries"
          isOpen={open === 'log'}
          set={(on) => setOpen(on ? 'log' : null)}
        />
        <Toggle name={name} says="Edit" isOpen={open === 'form'} set={(on) => setOpen(on ? 'form' : null)} />
        <button
          type="button"
          className="plain"
          disabled={isBusy}
          onClick={() => void run(() => change({ active: !webhook.active }))}
        >
          {webhook.active ? 'Switch off' : 'Switch on'}
          <span className="hidden"> {name}</span>
        </button>
        <Endings {...{ path, name, reload, showSecret }} />
      </div>
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      {open === 'form' && (
        <WebhookForm
          of={webhook}
          label={`Edit ${name}`}
          submit="Save"
          cancel={() => setOpen(null)}
          send={(values) => change(fieldsOf(values)).then(() => setOpen(null))}
        />
      )}
      {open === 'log' && <Deliveries key={tests} webhookId={webhook.id} name={name} isNews={tests > 0} />}
    </li>
  )
}

function Facts({ of }: { of: Webhook }): ReactNode {
  const { url, events, active, disabled_reason: reason, previous_secret_valid_until: until } = of
  return (
    <div className="person">
      <strong>{of.name || url}</strong>
      {of.name !== '' && <span className="quiet">{url}</span>}
      <span className="quiet">
        {events.includes('*') ? 'All events' : count(events.length, 'event')}
        {until !== undefined && ', the previous secret is valid until '}
        {until !== undefined && <When at={until} />}
      </span>
      {!active && <span className="fault">Switched off{reason === undefined ? '.' : `: ${reason}`}</span>}
    </div>
  )
}

type EndingsProps = Omit<WebhookRowProps, 'webhook'> & { path: { id: string }; name: string }

/** What can't be taken back. */
const Endings = ({ path, name, reload, showSecret }: EndingsProps): ReactNode => (
  <>
    <Ask
      label="New secret"
      name={`New secret for ${name}`}
      question="Make a new secret? Deliveries are signed with both for a day."
      confirm="Make it"
      act={async () => {
        showSecret((await request('POST /webhooks/{id}/rotate-secret', { path })).secret)
        await reload()
      }}
    />
    <Ask
      label="Delete"
      name={`Delete ${name}`}
      question="Delete this webhook, with what waits to be delivered and its log?"
      confirm="Delete"
      act={async () => {
        await request('DELETE /webhooks/{id}', { path }).catch(ignoreGone)
        await reload()
      }}
    />
  </>
)

interface ToggleProps {
  name: string
  says: string
  isOpen: boolean
  set(isOpen: boolean): void
}

const Toggle = ({ name, says, isOpen, set }: ToggleProps): ReactNode => (
  <button type="button" className="plain" aria-expanded={isOpen} onClick={() => set(!isOpen)}>
    {says}
    <span className="hidden"> of {name}</span>
  </button>
)
