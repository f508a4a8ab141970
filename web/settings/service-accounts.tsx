/** The service accounts of a workspace, for programs that work without a person. */
import { useState, type ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import { Ask } from '../controls/ask.tsx'
import { Check, Choice, Field, Form, written } from '../controls/form.tsx'
import { Shown } from '../controls/loading.tsx'
import { Once } from '../controls/once.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { When } from '../controls/when.tsx'
import { ignoreGone, readAll, request } from '../service/request.ts'

type Account = Row<'GET /service-accounts'>
type Token = Row<'GET /service-accounts/{id}/tokens'>

export function ServiceAccounts({ workspaceId }: { workspaceId: string }): ReactNode {
  const query = { workspace: workspaceId }
  const accounts = useLoaded(workspaceId, () => readAll('GET /service-accounts', { query }))
  const [secret, setSecret] = useState<string | null>(null)
  const create = async (values: FormData) => {
    const body = { workspace_id: workspaceId, name: written(values, 'name') ?? '', ...tokenOf(values) }
    const made = await request('POST /service-accounts', { body })
    setSecret(made.access_token)
    await accounts.reload()
  }
  return (
    <>
      <p>
        A service account is an editor of this workspace with tokens of its own. It stays when people leave.
      </p>
      {secret === null ? (
        <Form label="New service account" submit="Create account" send={create}>
          <Field label="Name" name="name" maxLength={200} placeholder="Such as: importer" required />
          <TokenFields />
        </Form>
      ) : (
        <Secret value={secret} close={() => setSecret(null)} />
      )}
      <Shown of={accounts}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="quiet">There is no service account yet.</p>
          ) : (
            <ul className="rows" aria-label="Service accounts">
              {rows.map((account) => (
                <AccountRow key={account.id} {...{ account, reload: accounts.reload }} />
              ))}
            </ul>
          )
        }
      </Shown>
    </>
  )
}

const Secret = ({ value, close }: { value: string; close(): void }): ReactNode => (
  <Once label="Token" value={value} close={close}>
    Copy the token now. It is not shown again.
  </Once>
)

const lifetimes = { '30': '30 days', '90': '90 days', '365': 'A year', '': 'Until it is revoked' }

const TokenFields = (): ReactNode => (
  <>
    <Check label="May change boards" name="write" defaultChecked />
    <Check label="May delete boards and cards" name="delete" />
    <Choice label="The token is valid for" name="ttl_days" options={lifetimes} defaultValue="90" />
  </>
)

function tokenOf(values: FormData) {
  const days = written(values, 'ttl_days')
  const scopes = (['write', 'delete'] as const).filter((scope) => values.has(scope))
  return { scopes: ['read' as const, ...scopes], ...(days === undefined ? {} : { ttl_days: Number(days) }) }
}

interface AccountRowProps {
  account: Account
  reload(): Promise<void>
}

function AccountRow({
  account: { id, name, retired_at: retired, ...account },
  reload,
}: AccountRowProps): ReactNode {
  const [isOpen, setOpen] = useState(false)
  if (retired !== null)
    return (
      <li className="ended">
        <strong>{name}</strong>
        <span className="quiet">
          Retired on <When at={retired} as="date" />
        </span>
      </li>
    )
  return (
    <li>
      <div className="person">
        <strong>{name}</strong>
        <span className="quiet">
          Since <When at={account.created_at} as="date" />
        </span>
      </div>
      <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Tokens<span className="hidden"> of {name}</span>
      </button>
      <Ask
        label="Retire"
        name={`Retire ${name}`}
        question={`Retire ${name}? All of its tokens end at once.`}
        confirm="Retire"
        act={async () => {
          await request('DELETE /service-accounts/{id}', { path: { id } }).catch(ignoreGone)
          await reload()
        }}
      />
      {isOpen && <Tokens accountId={id} name={name} />}
    </li>
  )
}

function Tokens({ accountId, name }: { accountId: string; name: string }): ReactNode {
  const path = { id: accountId }
  const tokens = useLoaded(accountId, () => readAll('GET /service-accounts/{id}/tokens', { path }))
  const [secret, setSecret] = useState<string | null>(null)
  const mint = async (values: FormData) => {
    const made = await request('POST /service-accounts/{id}/tokens', { path, body: tokenOf(values) })
    setSecret(made.access_token)
    await tokens.reload()
  }
  return (
    <div className="within">
      <Shown of={tokens}>
        {(rows) => (
          <ul className="rows" aria-label={`Tokens of ${name}`}>
            {rows
              .filter((token) => token.revoked_at === null)
              .map((token) => (
                <TokenRow key={token.id} {...{ accountId, token, reload: tokens.reload }} />
              ))}
          </ul>
        )}
      </Shown>
      {secret === null ? (
        <Form label={`New token of ${name}`} submit="Make another token" send={mint}>
          <TokenFields />
        </Form>
      ) : (
        <Secret value={secret} close={() => setSecret(null)} />
      )}
    </div>
  )
}

interface TokenRowProps {
  accountId: string
  token: Token
  reload(): Promise<void>
}

function TokenRow({ accountId, token, reload }: TokenRowProps): ReactNode {
  const { id, prefix, scopes, expires_at: end, last_used_at: used } = token
  return (
    <li>
      <div className="person">
        <code>{prefix}…</code>
        <span className="quiet">{scopes.join(', ')}</span>
      </div>
      <span className="quiet">
        {used === null ? 'Never used' : 'Used '}
        {used !== null && <When at={used} />}
        {end !== null && ', valid until '}
        {end !== null && <When at={end} as="date" />}
      </span>
      <Ask
        label="Revoke"
        name={`Revoke ${prefix}`}
        question="Revoke this token? Programs that use it are refused at once."
        confirm="Revoke"
        act={async () => {
          await request('DELETE /service-accounts/{id}/tokens/{tokenId}', {
            path: { id: accountId, tokenId: id },
          }).catch(ignoreGone)
          await reload()
        }}
      />
    </li>
  )
}
