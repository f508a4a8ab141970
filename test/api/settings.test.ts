/** The settings page: personal tokens, sessions, password. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { Browser, type Form, type Shown } from '../support/browser.ts'
import { until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { person, quickCost, rightPassword, signIn, statuses, type Person } from './sign-in.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ passwords: openPasswords(quickCost) })
})
afterAll(() => service.stop())

async function signedIn(): Promise<Person> {
  const made = await person(service)
  await signIn(made.browser, made)
  return made
}

const settings = (browser: Browser) => browser.open('/settings')
const tokenIn = ({ text }: Shown) => /<code class="secret"\s*>(cork_[\w-]{50})<\/code\s*>/.exec(text)?.[1]
const linkTo = (shown: Shown, path: string, value = ''): string =>
  [...shown.text.matchAll(/href="([^"]+)"/g)]
    .map(([, href = '']) => href)
    .find((href) => href.startsWith(path) && href.endsWith(value))!
/** The form of the page that asks before something is ended. */
const asked = async (browser: Browser, shown: Shown, path: string, value?: string): Promise<Form> =>
  (await browser.open(linkTo(shown, path, value))).forms[0]!
const chosen = 'a password of my own'

test('[SI17] who is not signed in is led to /login, and from there back', async () => {
  const { browser, email } = await person(service)
  for (const [path, next] of [
    ['/settings', '/settings'],
    ['/settings?changed=password', '/settings?changed=password'],
  ] as const) {
    const answer = await browser.send('GET', path)
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `/login?next=${encodeURIComponent(next)}`,
    ])
  }
  for (const action of [
    '/settings/tokens',
    '/settings/tokens/revoke',
    '/settings/sessions/end',
    '/settings/password',
    '/logout',
  ]) {
    const answer = await browser.post({ action, fields: [] })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/login'])
  }
  const page = await browser.open('/settings')
  const landed = await browser.submit(page.form('/login'), { email, password: rightPassword })
  expect([landed.status, landed.path]).toEqual([200, '/settings'])
  expect(landed.text).toContain(email)
})

test('[SI18] a token is made with name, scopes and lifetime, is shown this once, and works', async () => {
  const { browser, userId, email } = await signedIn()
  const page = await settings(browser)
  const form = page.form('/settings/tokens')
  const shown = await browser.post(form, { name: ' Backup <b> ', scopes: ['write'], ttl_days: '30' })
  expect(shown.status).toBe(200)
  const token = tokenIn(shown)!
  const me = await new ApiClient(service.url, token).get('/me')
  expect(me.body).toMatchObject({ user_id: userId, email, scopes: ['read', 'write'] })
  const [row] = await service.admin`
    select name, scopes, prefix, rate_limit, round(extract(epoch from expires_at - created_at) / 86400)::integer as days
    from tokens where user_id = ${userId} and name <> 'test'`
  expect(row).toEqual({
    name: 'Backup <b>',
    scopes: ['read', 'write'],
    prefix: token.slice(0, 9),
    rate_limit: null,
    days: 30,
  })

  // Neither a reload nor sending the form again shows it, or makes another.
  for (const later of [
    await settings(browser),
    await browser.submit(form, { name: 'Backup', scopes: ['write'], ttl_days: '30' }),
  ]) {
    expect(later.text).not.toContain(token)
    expect(later.text).toContain('Backup &lt;b&gt;')
    expect(later.path).not.toContain(token)
  }
  const [count] =
    await service.admin`select count(*)::integer as n from tokens where user_id = ${userId} and name <> 'test'`
  expect(count).toEqual({ n: 1 })
})

test('[SI18] without more a token reads, until it is revoked; every scope can be given', async () => {
  const { browser } = await signedIn()
  const make = async (typed: Record<string, string | string[]>) => {
    const token = tokenIn(await browser.post((await settings(browser)).form('/settings/tokens'), typed))!
    return (await new ApiClient(service.url, token).get('/me')).body.scopes
  }
  expect(await make({ name: 'reads' })).toEqual(['read'])
  expect(await make({ name: 'all', scopes: ['delete', 'write', 'read'] })).toEqual([
    'read',
    'write',
    'delete',
  ])
  expect(await make({ name: 'deletes', scopes: 'delete', ttl_days: '' })).toEqual(['read', 'delete'])
})

