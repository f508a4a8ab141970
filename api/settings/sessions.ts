/** The browsers in which the account is signed in. */
import { recordFor } from '../../sql/audit.ts'
import { endSession } from '../../sql/sessions.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import type { OwnVisit } from '../sign-in/visit.ts'
import { uuidPattern } from '../schemas.ts'
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

async function showSessions({ database }: SignInContext, { signedIn, csrf }: OwnVisit): Promise<Html> {
  const rows = await database.asUser(
    signedIn.userId,
    (tx) => tx<SessionRow[]>`
      select id, created_at, last_seen_at, ip, user_agent
      from sessions
      where user_id = ${signedIn.userId} and expires_at > now()
      order by last_seen_at desc, id
      limit 100`,
  )
  return html`<p class="note">Where this account is signed in; times are UTC.</p>
    ${sessionTable(rows, signedIn.sessionId, csrf)}
    <form method="post" action="/logout">
      ${csrf}<input type="hidden" name="everywhere" value="1" />
      <p><button class="bad">Log out everywhere</button></p>
      <p class="note">Ends all of these, this one too. Access tokens go on until they are revoked.</p>
    </form>`
}

const sessionTable = (rows: SessionRow[], own: string, csrf: Html) =>
  table(rows, [
    { head: 'Browser', cell: (row) => row.user_agent ?? 'unknown' },
    { head: 'Address', cell: (row) => row.ip },
    { head: 'Since', cell: (row) => time(row.created_at, '') },
    { head: 'Last used', cell: (row) => time(row.last_seen_at, '') },
    { head: '', cell: (row) => (row.id === own ? 'this one' : rowAction(ending, csrf, row.id)) },
  ])

const ending: RowAction = { path: '/settings/sessions/end', field: 'id', label: 'End', look: 'plain' }
