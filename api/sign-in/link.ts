/**
 * `/login/link`: a one-time link, which the command line makes. Opening it only shows a form, because mail scanners and
 * previews open links before people do. Sending the form sets the password and signs in.
 *
 * A link with `next` leads there afterwards. An account without a password may then come in without choosing one.
 */
import { passwordFault } from '../../core/password.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { findPassword, setPassword } from '../../sql/accounts/passwords.ts'
import { findLink, takeLink, type LinkOwner } from '../../sql/accounts/sign-in-links.ts'
import type { SignInContext } from './context.ts'
import { html, type Html } from './html.ts'
import { formOperation } from './operation.ts'
import { localPath } from './local-path.ts'
import { newPasswordField } from './password-field.ts'
import { begin, letIn } from './start.ts'
import { openPage, type OpenVisit, type PageRoute, type VisitAnswer } from './visit.ts'

export const linkPath = '/login/link'

export function linkPages(context: SignInContext): PageRoute[] {
  return [
    openPage('GET', linkPath, async ({ query, csrf }) => {
      const code = query.get('code') ?? ''
      const next = localPath(query.get('next'))
      const link = await context.database.asSystem((tx) => findLink(tx, code))
      if (!link) return noLink
      const shown = { csrf, code, next, email: link.email }
      const isWanted = query.has('password') || (await needsPassword(context, link, next))
      return isWanted ? linkForm(shown) : openForm(shown)
    }),
    openPage('POST', linkPath, (visit) => follow(context, visit)),
  ]
}

async function follow(context: SignInContext, visit: OpenVisit): Promise<VisitAnswer> {
  const { database, passwords } = context
  const { request, form, csrf } = visit
  const code = form.get('code') ?? ''
  const next = localPath(form.get('next'))
  const link = await database.asSystem((tx) => findLink(tx, code))
  if (!link) return noLink
  const password = form.get('password')
  const isOpened = password === null && !(await needsPassword(context, link, next))
  const fault = isOpened ? null : passwordFault(password ?? '')
  if (fault !== null) return { ...linkForm({ csrf, code, next, email: link.email, fault }), status: 422 }
  const phc = isOpened ? null : await passwords.hash(password!)
  const begun = await database.asSystem(async (tx) => {
    const userId = await takeLink(tx, code)
    if (userId === null) return null
    if (phc !== null) {
      await setPassword(tx, userId, phc)
      await recordFor(tx, userId, formOperation(request, link, 'password.update', null))
    }
    return { userId, secret: await begin(context, tx, request, link) }
  })
  if (!begun) return noLink
  letIn(context, visit, begun.userId, begun.secret)
  return { redirect: next ?? '/settings' }
}

async function needsPassword(
  { database }: SignInContext,
  { userId }: LinkOwner,
  next: string | null,
): Promise<boolean> {
  if (next === null) return true
  const known = await database.asSystem((tx) => findPassword(tx, { userId }))
  return (known?.phc ?? null) !== null
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

interface LinkForm {
  csrf: Html
  code: string
  next: string | null
  email: string
  fault?: string
}

function openForm({ csrf, code, next, email }: LinkForm) {
  const withPassword = `${linkPath}?${new URLSearchParams({ code, next: next!, password: '' }).toString()}`
  const body = html`<main class="narrow">
    <h1>Welcome to Corkboard</h1>
    <p>This link works once. It signs you in as ${email} in this browser.</p>
    <form method="post" action="${linkPath}">
      ${csrf}<input type="hidden" name="code" value="${code}" /><input
        type="hidden"
        name="next"
        value="${next}"
      />
      <button>Open the board</button>
    </form>
    <p>
      To sign in again later, also from other browsers,
      <a href="${withPassword}">choose a password first</a>.
    </p>
  </main>`
  return { title: 'Welcome', body }
}

function linkForm(shown: LinkForm) {
  const { csrf, code, next, email, fault } = shown
  const body = html`<main class="narrow">
    <h1>Choose a password</h1>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    <p>This sets the password of ${email}, ends all sessions of the account, and signs you in here.</p>
    <form method="post" action="${linkPath}">
      ${csrf}<input type="hidden" name="code" value="${code}" />
      ${next && html`<input type="hidden" name="next" value="${next}" />`}
      <label
        >E-mail <input name="email" type="email" autocomplete="username" value="${email}" readonly
      /></label>
      ${newPasswordField('password')}
      <button>Set password and sign in</button>
    </form>
  </main>`
  return { title: 'Choose a password', body }
}
