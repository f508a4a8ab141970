/** The section for connected applications: lists them with their scopes, and disconnects them. */
import { withOperation } from '../../sql/operation.ts'
import { disconnectApplication, ownClientId } from '../../sql/oauth/oauth-grants.ts'
import { scopes, type Scope } from '../../sql/accounts/tokens.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import type { OwnVisit } from '../sign-in/visit.ts'
import { actionPages, type ConfirmedAction } from './confirmed-action.ts'
import type { Section } from './section.ts'
import { rowAction, table } from './table.ts'
import { time } from './time.ts'

interface ApplicationRow {
  client_id: string
  client_name: string
  redirect_host: string
  scopes: Scope[]
  since: Date
  last_used_at: Date | null
}

export const applicationsSection: Section = {
  id: 'applications',
  title: 'Connected applications',
  show: showApplications,
  pages: (context) => actionPages(context, disconnecting),
}

/** Shows each application once, even if it was connected several times. The service's own app is left out. */
async function showApplications({ database }: SignInContext, { signedIn }: OwnVisit): Promise<Html> {
  const rows = await database.asUser(
    signedIn.userId,
    (tx) => tx<ApplicationRow[]>`
      select g.client_id, min(g.created_at) as since, max(t.last_used_at) as last_used_at,
        (array_agg(g.client_name order by g.created_at desc))[1] as client_name,
        string_agg(distinct g.redirect_host, ', ') as redirect_host,
        array(
          select distinct unnest(o.scopes)
          from oauth_grants o
          where o.user_id = ${signedIn.userId} and o.client_id = g.client_id and o.revoked_at is null and o.ends_at > now()
        ) as scopes
      from oauth_grants g
      left join lateral (
        select max(t.last_used_at) as last_used_at from tokens t where t.grant_id = g.id
      ) t on true
      where g.user_id = ${signedIn.userId} and g.client_id <> ${ownClientId} and g.revoked_at is null
        and g.ends_at > now()
      group by g.client_id
      order by since desc, g.client_id
      limit 500`,
  )
  return html`<p class="note">
      You have allowed these applications to act as you. Nobody has verified their names. When you disconnect
      one, its access ends at once.
    </p>
    ${rows.length === 0 ? html`<p>No application is connected.</p>` : applicationTable(rows)}`
}

const applicationTable = (rows: ApplicationRow[]) =>
  table(rows, [
    { head: 'Application', cell: (row) => row.client_name },
    { head: 'Redirects to', cell: (row) => row.redirect_host },
    { head: 'Scopes', cell: (row) => scopes.filter((scope) => row.scopes.includes(scope)).join(', ') },
    { head: 'Since', cell: (row) => time(row.since, '') },
    { head: 'Last used', cell: (row) => time(row.last_used_at, 'never') },
    { head: 'Action', cell: (row) => rowAction(disconnecting, row.client_id, row.client_name) },
  ])

const disconnecting: ConfirmedAction<{ client_name: string }> = {
  path: '/settings/applications/disconnect',
  back: () => '/settings#applications',
  field: 'client_id',
  label: 'Disconnect',
  isName: (clientId) => clientId !== '' && !clientId.includes('\0'),
  find: (tx, userId, clientId) => tx`
    select client_name from oauth_grants
    where user_id = ${userId} and client_id = ${clientId} and revoked_at is null and ends_at > now()
    order by created_at desc
    limit 1`,
  ask: ({ client_name }) => ({
    question: `Disconnect “${client_name}”?`,
    consequence: 'Its access to your account ends at once. To use it again, you must connect it again.',
    label: 'Disconnect',
  }),
  perform: ({ database }, { request, signedIn }, clientId) =>
    withOperation(formOperation(request, signedIn, 'application.disconnect', clientId.slice(0, 1000)), () =>
      database.asUser(signedIn.userId, (tx) => disconnectApplication(tx, clientId)),
    ),
}