test('[SI18] what can’t be made is said, and nothing is made', async () => {
  const { browser, userId } = await signedIn()
  const form = (await settings(browser)).form('/settings/tokens')
  for (const [typed, fault] of [
    [{ name: '' }, '1 to 200'],
    [{ name: '   ' }, '1 to 200'],
    [{ name: 'x'.repeat(201) }, '1 to 200'],
    [{ name: 'a\0b' }, '1 to 200'],
    [{ name: 'x', scopes: 'admin' }, 'read, write, delete'],
    [{ name: 'x', scopes: ['write', ''] }, 'read, write, delete'],
    [{ name: 'x', ttl_days: '0' }, '1 to 3650'],
    [{ name: 'x', ttl_days: '3651' }, '1 to 3650'],
    [{ name: 'x', ttl_days: '1.5' }, '1 to 3650'],
    [{ name: 'x', ttl_days: '-1' }, '1 to 3650'],
    [{ name: 'x', ttl_days: 'ever' }, '1 to 3650'],
    [{ name: 'x', id: 'x' }, 'Reload the page'],
  ] as const) {
    const answer = await browser.post(form, {
      ...typed,
      ...('scopes' in typed ? { scopes: [typed.scopes].flat() } : {}),
    } as never)
    expect([typed, answer.status]).toEqual([typed, 422])
    expect(answer.text).toContain(fault)
    expect(tokenIn(answer)).toBe(undefined)
  }
  const [count] = await service.admin`select count(*)::integer as n from tokens where user_id = ${userId}`
  expect(count).toEqual({ n: 1 })
})

test('[SI18] the id of another’s token in the form gives nothing', async () => {
  const [one, other] = [await signedIn(), await signedIn()]
  const form = (await settings(one.browser)).form('/settings/tokens')
  const answer = await one.browser.post(form, { name: 'mine', id: other.tokenId })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings#api'])
  const [row] = await service.admin`select user_id, name from tokens where id = ${other.tokenId}`
  expect(row).toEqual({ user_id: other.userId, name: 'test' })
})

test('[SI19] tokens are listed with prefix, scopes, last use and expiry, and revoked within 2 s; others’ are not there', async () => {
  const [one, other] = [await signedIn(), await signedIn()]
  await service.token(one, { scopes: ['read'], ttlDays: 7 })
  await one.api.get('/me')
  const shown = await settings(one.browser)
  const rows = shown.text
    .split('<tr>')
    .filter((row) => row.includes('/settings/tokens/revoke'))
    .map((row) =>
      [...row.matchAll(/<td data-head="\w[\w ]*">(.*?)<\/td\s*>/gs)].map(([, cell = '']) =>
        cell.replace(/<[^>]+>/g, '').trim(),
      ),
    )
  const today = new Date().toISOString().slice(0, 10)
  const soon = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
  expect(rows).toEqual([
    [
      'test',
      expect.stringMatching(/^cork_....…$/),
      'read',
      expect.stringContaining(today),
      'never',
      expect.stringContaining(soon),
      'Revoke',
    ],
    [
      'test',
      `${one.token.slice(0, 9)}…`,
      'read, write, delete',
      expect.stringContaining(today),
      expect.stringContaining(today),
      'never',
      'Revoke',
    ],
  ])
  expect(shown.text).not.toContain(other.tokenId)

  const form = await asked(one.browser, shown, '/settings/tokens/revoke', one.tokenId)
  for (const id of [other.tokenId, 'x', '']) expect((await one.browser.post(form, { id })).status).toBe(303)
  expect((await other.api.get('/me')).status).toBe(200)
  const after = await one.browser.submit(form)
  expect(after.text).not.toContain(one.tokenId)
  await until(async () => (await one.api.get('/me')).status === 401, 'the token is refused', 2000)
})

