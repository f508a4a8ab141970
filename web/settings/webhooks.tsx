/** The webhooks of a workspace: makes them, changes them, tests them, and shows what was delivered. */
import { useState, type ReactNode } from 'react'
import { Shown } from '../controls/loading.tsx'
import { Once } from '../controls/once.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { readAll, request } from '../service/request.ts'
import { fieldsOf, WebhookForm } from './webhook-form.tsx'
import { WebhookRow } from './webhook-row.tsx'

export function Webhooks({ workspaceId }: { workspaceId: string }): ReactNode {
  const query = { workspace: workspaceId }
  const webhooks = useLoaded(workspaceId, () => readAll('GET /webhooks', { query }))
  const [isOpen, setOpen] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const create = async (values: FormData) => {
    const body = { workspace_id: workspaceId, ...fieldsOf(values) }
    const made = await request('POST /webhooks', { body })
    setSecret(made.secret)
    setOpen(false)
    await webhooks.reload()
  }
  return (
    <>
      <p>
        A webhook is an address of yours that gets each event as a signed request.{' '}
        <a href="/docs" target="_blank" rel="noopener">
          API reference
        </a>
      </p>
      {secret !== null && (
        <Once label="Secret" value={secret} close={() => setSecret(null)}>
          Copy the secret now: it is not shown again. Verify the signature of each delivery with it.
        </Once>
      )}
      {isOpen ? (
        <WebhookForm
          label="New webhook"
          submit="Create webhook"
          send={create}
          cancel={() => setOpen(false)}
        />
      ) : (
        <button type="button" className="main" onClick={() => setOpen(true)}>
          New webhook
        </button>
      )}
      <Shown of={webhooks}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="quiet">There is no webhook yet.</p>
          ) : (
            <ul className="rows" aria-label="Webhooks">
              {rows.map((webhook) => (
                <WebhookRow
                  key={webhook.id}
                  {...{ webhook, reload: webhooks.reload, showSecret: setSecret }}
                />
              ))}
            </ul>
          )
        }
      </Shown>
    </>
  )
}
