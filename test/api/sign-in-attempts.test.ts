/** What guessing costs, and what it does not cost those who know their password. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { makeLink } from '../../sql/accounts/sign-in-links.ts'
import { Browser, type Shown } from '../support/browser.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { startService, type TestService } from '../support/service.ts'
import { person, quickCost, rightPassword, signIn, statuses } from './sign-in.ts'

let testDatabase: TestDatabase
let service: TestService
let second: TestService

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  const options = { testDatabase, config: { trustProxy: 1 }, passwords: openPasswords(quickCost) }
  service = await startService(options)
  second = await startService(options)
})
afterAll(async () => {
  await Promise.all([service.stop(), second.stop()])
  await testDatabase.drop()
})

let addresses = 0
/** Of nobody else here. */
const newAddress = () => `198.51.${100 + Math.floor((addresses += 1) / 250)}.${addresses % 250}`

interface Attempt {
  password?: string
  from?: string
  at?: TestService
  browser?: Browser
}

/** A form of a stranger's browser, to be sent from this address. */
async function prepare(email: string, attempt: Attempt = {}): Promise<() => Promise<Shown>> {
  const { password = 'a wrong password', from = newAddress(), at = service } = attempt
  const browser = attempt.browser ?? new Browser(at.url)
  const form = (await browser.send('GET', '/login')).form('/login')
  return () => browser.post(form, { email, password }, { 'x-forwarded-for': from })
}

const attempt = async (...of: Parameters<typeof prepare>) => (await prepare(...of))()

/** All at one moment: allowances grow with time. */
async function attemptAtOnce(
  count: number,
  one: (n: number) => Parameters<typeof prepare>,
): Promise<Shown[]> {
  const ready = await Promise.all(Array.from({ length: count }, (_, n) => prepare(...one(n))))
  return Promise.all(ready.map((send) => send()))
}

test('[SI7] an unknown account, one without a password and a wrong password get the same answer, for the same work', async () => {
  const known = await person(service)
  await signIn(known.browser, known)
  const withoutPassword = await service.user()
  const { body } = await known.api.post('/service-accounts', {
    workspace_id: known.workspaceId,
    name: 'robot',
  })
  const serviceAccount = `${body.service_account.id}@service-accounts.invalid`
  const derive = vi.spyOn(crypto, 'argon2')
  syncBuiltinESMExports()
  const answers: { text: string; work: unknown[] }[] = []
  for (const email of [
    known.email,
    withoutPassword.email,
    serviceAccount,
    'nobody@example.test',
    '',
    'x\'"; --',
  ]) {
    derive.mockClear()
    const { status, text, headers } = await attempt(email)
    expect(status).toBe(422)
    expect(headers.getSetCookie()).toEqual([])
    const work = derive.mock.calls.map(([algorithm, parameters]) => {
      const { memory, passes, parallelism, tagLength, message, nonce } = parameters
      return {
        algorithm,
        memory,
        passes,
        parallelism,
        tagLength,
        message,
        salt: (nonce as Buffer).byteLength,
      }
    })
    const escaped = email.replaceAll("'", '&#39;').replaceAll('"', '&quot;')
    const plain = text.replace(/name="csrf" value="[^"]+"/, '').replace(`value="${escaped}"`, 'value=""')
    answers.push({ text: plain, work })
  }
  derive.mockRestore()
  syncBuiltinESMExports()
  expect(answers[0]!.work).toEqual([
    {
      algorithm: 'argon2id',
      memory: quickCost.memoryKib,
      passes: 1,
      parallelism: 1,
      tagLength: 32,
      message: 'a wrong password',
      salt: 16,
    },
  ])
  expect(answers[0]!.text).toContain('The e-mail or the password is wrong.')
  for (const answer of answers) expect(answer).toEqual(answers[0])
})

test('[SI8] an account takes ten wrong passwords, also at once and over two processes, then one in 90 s; the same whether there is one', async () => {
  const { email } = await person(service)
  for (const guessed of [email, 'nobody-here@example.test']) {
    const answers = await attemptAtOnce(24, (n) => [
      n % 3 ? guessed : guessed.toUpperCase(),
      { at: n % 2 ? service : second },
    ])
    expect(statuses(answers)).toEqual([...Array<number>(10).fill(422), ...Array<number>(14).fill(429)])
    const refused = await attempt(guessed, { password: rightPassword })
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(90)
    expect(refused.text).toMatch(/Try again in \d+ seconds?\./)
    expect(refused.headers.get('content-type')).toContain('text/html')
    await service.admin`update sign_in_allowances set used_until = used_until - interval '90 seconds'`
    expect(statuses([await attempt(guessed), await attempt(guessed)])).toEqual([422, 429])
  }
})

test('[SI8] an address takes thirty wrong passwords, whatever the accounts, an IPv6 network as well; others go on', async () => {
  for (const addressOf of [() => '203.0.113.7', (n: number) => `2001:db8:1:2::${n.toString(16)}`]) {
    const answers = await attemptAtOnce(34, (n) => [
      `somebody${n}${addressOf(0)}@example.test`,
      { from: addressOf(n + 1) },
    ])
    expect(statuses(answers)).toEqual([...Array<number>(30).fill(422), ...Array<number>(4).fill(429)])
  }
  const { email } = await person(service)
  expect((await attempt(email, { password: rightPassword, from: '203.0.113.7' })).status).toBe(429)
  expect((await attempt(email, { password: rightPassword, from: '203.0.113.8' })).status).toBe(303)
  expect((await attempt(email, { password: rightPassword, from: '2001:db8:1:3::1' })).status).toBe(303)
})

