/** What pages offer, and the way through them in a Chromium that runs no script. */
import { expect, test } from 'vitest'
import { browserName } from '../../api/settings/browser-name.ts'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { begin, connect, register, toConsent } from '../api/oauth.ts'
import { person, quickCost, signIn } from '../api/sign-in.ts'
import { Browser } from '../support/browser.ts'
import { chromiumOfFile, contextOf } from '../support/chromium.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service } = await serviceOfFile({
  config: { logLevel: 'error' },
  passwords: openPasswords(quickCost),
})
const chromium = await chromiumOfFile()

/** A browser on a busy machine. */
const slow = { timeout: 120_000 }

const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const get = (path: string, accept: string) => fetch(service.url + path, { headers: { accept } })
const typeOf = ({ headers }: Response) => headers.get('content-type')?.split(';')[0]

test('[PG4] the start page says what this is and leads on; the API keeps asking for a token', async () => {
  const page = await get('/', html)
  expect([page.status, typeOf(page)]).toEqual([200, 'text/html'])
  const text = await page.text()
  expect(text).toContain('This is a Corkboard server')
  for (const path of ['/docs', '/login', '/settings', '/changelog', '/api/v1/openapi.json']) {
    expect(text).toContain(`href="${path}"`)
    expect([path, (await get(path, html)).status]).toEqual([path, 200])
  }
  expect((await get('/api/v1', html)).status).toBe(401)
})

test('[PG5] a mistyped address is a page for people and JSON for programs', async () => {
  for (const [path, accept, type] of [
    ['/setings', html, 'text/html'],
    ['/', 'text/html', 'text/html'],
    ['/docs/static/nothing', html, 'text/html'],
    ['/api/v10', html, 'text/html'],
    ['/setings', '*/*', 'application/json'],
    ['/setings', 'application/json', 'application/json'],
    ['/setings', 'text/html;q=0.5, application/json', 'application/json'],
    ['/api/v1/bords', html, 'application/json'],
    ['/api/v1/bords/', html, 'application/json'],
  ] as const) {
    const answer = await get(path, accept)
    expect([path, accept, answer.status, typeOf(answer)]).toEqual([
      path,
      accept,
      path === '/' ? 200 : 404,
      type,
    ])
    if (type === 'application/json')
      expect(await answer.json()).toEqual({ error: expect.any(String), code: 'not_found' })
  }
})