test('[SI20] the audit tells who signed in and out, made and revoked tokens, and changed the password', async () => {
  const { browser, userId } = await signedIn()
  const shown = await settings(browser)
  const form = shown.form('/settings/tokens')
  const made = await browser.post(form, { name: 'audited', scopes: ['read'] })
  await browser.post(form, { name: 'audited', scopes: ['read'] }) // makes nothing
  const tokenId = form.fields.find(([name]) => name === 'id')![1]
  const revoke = await asked(browser, made, '/settings/tokens/revoke', tokenId)
  await browser.post(revoke)
  await browser.post(revoke) // has nothing to do
  await browser.submit((await settings(browser)).form('/settings/password'), {
    current: rightPassword,
    new: chosen,
  })
  await browser.submit((await settings(browser)).form('/logout'))
  const [token] = await service.admin<
    { id: string }[]
  >`select id from tokens where user_id = ${userId} and name = 'test'`
  expect(token).toBeDefined()
  const user = { userId, email: '', token: '', tokenId: '', workspaceId: '', api: null as never }
  const { body } = await (await service.token(user, { scopes: ['read'] })).api.get('/audit')
  const session = { type: 'session', id: expect.stringMatching(/^[\da-f-]{36}$/) }
  const told = body.entries.map(({ action, resource, method, path }: Record<string, unknown>) => [
    action,
    resource,
    method,
    path,
  ])
  expect(told.toReversed()).toEqual([
    ['session.create', session, 'POST', '/login'],
    ['token.create', { type: 'token', id: tokenId }, 'POST', '/settings/tokens'],
    ['token.delete', { type: 'token', id: tokenId }, 'POST', '/settings/tokens/revoke'],
    ['password.update', { type: 'password', id: null }, 'POST', '/settings/password'],
    ['session.create', session, 'POST', '/settings/password'],
    ['session.delete', session, 'POST', '/logout'],
  ])
  for (const { actor, ip, request_id } of body.entries) {
    expect(actor).toMatchObject({
      user_id: userId,
      token_id: null,
      service_account_id: null,
      client_id: null,
    })
    expect([ip, request_id]).toEqual(['127.0.0.1', expect.stringMatching(/^[\w-]+$/)])
  }
})

test('[SI21] the sessions are listed; one can be ended, or all', async () => {
  const one = await signedIn()
  const [second, third] = [new Browser(service.homeUrl), new Browser(service.homeUrl)]
  for (const browser of [second, third]) await signIn(browser, one)
  const stranger = await signedIn()
  const shown = await settings(one.browser)
  expect(shown.text.match(/>\s*this browser\s*</g)).toHaveLength(1)
  const links = [...shown.text.matchAll(/href="(\/settings\/sessions\/end\?[^"]+)"/g)].map(
    ([, href]) => href!,
  )
  expect(links).toHaveLength(2)
  const end = (await one.browser.open(links[0]!)).form('/settings/sessions/end')
  const isIn = async (browser: Browser) => (await browser.send('GET', '/settings')).status === 200
  const [foreign] = await service.admin`select id from sessions where user_id = ${stranger.userId}`
  for (const id of [foreign!['id'], 'x', '']) await one.browser.post(end, { id })
  expect(await Promise.all([second, third, stranger.browser].map(isIn))).toEqual([true, true, true])
  await one.browser.post(end)
  expect((await Promise.all([second, third].map(isIn))).filter(Boolean)).toHaveLength(1)
  const everywhere = await asked(one.browser, shown, '/settings/sessions/end-all')
  expect((await one.browser.submit(everywhere)).path).toBe('/login')
  expect(await Promise.all([one.browser, second, third, stranger.browser].map(isIn))).toEqual([
    false,
    false,
    false,
    true,
  ])
})

test('[SI22] the password is changed by who knows it, and ends all other sessions', async () => {
  const { browser, email } = await signedIn()
  const other = new Browser(service.homeUrl)
  await signIn(other, { email })
  const before = await browser.cookie('corkboard_session')
  const form = (await settings(browser)).form('/settings/password')
  for (const [typed, fault] of [
    [{ current: rightPassword, new: 'short' }, '12 to 1000'],
    [{ current: 'wrong', new: chosen }, 'current password is wrong'],
    [{ current: '', new: chosen }, 'current password is wrong'],
    [{ new: chosen }, 'current password is wrong'],
  ] as const) {
    const refused = await browser.post(form, typed)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain(fault)
  }
  const changed = await browser.submit(form, { current: rightPassword, new: chosen })
  expect(changed.text).toContain('The password is changed')
  expect(await browser.cookie('corkboard_session')).not.toBe(before)
  expect((await other.send('GET', '/settings')).status).toBe(303)
  expect((await signIn(new Browser(service.homeUrl), { email })).status).toBe(422)
  expect((await signIn(new Browser(service.homeUrl), { email, password: chosen })).status).toBe(303)
  // Forms of before the change are of no use.
  expect((await browser.post(form, { current: chosen, new: rightPassword })).status).toBe(403)
})