test('[SI8] a right password is not counted', async () => {
  const { email } = await person(service)
  for (let n = 0; n < 14; n++)
    expect((await attempt(email, { password: rightPassword, from: '203.0.113.9' })).status).toBe(303)
})

test('[SI9] strangers’ attempts keep nobody out of a browser that the account was signed in from, nor from a link', async () => {
  const owner = await person(service)
  expect((await attempt(owner.email, { password: rightPassword, browser: owner.browser })).status).toBe(303)
  await service.database.asSystem((tx) => tx`delete from sessions where user_id = ${owner.userId}`)
  const stranger = await person(service)
  await signIn(stranger.browser, stranger)
  await service.database.asSystem((tx) => tx`delete from sessions where user_id = ${stranger.userId}`)
  await attemptAtOnce(12, () => [owner.email, { from: '203.0.113.10' }])
  // Their own browsers are none of the account's, whatever they signed in to there.
  const right = { password: rightPassword }
  expect((await attempt(owner.email, { ...right, browser: stranger.browser })).status).toBe(429)
  expect((await attempt(owner.email, { ...right, browser: new Browser(service.homeUrl) })).status).toBe(429)
  const copied = await owner.browser.copy()
  expect(
    (await attempt(owner.email, { ...right, browser: owner.browser, from: '203.0.113.10' })).status,
  ).toBe(303)
  // That browser, too, has a bound.
  await copied.send('GET', '/login') // from here on all its forms go with one cookie
  const answers = await attemptAtOnce(14, () => [owner.email, { browser: copied }])
  expect(statuses(answers)).toEqual([...Array<number>(10).fill(422), ...Array<number>(4).fill(429)])

  const { code } = await service.database.asSystem((tx) => makeLink(tx, { userId: owner.userId, hours: 1 }))
  const fresh = new Browser(service.homeUrl)
  const page = await fresh.open(`/login/link?code=${code}`)
  expect((await fresh.post(page.form('/login/link'), { password: 'another password of mine' })).status).toBe(
    303,
  )
})

test('[SI13] signing in makes a new session, whatever cookies were planted in the browser, and ends the one that it had', async () => {
  const victim = await person(service)
  const attacker = await person(service)
  await signIn(attacker.browser, attacker)
  const planted = (await attacker.browser.cookie('corkboard_session'))!
  for (const value of [planted, 'A'.repeat(43), 'x']) {
    const browser = new Browser(service.homeUrl)
    await browser.jar.setCookie(`corkboard_session=${value}; Path=/`, service.homeUrl)
    const page = await new Browser(service.homeUrl).send('GET', '/login') // /login itself would lead on
    const form = (await browser.jar.getCookies(service.homeUrl)).length
    expect(form).toBe(1)
    await browser.jar.setCookie(page.headers.getSetCookie()[0]!, service.homeUrl)
    const answer = await browser.post(page.form('/login'), { email: victim.email, password: rightPassword })
    expect(answer.status).toBe(303)
    const made = (await browser.cookie('corkboard_session'))!
    expect(made).toMatch(/^[\w-]{43}$/)
    expect(made).not.toBe(value)
    expect((await browser.send('GET', '/settings')).text).toContain(victim.email)
  }
  // Who planted it is not signed in by it, as nobody.
  const own = await attacker.browser.send('GET', '/settings')
  expect([own.status, own.headers.get('location')]).toEqual([303, '/login?next=%2Fsettings'])
})

test('[SI13] a form of before is of no use after signing in', async () => {
  const { browser, email } = await person(service)
  const before = (await browser.open('/login')).form('/login')
  await signIn(browser, { email })
  expect((await browser.post(before, { email, password: rightPassword })).status).toBe(403)
})

test('[SI15] passwords are argon2id with what OWASP asks for, and are hashed anew when the cost is raised', async () => {
  const phc = await openPasswords().hash(rightPassword)
  expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(await openPasswords().hash(rightPassword)).not.toBe(phc)
  const user = await person(service)
  const stored = async () =>
    (await service.admin`select phc from passwords where user_id = ${user.userId}`)[0]!['phc'] as string
  const old = await stored()
  await attempt(user.email)
  await attempt(user.email, { password: rightPassword })
  expect(await stored()).toBe(old)
  const raised = await startService({
    testDatabase,
    passwords: openPasswords({ memoryKib: 128, passes: 2, parallelism: 1 }),
  })
  expect((await attempt(user.email, { at: raised })).status).toBe(422)
  expect(await stored()).toBe(old)
  expect((await attempt(user.email, { at: raised, password: rightPassword })).status).toBe(303)
  expect(await stored()).toMatch(/^\$argon2id\$v=19\$m=128,t=2,p=1\$/)
  await raised.stop()
  expect((await attempt(user.email, { password: rightPassword })).status).toBe(303)
  expect((await attempt(user.email, { password: 'CORRECT horse battery staple' })).status).toBe(422)
})

test('[SI15] the same password typed in another form of Unicode is the same; few are hashed at once, and of too many some are sent away', async () => {
  const passwords = openPasswords(quickCost)
  const phc = await passwords.hash('Zürich mit Ümlaut ﬁ')
  expect((await passwords.check('Zu\u0308rich mit U\u0308mlaut fi', phc)).isRight).toBe(true)
  expect((await passwords.check('Zurich mit Umlaut fi', phc)).isRight).toBe(false)
  expect((await passwords.check(rightPassword, null)).isRight).toBe(false)
  const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => passwords.check('x', phc)))
  const faults = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
  expect(faults).toEqual(Array<string>(14).fill('storage_unavailable')) // two at once, 64 wait
  expect((await passwords.check('x', phc)).isRight).toBe(false)
})
