/** `/logout`: ends this session or all of the account. Canvases opened with them close within two seconds. */
import { recordFor } from '../../sql/requests/audit.ts'
import { endSession, endSessions } from '../../sql/accounts/sessions.ts'
import type { SignInContext } from './context.ts'
import { formOperation } from './operation.ts'
import { ownPage, type PageRoute } from './visit.ts'

export function logoutPages({ database, sessions }: SignInContext): PageRoute[] {
  return [
    ownPage('POST', '/logout', async ({ request, form, reply, signedIn }) => {
      const { userId, sessionId } = signedIn
      const ended = form.has('everywhere') ? null : sessionId
      await database.asSystem(async (tx) => {
        if (ended === null) await endSessions(tx, userId)
        else await endSession(tx, userId, ended)
        await recordFor(tx, userId, formOperation(request, signedIn, 'session.delete', ended))
      })
      sessions.takeAway(reply)
      // The app keeps boards in the browser.
      void reply.header('clear-site-data', '"storage"')
      return { redirect: '/login' }
    }),
  ]
}
