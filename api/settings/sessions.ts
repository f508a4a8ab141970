/** The section for sessions: lists the browsers in which the account is signed in, and signs them out. */
import { recordFor } from '../../sql/requests/audit.ts'
import { endSession } from '../../sql/accounts/sessions.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import { ownPage, type OwnVisit, type VisitAnswer } from '../sign-in/visit.ts'
import { uuidPattern } from '../http/schemas.ts'
import { browserName } from './browser-name.ts'
import { confirmationPage } from './confirmation.ts'
import { actionPages, type ConfirmedAction } from './confirmed-action.ts'
import type { Section } from './section.ts'
import { rowAction, table } from './table.ts'
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
    ...actionPages(context, ending),
    ownPage('GET', endingAll, ({ csrf }) => askToEndAll(csrf)),
  ],
}

const askToEndAll = (csrf: Html): VisitAnswer => {
  const confirmation = {
    question: 'Log out everywhere?',
    consequence:
      'All sessions of this account end, including this one. Access tokens stay valid until they are revoked.',
    ...{
      action: '/logout',
      fields: { everywhere: '1' },
      label: 'Log out everywhere',
      back: '/settings#sessions',
    },
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

const ending: ConfirmedAction<Pick<SessionRow, 'ip' | 'user_agent'>> = {
  path: '/settings/sessions/end',
  back: () => '/settings#sessions',
  field: 'id',
  label: 'End',
  isName: (id) => uuidPattern.test(id),
  find: (tx, userId, id) => tx`
    select ip, user_agent from sessions
    where id = ${id} and user_id = ${userId} and expires_at > now()`,
  ask: ({ ip, user_agent }) => ({
    question: `End the session in ${browserName(user_agent)}?`,
    consequence: `The browser at ${ip} is signed out, and its open canvases close.`,
    label: 'End session',
  }),
  async perform({ database }, { request, signedIn: account }, id) {
    const operation = formOperation(request, account, 'session.delete', id.toLowerCase())
    await database.asSystem(async (tx) => {
      if (await endSession(tx, account.userId, id)) await recordFor(tx, account.userId, operation)
    })
  },
}
const endingAll = '/settings/sessions/end-all'
