/** `/login`: e-mail and password. */
import { findPassword, holdPassword, rehashPassword } from '../../sql/accounts/passwords.ts'
import { allowancesOf, checkPassword } from './attempts.ts'
import type { SignInContext } from './context.ts'
import { html, type Html } from './html.ts'
import { localPath } from './local-path.ts'
import { begin, letIn } from './start.ts'
import { openPage, type OpenVisit, type PageRoute, type VisitAnswer } from './visit.ts'

const afterwards = '/settings'

export function loginPages(context: SignInContext): PageRoute[] {
  return [
    openPage('GET', '/login', ({ signedIn, query, csrf }) => {
      const next = localPath(query.get('next'))
      return signedIn ? { redirect: next ?? afterwards } : loginForm({ csrf, next })
    }),
    openPage('POST', '/login', (visit) => signIn(context, visit)),
  ]
}

async function signIn(context: SignInContext, visit: OpenVisit): Promise<VisitAnswer> {
  const { database, passwords } = context
  const { request, reply, form, csrf } = visit
  const next = localPath(form.get('next'))
  const email = (form.get('email') ?? '').trim().slice(0, 320)
  const password = form.get('password') ?? ''
  const account = await database.asSystem((tx) => findPassword(tx, { email }))
  const phc = account?.phc ?? null
  const allowances = allowancesOf(context, request, { email, userId: account?.userId ?? null })
  const { isRight, isOutdated } = await checkPassword(context, reply, { password, phc, allowances })
  const refused = {
    ...loginForm({ csrf, next, email, fault: 'The e-mail or the password is wrong.' }),
    status: 422,
  }
  if (!isRight || !account || phc === null) return refused
  const rehashed = isOutdated ? await passwords.hash(password) : null
  const secret = await database.asSystem(async (tx) => {
    if (!(await holdPassword(tx, account.userId, phc))) return null
    if (rehashed !== null) await rehashPassword(tx, account.userId, rehashed)
    return begin(context, tx, request, account)
  })
  if (secret === null) return refused
  letIn(context, visit, account.userId, secret)
  return { redirect: next ?? afterwards }
}

interface LoginForm {
  csrf: Html
  next: string | null
  email?: string
  fault?: string
}

function loginForm({ csrf, next, email = '', fault }: LoginForm) {
  const body = html`<main class="narrow">
    <h1>Sign in to Corkboard</h1>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    <form method="post" action="/login">
      ${csrf} ${next && html`<input type="hidden" name="next" value="${next}" />`}
      <label
        >E-mail
        <input name="email" type="email" autocomplete="username" required maxlength="320" value="${email}"
      /></label>
      <label
        >Password
        <input name="password" type="password" autocomplete="current-password" required maxlength="4000"
      /></label>
      <button>Sign in</button>
    </form>
    <p class="note">
      No password yet, or forgotten? Ask the people who run this service for a one-time link.
    </p>
  </main>`
  return { title: 'Sign in', body }
}
