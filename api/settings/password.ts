/** Changes the password. It requires the current one, and ends all other sessions. */
import { passwordFault } from '../../core/password.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { findPassword, holdPassword, setPassword } from '../../sql/accounts/passwords.ts'
import { checkPassword, ofAccount } from '../sign-in/attempts.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import { newPasswordField } from '../sign-in/password-field.ts'
import { begin, letIn } from '../sign-in/start.ts'
import { ownPage, type OwnVisit, type VisitAnswer } from '../sign-in/visit.ts'
import type { Section, Settings } from './section.ts'

const afterwards = '/settings?changed=password#password'

export const passwordSection: Section = {
  id: 'password',
  title: 'Password',
  show: (_context, { csrf, query }) =>
    Promise.resolve(passwordForm(csrf, query.get('changed') === 'password')),
  pages: (context, settings) => [
    ownPage('POST', '/settings/password', (visit) => changePassword(context, settings, visit)),
  ],
}

async function changePassword(
  context: SignInContext,
  settings: Settings,
  visit: OwnVisit,
): Promise<VisitAnswer> {
  const { database, passwords } = context
  const { request, reply, form, signedIn } = visit
  const { userId, sessionId } = signedIn
  const refuse = (fault: string) =>
    settings.show(visit, {
      section: 'password',
      body: html`<p class="fault" role="alert">${fault}</p>`,
      status: 422,
    })
  const wanted = form.get('new') ?? ''
  const fault = passwordFault(wanted)
  if (fault !== null) return refuse(fault)
  // Somebody at an unlocked computer can guess no faster than at /login. The limit is the session's, so they lock nobody out.
  const allowances = [{ name: `session ${sessionId}`, ...ofAccount }]
  const known = await database.asSystem((tx) => findPassword(tx, { userId }))
  const phc = known?.phc ?? null
  const { isRight } = await checkPassword(context, reply, {
    password: form.get('current') ?? '',
    phc,
    allowances,
  })
  if (!isRight || phc === null) return refuse('The current password is wrong.')
  const hashed = await passwords.hash(wanted)
  const secret = await database.asSystem(async (tx) => {
    if (!(await holdPassword(tx, userId, phc))) return null
    await setPassword(tx, userId, hashed)
    const operation = formOperation(request, signedIn, 'password.update', null)
    await recordFor(tx, userId, operation)
    return begin(context, tx, request, signedIn)
  })
  if (secret === null) return refuse('The current password is wrong.')
  letIn(context, visit, userId, secret)
  return { redirect: afterwards }
}

const passwordForm = (csrf: Html, isChanged: boolean) =>
  html`${isChanged && html`<p role="status">The password is changed. All other sessions have ended.</p>`}
    <form class="fields" method="post" action="/settings/password">
      ${csrf}
      <label
        >Current password
        <input name="current" type="password" autocomplete="current-password" required maxlength="4000"
      /></label>
      ${newPasswordField('new')}
      <button>Change password</button>
      <p class="note">
        Changing the password ends all other sessions. It closes all open canvases, also in this browser.
      </p>
    </form>`
