/** `/logout`: ends this session or all of the account. Canvases opened with them close within two seconds. */
import { recordFor } from '../../sql/requests/audit.ts'
import { endSession, endSessions } from '../../sql/accounts/sessions.ts'
import type { SignInContext } from './context.ts'
import { formOperation } from './operation.ts'
import type { PageRoute } from './visit.ts'

export function logoutPages({ database, sessions }: SignInContext): PageRoute[] {
  return [
    {
      method: 'POST',
      path: '/logout',
      needs: 'session',
      async handle({ request, form, reply, signedIn }) {
        const { userId, sessionId } = signedIn
        const isEverywhere = form.has('everywhere')
        await database.asSystem(async (tx) => {
          if (isEverywhere) await endSessions(tx, userId)
          else await endSession(tx, userId, sessionId)
          const operation = formOperation(
            request,
            signedIn,
            'session.delete',
            isEverywhere ? null : sessionId,
          )
          await recordFor(tx, userId, operation)
        })
        sessions.takeAway(reply)
        return { redirect: '/login' }
      },
    },
  ]
}