test(
  '[PG6] revoking, disconnecting, ending a session and logging out everywhere ask first',
  slow,
  async () => {
    const somebody = await person(service)
    await signIn(somebody.browser, somebody)
    const elsewhere = new Browser(service.url)
    await signIn(elsewhere, somebody)
    const { tokens } = await connect(service, somebody)
    const context = await contextOf(chromium, somebody.browser, { javaScriptEnabled: false })
    const page = await context.newPage()
    const tokenWorks = async (token: string) =>
      (await fetch(`${service.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status ===
      200
    const isIn = async (browser: Browser) => (await browser.send('GET', '/settings')).status === 200
    for (const { link, question, button, works } of [
      {
        link: 'Revoke the token test',
        question: 'Revoke the token “test”?',
        button: 'Revoke token',
        works: () => tokenWorks(somebody.token),
      },
      {
        link: 'Disconnect Clipper',
        question: 'Disconnect “Clipper”?',
        button: 'Disconnect',
        works: () => tokenWorks(tokens.access_token),
      },
      {
        link: 'End the session in node at 127.0.0.1',
        question: 'End the session in node?',
        button: 'End session',
        works: () => isIn(elsewhere),
      },
      {
        link: 'Log out everywhere',
        question: 'Log out everywhere?',
        button: 'Log out everywhere',
        works: () => isIn(somebody.browser),
      },
    ]) {
      await page.goto(`${service.url}/settings`)
      await page.getByRole('link', { name: link }).click()
      expect(await page.getByRole('heading').textContent()).toBe(question)
      await page.getByRole('link', { name: 'Cancel' }).click()
      expect([question, new URL(page.url()).pathname, await works()]).toEqual([question, '/settings', true])
      await page.getByRole('link', { name: link }).click()
      await page.getByRole('button', { name: button, exact: true }).click()
      expect([question, await works()]).toEqual([question, false])
      expect(await page.getByRole('link', { name: link }).count()).toBe(0)
    }
    await context.close()
  },
)

test('[PG6] the question names nothing of other accounts', async () => {
  const [one, other] = [await person(service), await person(service)]
  await signIn(one.browser, one)
  await signIn(other.browser, other)
  const { application } = await connect(service, other)
  const [session] = await service.admin<
    { id: string }[]
  >`select id from sessions where user_id = ${other.userId}`
  for (const path of [
    `/settings/tokens/revoke?id=${other.tokenId}`,
    `/settings/sessions/end?id=${session!.id}`,
    `/settings/applications/disconnect?client_id=${application.client.client_id}`,
    '/settings/tokens/revoke?id=x',
    '/settings/sessions/end',
    '/settings/applications/disconnect?client_id=%00',
  ]) {
    const answer = await one.browser.send('GET', path)
    expect([path, answer.status, answer.headers.get('location')]).toEqual([
      path,
      303,
      expect.stringMatching(/^\/settings#(api|sessions|applications)$/),
    ])
  }
})

test('[PG7] sessions are named by browser and system', async () => {
  const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)'
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  for (const [userAgent, name] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [`${windows} ${webkit} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on Windows'],
    [`${windows} ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, 'Edge on Windows'],
    [`${windows} ${webkit} Chrome/140.0.0.0 Safari/537.36 OPR/120.0.0.0`, 'Opera on Windows'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1',
      'Chrome on iPad',
    ],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${webkit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
      'Samsung Internet on Android',
    ],
    ['Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox on Android'],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/140.0.0.0 Safari/537.36`,
      'Chrome on ChromeOS',
    ],
    ['curl/8.5.0', 'curl'],
    ['node', 'node'],
    ['Mozilla/5.0', 'Unknown browser'],
    ['<b>', 'Unknown browser'],
    [null, 'Unknown browser'],
    ['x'.repeat(300), 'Unknown browser'],
  ] as const)
    expect([userAgent, browserName(userAgent)]).toEqual([userAgent, name])
  const somebody = await person(service)
  const page = await somebody.browser.open('/login')
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const typed = { email: somebody.email, password: 'correct horse battery staple' }
  await somebody.browser.post(page.form('/login'), typed, { 'user-agent': userAgent })
  const settings = await somebody.browser.open('/settings')
  expect(settings.text).toContain('Firefox on Linux')
  expect(settings.text).not.toContain('Gecko')
})

test('[PG8] consent ticks reading and writing, not deleting, and marks nothing as an error', async () => {
  const somebody = await person(service)
  const begun = await begin(service, await register(service), { scope: 'read write delete' })
  const consent = await toConsent(somebody.browser, begun, somebody.email)
  const boxes = [...consent.text.matchAll(/name="scope_(\w+)"([^>]*)>/g)]
  expect(boxes.map(([, scope, more = '']) => [scope, more.includes('checked')])).toEqual([
    ['read', true],
    ['write', true],
    ['delete', false],
  ])
  expect(consent.text).toContain('Nobody has verified this application')
  expect(consent.text).not.toMatch(/class="fault"|role="alert"/)
})

test('[PG13] the API reference leads back and follows the colour scheme', slow, async () => {
  const context = await chromium.newContext({ baseURL: service.url, colorScheme: 'dark' })
  const page = await context.newPage()
  await page.goto('/docs')
  await page.getByText('/me', { exact: true }).waitFor()
  const background = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  const dark = await background()
  await page.emulateMedia({ colorScheme: 'light' })
  await expect.poll(background).not.toBe(dark)
  // Opened operations are still part of the address.
  await page.getByText('/me', { exact: true }).click()
  await expect.poll(() => page.url()).toMatch(/#\/Account\/\w+$/)
  await page.getByRole('link', { name: 'Corkboard' }).click()
  expect(new URL(page.url()).pathname).toBe('/')
  expect(await page.getByRole('link', { name: 'API reference' }).first().getAttribute('href')).toBe('/docs')
  await context.close()
})
