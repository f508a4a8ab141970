/** One-time links, the life of a session, and what a thief of the database has. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { makeLink } from '../../sql/accounts/sign-in-links.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { Browser } from '../support/browser.ts'
import { until } from '../support/editor.ts'
import { startService, type TestService } from '../support/service.ts'
import { person, quickCost, rightPassword, signIn, statuses } from './sign-in.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ passwords: openPasswords(quickCost) })
})
afterAll(() => service.stop())

const linkFor = async (userId: string) =>
  (await service.database.asSystem((tx) => makeLink(tx, { userId, hours: 24 }))).code
const open = (browser: Browser, code: string) => browser.send('GET', `/login/link?code=${code}`)
const chosen = 'a password of my own'
const isSignedIn = async (browser: Browser) => (await browser.send('GET', '/settings')).status === 200

test('[SI16] a link sets the password and signs in, once; looking at it does not use it up', async () => {
  const user = await service.user()
  const code = await linkFor(user.userId)
  for (let n = 0; n < 3; n++) await open(new Browser(service.homeUrl), code)
  const browser = new Browser(service.homeUrl)
  const page = await open(browser, code)
  expect(page.status).toBe(200)
  expect(page.text).toContain(user.email)
  const form = page.form('/login/link')
  for (const [password, fault] of [
    ['short', '12 to 1000'],
    ['a'.repeat(1001), '12 to 1000'],
    ['aaaaaaaaaaaaa', 'easy to guess'],
    ['', '12 to 1000'],
    ['with \0 inside it', 'null characters'],
  ] as const) {
    const refused = await browser.post(form, { password })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain(fault)
  }
  const answer = await browser.post(form, { password: chosen })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings'])
  expect(await isSignedIn(browser)).toBe(true)
  for (const again of [await open(new Browser(service.homeUrl), code), await open(browser, code)]) {
    expect(again.status).toBe(410)
    expect(again.text).toContain('does not work')
  }
  const other = new Browser(service.homeUrl)
  expect((await signIn(other, { email: user.email, password: chosen })).status).toBe(303)
})

test('[SI16] of many who use a link at once one wins', async () => {
  const user = await service.user()
  const code = await linkFor(user.userId)
  const browsers = Array.from({ length: 8 }, () => new Browser(service.homeUrl))
  const forms = await Promise.all(
    browsers.map(async (browser) => (await open(browser, code)).form('/login/link')),
  )
  const answers = await Promise.all(
    browsers.map((browser, n) => browser.post(forms[n]!, { password: `${chosen} ${n}` })),
  )
  expect(statuses(answers)).toEqual([303, ...Array<number>(7).fill(410)])
  const winner = answers.findIndex(({ status }) => status === 303)
  const signedIn = await Promise.all(browsers.map(isSignedIn))
  expect(signedIn).toEqual(browsers.map((_, n) => n === winner))
  expect(
    (await signIn(new Browser(service.homeUrl), { email: user.email, password: `${chosen} ${winner}` }))
      .status,
  ).toBe(303)
})

test('[SI16] a link that is too old, replaced, or overtaken by a new password is refused, and its password changes nothing', async () => {
  const user = await person(service)
  const refused = async (code: string, ended: () => Promise<unknown>) => {
    const browser = new Browser(service.homeUrl)
    const form = (await open(browser, code)).form('/login/link')
    await ended()
    expect((await open(browser, code)).status).toBe(410)
    expect((await browser.post(form, { password: chosen })).status).toBe(410)
    expect(await isSignedIn(browser)).toBe(false)
  }
  await refused(await linkFor(user.userId), () => service.admin`update sign_in_links set expires_at = now()`)
  await refused(await linkFor(user.userId), () => linkFor(user.userId))
  const browser = user.browser
  await signIn(browser, user)
  await refused(await linkFor(user.userId), async () => {
    const form = (await browser.open('/settings')).form('/settings/password')
    await browser.post(form, { current: rightPassword, new: rightPassword })
  })
  for (const code of ['', 'x', 'A'.repeat(43), `${'A'.repeat(42)}'`])
    expect((await open(browser, code)).status).toBe(410)
  expect((await signIn(new Browser(service.homeUrl), { email: user.email })).status).toBe(303)
})

test('[SI16] a link ends the sessions that the account had', async () => {
  const user = await person(service)
  await signIn(user.browser, user)
  const browser = new Browser(service.homeUrl)
  const page = await open(browser, await linkFor(user.userId))
  await browser.post(page.form('/login/link'), { password: chosen })
  expect([await isSignedIn(user.browser), await isSignedIn(browser)]).toEqual([false, true])
})

test('[SI14] a session that ended opens nothing, however its cookie was kept', async () => {
  const user = await person(service)
  await signIn(user.browser, user)
  const thief = await user.browser.copy()
  expect(await isSignedIn(thief)).toBe(true)
  const settings = await thief.open('/settings')
  await user.browser.submit((await user.browser.open('/settings')).form('/logout'))
  expect(await user.browser.cookie('corkboard_session')).toBe(undefined)
  expect(await isSignedIn(thief)).toBe(false)
  for (const { action, fields } of settings.forms) {
    const answer = await thief.post({ action, fields }, { name: 'x', current: rightPassword, new: chosen })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/login'])
  }
  expect((await user.api.get('/me')).status).toBe(200)
})

test('[SI14] a session ends after 14 days without use and 90 days at most, and is forgotten', async () => {
  const user = await person(service)
  await signIn(user.browser, user)
  const row = async () => {
    const [row] = await service.admin`
      select round(extract(epoch from expires_at - now()) / 86400)::integer as days, last_seen_at > now() - interval '1 minute' as fresh
      from sessions where user_id = ${user.userId}`
    return row
  }
  const age = (days: number) => service.admin`
    update sessions set created_at = created_at - ${days} * interval '1 day', last_seen_at = last_seen_at - ${days} * interval '1 day',
      expires_at = expires_at - ${days} * interval '1 day' where user_id = ${user.userId}`
  expect(await row()).toEqual({ days: 14, fresh: true })
  await age(13)
  expect(await row()).toEqual({ days: 1, fresh: false })
  expect(await isSignedIn(user.browser)).toBe(true)
  expect(await row()).toEqual({ days: 14, fresh: true })
  for (let n = 0; n < 5; n++) {
    await age(13)
    expect(await isSignedIn(user.browser)).toBe(true)
  }
  expect(await row()).toEqual({ days: 12, fresh: true }) // 78 days after its beginning
  await age(13)
  expect(await isSignedIn(user.browser)).toBe(false)

  const idle = await person(service)
  await signIn(idle.browser, idle)
  await service.admin`update sessions set expires_at = now() where user_id = ${idle.userId}`
  expect(await isSignedIn(idle.browser)).toBe(false)
  await linkFor(idle.userId)
  await service.admin`update sign_in_links set expires_at = now()`
  await signIn(new Browser(service.homeUrl), { email: 'nobody@example.test' })
  await service.admin`update sign_in_allowances set used_until = now() - interval '2 minutes'`
  const kept = await person(service)
  await signIn(kept.browser, kept)
  const { database, app } = service
  const retention = startRetention(
    { database, clock: { now: Date.now }, log: app.log, auditDays: 400 },
    { intervalMs: 10 },
  )
  const left = async () => {
    const [counts] = await service.admin`
      select (select count(*)::integer from sessions where expires_at <= now()) as sessions,
        (select count(*)::integer from sign_in_links where expires_at <= now()) as links,
        (select count(*)::integer from sign_in_allowances where used_until < now() - interval '1 minute') as allowances`
    return Object.values(counts!).every((count) => count === 0)
  }
  await until(left, 'what ended is forgotten', 10_000)
  await retention.stop()
  expect(await isSignedIn(kept.browser)).toBe(true)
})

test('[SI24] a dump of the database holds no session, link, password, token or device that could be used', async () => {
  const user = await person(service)
  await signIn(user.browser, user)
  const linked = await service.user()
  const code = await linkFor(linked.userId)
  const form = (await user.browser.open('/settings')).form('/settings/tokens')
  const { text } = await user.browser.post(form, { name: 'one' })
  const [token = ''] = /cork_[\w-]+/.exec(text) ?? []
  expect(token).toHaveLength(55)
  const cookies = await user.browser.jar.getCookies(service.homeUrl)
  const secrets = [
    rightPassword,
    code,
    token,
    ...cookies.map(({ value }) => value),
    form.fields.find(([name]) => name === 'csrf')![1],
  ]
  expect(secrets).toHaveLength(6)
  const tables = await service.admin<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'corkboard'`
  expect(tables.length).toBeGreaterThan(20)
  for (const { name } of tables) {
    const rows = await service.admin<{ text: string }[]>`select t::text from ${service.admin(name)} t`
    const dump = rows.map(({ text }) => text).join('\n')
    for (const secret of secrets) {
      expect([name, dump.includes(secret)]).toEqual([name, false])
      expect([name, dump.includes(Buffer.from(secret).toString('hex'))]).toEqual([name, false])
    }
  }
  // What is there in their place is none of them.
  const [session] =
    await service.admin`select encode(hash, 'hex') as hex, id from sessions where user_id = ${user.userId}`
  const [{ phc }] =
    (await service.admin`select phc from passwords where user_id = ${user.userId}`) as unknown as [
      { phc: string },
    ]
  for (const value of [
    session!['hex'],
    session!['id'],
    Buffer.from(session!['hex'], 'hex').toString('base64url'),
  ]) {
    const thief = new Browser(service.homeUrl)
    await thief.jar.setCookie(`corkboard_session=${value}; Path=/`, service.homeUrl)
    expect(await isSignedIn(thief)).toBe(false)
  }
  expect((await signIn(new Browser(service.homeUrl), { email: user.email, password: phc })).status).toBe(422)
})

test('[SI14] an account has 100 sessions at most; the one that was used longest ago goes first', async () => {
  const user = await person(service)
  await signIn(user.browser, user)
  await service.admin`
    insert into sessions (user_id, hash, ip, expires_at, last_seen_at)
    select ${user.userId}, sha256(n::text::bytea), '', now() + interval '1 day', now() - n * interval '1 hour'
    from generate_series(1, 99) n`
  await signIn(new Browser(service.homeUrl), user)
  const [left] = await service.admin`
    select count(*)::integer as n, round(extract(epoch from now() - min(last_seen_at)) / 3600)::integer as hours
    from sessions where user_id = ${user.userId}`
  expect(left).toEqual({ n: 100, hours: 98 })
  expect(await isSignedIn(user.browser)).toBe(true)
})

test('[SI14] nobody who asks for a page makes the service keep anything, but for a failed attempt', async () => {
  const count = async () =>
    (await service.admin`select count(*)::integer as n from sessions`)[0]!['n'] as number
  const before = await count()
  for (const path of ['/login', '/login/link', '/settings', '/login?next=/settings'])
    await new Browser(service.homeUrl).send('GET', path)
  expect(await count()).toBe(before)
})
