/** The section for sessions: lists the browsers in which the account is signed in, and signs them out. */
import { recordFor } from '../../sql/requests/audit.ts'
import { endSession } from '../../sql/accounts/sessions.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import type { OwnVisit, VisitAnswer } from '../sign-in/visit.ts'
import { uuidPattern } from '../http/schemas.ts'
import { browserName } from './browser-name.ts'
import { confirmationPage } from './confirmation.ts'
import type { Section } from './section.ts'
import { rowAction, table, type RowAction } from './table.ts'
import { time } from './time.ts'

interface SessionRow {
  id: string
  created_at: Date
  last_seen_at: Date
  ip: string
  user_agent: string | null
}

export const sessionsSection: Section = {
  id: 'sessions',
  title: 'Sessions',
  show: showSessions,
  pages: (context) => [
    {
      method: 'GET',
      path: ending.path,
      needs: 'session',
      handle: (visit) => askToEnd(context, visit),
    },
    { method: 'GET', path: endingAll, needs: 'session', handle: ({ csrf }) => askToEndAll(csrf) },
    {
      method: 'POST',
      path: ending.path,
      needs: 'session',
      async handle({ request, form, signedIn }) {
        const id = form.get('id') ?? ''
        const operation = formOperation(request, signedIn, {
          action: 'session.delete',
          named: { type: 'session', ids: [id.toLowerCase()] },
        })
        if (uuidPattern.test(id))
          await context.database.asSystem(async (tx) => {
            if (await endSession(tx, signedIn.userId, id)) await recordFor(tx, signedIn.userId, operation)
          })
        return { redirect: '/settings#sessions' }
      },
    },
  ],
}

async function askToEnd(
  { database }: SignInContext,
  { query, csrf, signedIn }: OwnVisit,
): Promise<VisitAnswer> {
  const id = query.get('id') ?? ''
  if (!uuidPattern.test(id)) return { redirect: '/settings#sessions' }
  const [session] = await database.asUser(
    signedIn.userId,
    (tx) => tx<Pick<SessionRow, 'ip' | 'user_agent'>[]>`
      select ip, user_agent from sessions
      where id = ${id} and user_id = ${signedIn.userId} and expires_at > now()`,
  )
  if (!session) return { redirect: '/settings#sessions' }
  const confirmation = {
    question: `End the session in ${browserName(session.user_agent)}?`,
    consequence: `The browser at ${session.ip} is signed out, and its open canvases close.`,
    ...{ action: ending.path, fields: { id }, label: 'End session', section: 'sessions' },
  }
  return confirmationPage(confirmation, csrf)
}

const askToEndAll = (csrf: Html): VisitAnswer => {
  const confirmation = {
    question: 'Log out everywhere?',
    consequence:
      'All sessions of this account end, including this one. Access tokens stay valid until they are revoked.',
    ...{ action: '/logout', fields: { everywhere: '1' }, label: 'Log out everywhere', section: 'sessions' },
  }
  return confirmationPage(confirmation, csrf)
}

async function showSessions({ database }: SignInContext, { signedIn }: OwnVisit): Promise<Html> {
  const rows = await database.asUser(
    signedIn.userId,
    (tx) => tx<SessionRow[]>`
      select id, created_at, last_seen_at, ip, user_agent
      from sessions
      where user_id = ${signedIn.userId} and expires_at > now()
      order by last_seen_at desc, id
      limit 100`,
  )
  return html`<p class="note">This account is signed in with these browsers. Times are UTC.</p>
    ${sessionTable(rows, signedIn.sessionId)}
    <p class="actions"><a class="button bad" href="${endingAll}">Log out everywhere</a></p>`
}

const sessionTable = (rows: SessionRow[], own: string) =>
  table(rows, [
    { head: 'Browser', cell: (row) => browserName(row.user_agent) },
    { head: 'Address', cell: (row) => row.ip },
    { head: 'Since', cell: (row) => time(row.created_at, '') },
    { head: 'Last used', cell: (row) => time(row.last_seen_at, '') },
    {
      head: 'Action',
      cell: (row) =>
        row.id === own
          ? 'this browser'
          : rowAction(ending, row.id, `the session in ${browserName(row.user_agent)} at ${row.ip}`),
    },
  ])

const ending: RowAction = { path: '/settings/sessions/end', field: 'id', label: 'End' }
const endingAll = '/settings/sessions/end-all'
