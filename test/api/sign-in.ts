/** People who sign in. */
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { setPassword } from '../../sql/accounts/passwords.ts'
import { Browser, type Shown } from '../support/browser.ts'
import type { TestService, TestUser } from '../support/service.ts'

export const rightPassword = 'correct horse battery staple'

/** Of little work, so that tests have time for others. */
export const quickCost = { memoryKib: 64, passes: 1, parallelism: 1 }
const { hash } = openPasswords(quickCost)

export interface Person extends TestUser {
  /** In which nobody is signed in yet. */
  browser: Browser
}

/** An account with a password. */
export async function person(service: TestService, password = rightPassword): Promise<Person> {
  const user = await service.user()
  const phc = await hash(password)
  await service.database.asSystem((tx) => setPassword(tx, user.userId, phc))
  return { ...user, browser: new Browser(service.homeUrl) }
}

export async function signIn(
  browser: Browser,
  { email, password = rightPassword, next }: { email: string; password?: string; next?: string },
): Promise<Shown> {
  const page = await browser.send(
    'GET',
    next === undefined ? '/login' : `/login?next=${encodeURIComponent(next)}`,
  )
  return browser.post(page.form('/login'), { email, password })
}

export const statuses = (answers: { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)
