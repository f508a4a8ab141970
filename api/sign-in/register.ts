/** The pages for people, outside of the API. */
import type { FastifyInstance } from 'fastify'
import { settingsPages } from '../settings/settings.ts'
import type { SignInContext } from './context.ts'
import { linkPages } from './link.ts'
import { loginPages } from './login.ts'
import { logoutPages } from './logout.ts'
import { registerPages } from './pages.ts'

export async function registerSignIn(app: FastifyInstance, context: SignInContext): Promise<void> {
  await registerPages(app, context, [
    ...loginPages(context),
    ...linkPages(context),
    ...logoutPages(context),
    ...settingsPages(context),
  ])
}
