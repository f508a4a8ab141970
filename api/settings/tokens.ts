/** The section for personal access tokens: creates, lists and revokes them. A new token is shown once. */
import { randomUUID } from 'node:crypto'
import { limits } from '../../core/limits.ts'
import { withOperation } from '../../sql/operation.ts'
import {
  makePersonalToken,
  revokePersonalToken,
  type NewPersonalToken,
} from '../../sql/accounts/personal-tokens.ts'
import { scopes, type Scope } from '../../sql/accounts/tokens.ts'
import { uuidPattern } from '../http/schemas.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import { ownPage, type OwnVisit, type VisitAnswer } from '../sign-in/visit.ts'
import { actionPages, type ConfirmedAction } from './confirmed-action.ts'
import type { Section, Settings } from './section.ts'
import { rowAction, table } from './table.ts'
import { time } from './time.ts'

interface TokenRow {
  id: string
  name: string
  prefix: string
  scopes: Scope[]
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
  expired: boolean
}

export const tokensSection: Section = {
  id: 'api',
  title: 'Access tokens',
  show: showTokens,
  pages: (context, settings) => [
    ownPage('POST', '/settings/tokens', (visit) => createToken(context, settings, visit)),
    ...actionPages(context, revoking),
  ],
}

async function createToken(
  { database }: SignInContext,
  settings: Settings,
  visit: OwnVisit,
): Promise<VisitAnswer> {
  const { request, signedIn } = visit
  const token = readToken(visit.form)
  if (typeof token === 'string')
    return settings.show(visit, {
      section: 'api',
      body: html`<p class="fault" role="alert">${token}</p>`,
      status: 422,
    })
  const operation = formOperation(request, signedIn, 'token.create', token.id)
  const value = await withOperation(operation, () =>
    database.asUser(signedIn.userId, (tx) => makePersonalToken(tx, token)),
  )
  if (value === null) return { redirect: '/settings#api' } // the form was sent twice
  return settings.show(visit, {
    section: 'api',
    body: html`<p role="status">This is the token “${token.name}”. Copy it now. It is not shown again.</p>
      <code class="secret">${value}</code>`,
  })
}

/** @returns the token to create, or an error message */
function readToken(form: URLSearchParams): NewPersonalToken | string {
  const id = form.get('id') ?? ''
  if (!uuidPattern.test(id)) return 'The form is incomplete. Reload the page and try again.'
  const name = (form.get('name') ?? '').trim()
  if (name === '' || Array.from(name).length > limits.name || name.includes('\0'))
    return `Name must have 1 to ${limits.name} characters.`
  const named = form.getAll('scopes')
  if (named.some((scope) => !scopes.some((known) => known === scope)))
    return `Scopes must be from ${scopes.join(', ')}.`
  const days = form.get('ttl_days')?.trim() ?? ''
  const ttlDays = days === '' ? null : /^\d{1,5}$/.test(days) ? Number(days) : 0
  if (ttlDays !== null && (ttlDays < 1 || ttlDays > limits.tokenLifetimeDays))
    return `Lifetime must be 1 to ${limits.tokenLifetimeDays} days. Leave it empty for a token that is valid until you revoke it.`
  return { id, name, ttlDays, scopes: scopes.filter((scope) => scope === 'read' || named.includes(scope)) }
}

async function showTokens({ database }: SignInContext, { signedIn, csrf }: OwnVisit): Promise<Html> {
  const rows = await database.asUser(
    signedIn.userId,
    (tx) => tx<TokenRow[]>`
      select id, name, prefix, scopes, created_at, expires_at, last_used_at, coalesce(expires_at <= now(), false) as expired
      from tokens
      where user_id = ${signedIn.userId} and revoked_at is null and grant_id is null
      order by created_at desc, id
      limit 500`,
  )
  return html`<p class="note">
      Personal access tokens let programs act as you. The <a href="/docs">API reference</a> lists what they
      can do. Times are UTC.
    </p>
    ${rows.length > 0 && tokenTable(rows)}
    <form class="fields" method="post" action="/settings/tokens">
      ${csrf}<input type="hidden" name="id" value="${randomUUID()}" />
      <label
        >Name <input name="name" required maxlength="${limits.name}" placeholder="What you use the token for"
      /></label>
      <fieldset>
        <legend>The token can read. It can also:</legend>
        <label class="choice"
          ><input type="checkbox" name="scopes" value="write" /> write: create and change</label
        >
        <label class="choice"
          ><input type="checkbox" name="scopes" value="delete" /> delete boards and cards</label
        >
      </fieldset>
      <label>
        Lifetime in days (empty: until you revoke it)
        <input name="ttl_days" type="number" min="1" max="${limits.tokenLifetimeDays}" />
      </label>
      <button>Create token</button>
    </form>`
}

const tokenTable = (rows: TokenRow[]) =>
  table(rows, [
    { head: 'Name', cell: (row) => row.name },
    { head: 'Token', cell: (row) => html`<code>${row.prefix}…</code>` },
    {
      head: 'Scopes',
      cell: (row) => scopes.filter((scope) => scope === 'read' || row.scopes.includes(scope)).join(', '),
    },
    { head: 'Created', cell: (row) => time(row.created_at, '') },
    { head: 'Last used', cell: (row) => time(row.last_used_at, 'never') },
    { head: 'Expires', cell: (row) => (row.expired ? 'expired' : time(row.expires_at, 'never')) },
    { head: 'Action', cell: (row) => rowAction(revoking, row.id, `the token ${row.name}`) },
  ])

const revoking: ConfirmedAction<{ name: string }> = {
  path: '/settings/tokens/revoke',
  back: () => '/settings#api',
  field: 'id',
  label: 'Revoke',
  isName: (id) => uuidPattern.test(id),
  find: (tx, userId, id) => tx`
    select name from tokens
    where id = ${id} and user_id = ${userId} and revoked_at is null and grant_id is null`,
  ask: ({ name }) => ({
    question: `Revoke the token “${name}”?`,
    consequence: 'Programs that use it lose access at once. A revoked token cannot be restored.',
    label: 'Revoke token',
  }),
  perform: ({ database }, { request, signedIn }, id) =>
    withOperation(formOperation(request, signedIn, 'token.delete', id.toLowerCase()), () =>
      database.asUser(signedIn.userId, (tx) => revokePersonalToken(tx, id)),
    ),
}
