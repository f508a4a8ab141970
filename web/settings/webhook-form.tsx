/** The fields of a webhook. */
import type { ReactNode } from 'react'
import type { Row, WebhookEvent } from '../../client/operations.ts'
import { FaultOf, Field, Form, written } from '../controls/form.tsx'

export type Webhook = Row<'GET /webhooks'>

const events: Record<Exclude<WebhookEvent['type'], 'webhook.test'>, string> = {
  'board.created': 'A board was created',
  'board.updated': 'A board’s name, view or parent changed',
  'board.deleted': 'A board went into the trash',
  'board.restored': 'A board came back from the trash',
  'card.created': 'Cards were added',
  'card.updated': 'Cards were changed',
  'card.deleted': 'Cards were removed',
  'card.moved': 'Cards came from another board',
  'image.created': 'A file was uploaded',
}

interface WebhookFormProps {
  label: string
  submit: string
  send(values: FormData): Promise<unknown>
  cancel(): void
  /** What it is now. Absent for a new one. */
  of?: Webhook
}

export function WebhookForm({ of, ...form }: WebhookFormProps): ReactNode {
  const isChosen = (name: string) => !of || of.events.includes('*') || of.events.includes(name)
  return (
    <Form {...form}>
      <Field
        label="Address"
        name="url"
        type="url"
        placeholder="https://"
        defaultValue={of?.url}
        note="A public address that begins with https."
        required
        autoFocus
      />
      <Field label="Name, for you" name="name" maxLength={200} defaultValue={of?.name} />
      <fieldset>
        <legend>Events</legend>
        {Object.entries(events).map(([name, says]) => (
          <label key={name} className="inline">
            <input type="checkbox" name="events" value={name} defaultChecked={isChosen(name)} /> {says}
          </label>
        ))}
        <p className="quiet">With all of them, events that a later version adds come as well.</p>
        <FaultOf name="events" />
      </fieldset>
    </Form>
  )
}

export function fieldsOf(values: FormData) {
  const chosen = values.getAll('events') as string[]
  if (chosen.length === 0) throw new Error('events: choose at least one.')
  return {
    url: written(values, 'url') ?? '',
    name: written(values, 'name') ?? '',
    events: chosen.length === Object.keys(events).length ? ['*'] : chosen,
  }
}
