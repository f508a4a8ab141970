/**
 * `/login/link`: a one-time link, which the command line makes. Opening it only shows a form, because mail scanners and
 * previews open links before people do. Sending the form sets the password and signs in.
 */
import { passwordFault } from '../../core/password.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { setPassword } from '../../sql/accounts/passwords.ts'
import { findLink, takeLink } from '../../sql/accounts/sign-in-links.ts'
import type { SignInContext } from './context.ts'
import { html, type Html } from './html.ts'
import { formOperation } from './operation.ts'
import { newPasswordField } from './password-field.ts'
import { begin, letIn } from './start.ts'
import { openPage, type OpenVisit, type PageRoute, type VisitAnswer } from './visit.ts'

export const linkPath = '/login/link'

export function linkPages(context: SignInContext): PageRoute[] {
  return [
    openPage('GET', linkPath, async ({ query, csrf }) => {
      const code = query.get('code') ?? ''
      const link = await context.database.asSystem((tx) => findLink(tx, code))
      return link ? linkForm({ csrf, code, email: link.email }) : noLink
    }),
    openPage('POST', linkPath, (visit) => follow(context, visit)),
  ]
}

async function follow(context: SignInContext, visit: OpenVisit): Promise<VisitAnswer> {
  const { database, passwords } = context
  const { request, form, csrf } = visit
  const code = form.get('code') ?? ''
  const link = await database.asSystem((tx) => findLink(tx, code))
  if (!link) return noLink
  const password = form.get('password') ?? ''
  const fault = passwordFault(password)
  if (fault !== null) return { ...linkForm({ csrf, code, email: link.email, fault }), status: 422 }
  const phc = await passwords.hash(password)
  const begun = await database.asSystem(async (tx) => {
    const userId = await takeLink(tx, code)
    if (userId === null) return null
    await setPassword(tx, userId, phc)
    const operation = formOperation(request, link, 'password.update', null)
    await recordFor(tx, userId, operation)
    return { userId, secret: await begin(context, tx, request, link) }
  })
  if (!begun) return noLink
  letIn(context, visit, begun.userId, begun.secret)
  return { redirect: '/settings' }
}

/** The same page for a link that was used, was replaced by a newer one, has expired or never existed. */
const noLink: VisitAnswer = {
  status: 410,
  title: 'Link does not work',
  body: html`<main class="narrow">
    <h1>This link does not work</h1>
    <p>A link works once and expires. Ask the people who run this service for a new one.</p>
    <p><a href="/login">Sign in with a password</a></p>
  </main>`,
}

function linkForm(shown: { csrf: Html; code: string; email: string; fault?: string }) {
  const { csrf, code, email, fault } = shown
  const body = html`<main class="narrow">
    <h1>Choose a password</h1>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    <p>This sets the password of ${email}, ends all sessions of the account, and signs you in here.</p>
    <form method="post" action="${linkPath}">
      ${csrf}<input type="hidden" name="code" value="${code}" />
      <label
        >E-mail <input name="email" type="email" autocomplete="username" value="${email}" readonly
      /></label>
      ${newPasswordField('password')}
      <button>Set password and sign in</button>
    </form>
  </main>`
  return { title: 'Choose a password', body }
}