test('[SI22] a stolen session guesses the password no quicker than a stranger, and keeps nobody out by it', async () => {
  const { browser, email } = await signedIn()
  const form = (await settings(browser)).form('/settings/password')
  const answers = await Promise.all(
    Array.from({ length: 13 }, (_, n) => browser.post(form, { current: `guess ${n}`, new: chosen })),
  )
  expect(statuses(answers)).toEqual([...Array<number>(10).fill(422), 429, 429, 429])
  expect((await browser.post(form, { current: rightPassword, new: chosen })).status).toBe(429)
  expect((await signIn(new Browser(service.homeUrl), { email })).status).toBe(303)
})

test('[SI23] no route of the API takes the cookie, and no page is in its description', async () => {
  const { browser, workspaceId } = await signedIn()
  const cookie = await browser.jar.getCookieString(service.homeUrl)
  const { paths } = await service.app.inject('/api/v1/openapi.json').then((answer) => answer.json())
  const asked: string[] = []
  for (const [path, operations] of Object.entries<Record<string, { security: object[] }>>(paths)) {
    if (path === '/openapi.json') continue
    for (const [method, { security }] of Object.entries(operations)) {
      if (security.length === 0) continue // it takes no credential at all
      const filled = path.replaceAll(/\{\w+\}/g, workspaceId)
      const answer = await fetch(`${service.homeUrl}/api/v1${filled}`, {
        method: method.toUpperCase(),
        headers: {
          cookie,
          origin: service.homeUrl,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/json',
        },
        ...(method === 'get' ? {} : { body: '{}' }),
      })
      asked.push(`${method} ${path}`)
      expect([method, path, answer.status]).toEqual([method, path, 401])
    }
  }
  expect(asked.length).toBeGreaterThan(50)
  expect(Object.keys(paths).filter((path) => /login|logout|settings/.test(path))).toEqual([])
  expect((await fetch(`${service.homeUrl}/api/v1`, { headers: { cookie } })).status).toBe(401)
})

test('[SI25] no form of the settings, nor that to log out, is taken without the token of its session', async () => {
  const [victim, attacker] = [await signedIn(), await signedIn()]
  const page = await settings(victim.browser)
  const own = await settings(attacker.browser)
  const [foreign = ''] = own.form('/logout').fields.map(([, value]) => value)
  const anonymous = (await new Browser(service.homeUrl).open('/login')).form('/login').fields[0]![1]
  expect(page.forms.map(({ action }) => action)).toEqual([
    '/logout',
    '/settings/tokens',
    '/settings/password',
  ])
  const endings = [
    await asked(victim.browser, page, '/settings/tokens/revoke'),
    await asked(victim.browser, page, '/settings/sessions/end-all'),
  ]
  expect(endings.map(({ action }) => action)).toEqual(['/settings/tokens/revoke', '/logout'])
  for (const form of [
    ...page.forms,
    ...endings,
    { action: '/settings/sessions/end', fields: page.form('/logout').fields },
  ]) {
    const typed = { name: 'planted', current: rightPassword, new: chosen }
    for (const csrf of ['', 'x', foreign, anonymous])
      expect((await victim.browser.post(form, { ...typed, csrf })).status).toBe(403)
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ] as Record<string, string>[])
      expect((await victim.browser.post(form, typed, headers)).status).toBe(403)
  }
  for (const path of ['/logout', '/settings/tokens', '/settings/password'])
    expect((await victim.browser.send('GET', path)).status).toBe(404)
  const after = await settings(victim.browser)
  expect(after.status).toBe(200)
  expect(after.text).not.toContain('planted')
  expect((await victim.api.get('/me')).status).toBe(200)
})
