/** Registers the pages for sign-in and settings. */
import type { FastifyInstance } from 'fastify'
import { settingsPages } from './settings.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { invitationPages } from '../sign-in/invitation.ts'
import { linkPages } from '../sign-in/link.ts'
import { loginPages } from '../sign-in/login.ts'
import { logoutPages } from '../sign-in/logout.ts'
import { registerPages } from '../sign-in/pages.ts'

export async function registerSignIn(app: FastifyInstance, context: SignInContext): Promise<void> {
  await registerPages(app, context, [
    ...loginPages(context),
    ...linkPages(context),
    ...invitationPages(context),
    ...logoutPages(context),
    ...settingsPages(context),
  ])
}
