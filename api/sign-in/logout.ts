/** `/logout`, here or everywhere; open canvases of what ends are closed within two seconds. */
import { endSession, endSessions } from '../../sql/sessions.ts'
import type { SignInContext } from './context.ts'
import type { PageRoute } from './visit.ts'

export function logoutPages({ database, sessions }: SignInContext): PageRoute[] {
  return [
    {
      method: 'POST',
      path: '/logout',
      needs: 'session',
      async handle({ form, reply, signedIn: { userId, sessionId } }) {
        await database.asSystem(async (tx) => {
          if (form.has('everywhere')) await endSessions(tx, userId)
          else await endSession(tx, userId, sessionId)
        })
        sessions.takeAway(reply)
        return { redirect: '/login' }
      },
    },
  ]
}
