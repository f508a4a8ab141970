/** Signing in with a password, in a browser without JavaScript. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { html } from '../../api/sign-in/html.ts'
import { localPath } from '../../api/sign-in/local-path.ts'
import { pageHeaders } from '../../api/sign-in/page.ts'
import { Browser } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'
import { person, rightPassword, signIn } from './sign-in.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ config: { logLevel: 'error' } })
})
afterAll(() => service.stop())

test('[SI1] /login signs in by e-mail, in any case, and password, and leads on to the settings', async () => {
  const { browser, email } = await person(service)
  const page = await browser.open('/login')
  expect(page.status).toBe(200)
  expect(page.text).not.toMatch(/<script|javascript:|\son\w+=/i)
  const answer = await browser.post(page.form('/login'), {
    email: email.toUpperCase(),
    password: rightPassword,
  })
  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toBe('/settings')
  // Who is signed in already is led on.
  const again = await browser.send('GET', '/login?next=/settings%3Fa=b')
  expect([again.status, again.headers.get('location')]).toEqual([303, '/settings?a=b'])
})

test('[SI2] the session is a cookie for this host alone, out of reach of scripts and of other sites’ forms', async () => {
  const { browser, email } = await person(service)
  const answer = await signIn(browser, { email })
  const cookies = answer.headers.getSetCookie()
  const session = cookies.find((line) => line.startsWith('corkboard_session='))!
  const [, ...attributes] = session.split('; ')
  expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=7776000', 'Path=/', 'SameSite=Lax'])
  for (const line of cookies) expect(line).toMatch(/; HttpOnly/)
})

test('[SI2] behind https its name binds it to the host, and it goes by https alone', async () => {
  const secured = await startService({ config: { publicUrl: 'https://boards.example' } })
  const { email } = await person(secured)
  const page = await fetch(`${secured.url}/login`)
  const [form = ''] = page.headers.getSetCookie()
  expect(form).toMatch(/^__Host-corkboard_form=[\w-]{43}; /)
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await page.text()) ?? []
  const answer = await fetch(`${secured.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: form.split(';')[0]!, origin: 'https://boards.example' },
    body: new URLSearchParams({ csrf, email, password: rightPassword }),
  })
  expect(answer.status).toBe(303)
  const session = answer.headers.getSetCookie().find((line) => line.startsWith('__Host-corkboard_session='))!
  expect(session.split('; ').slice(1).toSorted()).toEqual([
    'HttpOnly',
    'Max-Age=7776000',
    'Path=/',
    'SameSite=Lax',
    'Secure',
  ])
  await secured.stop()
})

const local = [
  '/',
  '/settings',
  '/settings?tab=tokens#made',
  '/a/b//c',
  '/%41',
  '/x?next=//evil.example',
  '/x?u=https%3A%2F%2Fevil.example%5C',
  '/authorize?redirect_uri=https%3A%2F%2Fclient.example%2Fcb&state=a%0Ab',
  '/x?%',
  '/x?\'"<>',
]
const elsewhere = [
  '',
  'settings',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/x\\..\\evil',
  'https:',
  'https://evil.example',
  'https:/evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '?x',
  '#x',
  '.',
  '..//evil.example',
  '/\tevil',
  '/\n/evil.example',
  '\t//evil.example',
  ' /x',
  '/ /evil',
  '/\u0000',
  '/x\r\nset-cookie: a=b',
  '/\u00e9',
  '/\u2028',
  '/%2F/evil.example',
  '/%2fevil.example',
  '/%5Cevil.example',
  '/%5c/evil',
  '/x%0d%0aset-cookie: a=b',
  '/%09/evil.example',
  '/x%00',
  '/./',
  '/.//evil.example',
  '/..//evil.example',
  '/a/..//evil.example',
  '/%2e//evil.example',
  '/%2e%2e//evil',
  '/%',
  '/x%zz',
  `/${'a'.repeat(9000)}`,
].filter((path) => path !== '/./')

test('[SI3] a path to go on to is one of this service', () => {
  expect(local.filter((path) => localPath(path) !== path)).toEqual([])
  expect(elsewhere.filter((path) => localPath(path) !== null)).toEqual([])
  for (const other of [null, undefined, 1, {}, ['/x']]) expect(localPath(other)).toBe(null)
})

test('[SI3] /login leads to such a path alone, whether it comes in the address or in the form', async () => {
  const { browser, email } = await person(service)
  for (const next of elsewhere.filter((path) => path.length < 2000)) {
    const page = await browser.open(`/login?next=${encodeURIComponent(next)}`)
    expect(page.form('/login').fields.map(([name]) => name)).toEqual(['csrf', 'email', 'password'])
  }
  const { headers } = await signIn(browser, { email, next: '/settings?a=1&b="2"#c' })
  expect(headers.get('location')).toBe('/settings?a=1&b="2"#c')
  for (const next of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/\r\nx: y',
    '/%2F/evil',
  ]) {
    const fresh = new Browser(service.homeUrl)
    const page = await fresh.open('/login')
    const answer = await fresh.post(page.form('/login'), { email, password: rightPassword, next })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings'])
    const led = await fresh.send('GET', `/login?next=${encodeURIComponent(next)}`)
    expect([led.status, led.headers.get('location')]).toEqual([303, '/settings'])
  }
})

test('[SI4] no form is taken that another site could have sent', async () => {
  const { browser, email } = await person(service)
  const page = await browser.open('/login')
  const form = page.form('/login')
  const typed = { email, password: rightPassword }
  const csrf = form.fields.find(([name]) => name === 'csrf')![1]
  const refused = async (sent: Promise<{ status: number; headers: Headers; text: string }>) => {
    const answer = await sent
    expect(answer.status).toBe(403)
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(answer.text).toContain('not sent from a page of this service')
  }
  // The token: missing, made up, of another browser, altered, of another kind.
  await refused(browser.post({ ...form, fields: [] }, typed))
  const other = (await new Browser(service.homeUrl).open('/login')).form('/login')
  const flipped = csrf.slice(0, -2) + (csrf.at(-2) === 'A' ? 'B' : 'A') + csrf.at(-1)!
  for (const made of ['', 'x', flipped, `${csrf}x`, other.fields[0]![1]])
    await refused(browser.post(form, { ...typed, csrf: made }))
  await refused(new Browser(service.homeUrl).post(form, typed)) // without the cookie that it belongs to
  // The page that it comes from, as browsers tell it.
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: service.homeUrl.replace('http:', 'ftp:') },
    { origin: `${service.homeUrl}0` },
    { origin: 'not a URL' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': '' },
  ] as Record<string, string>[])
    await refused(browser.post(form, typed, headers))
  // JSON and multipart are no forms of ours.
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
    const { status } = await browser.post(form, typed, { 'content-type': type })
    expect([type, status]).toEqual([type, 415])
  }
  expect((await browser.post(form, { ...typed, email: 'x'.repeat(70_000) })).status).toBe(413)
  expect((await browser.post(form, typed)).status).toBe(303)
})

test('[SI5] pages can be framed by nobody, run no script, load nothing, send forms nowhere else, and are kept by no cache', async () => {
  const { browser, email } = await person(service)
  const pages = [
    await browser.open('/login'),
    await browser.post(await browser.open('/login').then((page) => page.form('/login')), {
      email,
      password: 'wrong',
    }),
    await browser.post({ action: '/login', fields: [] }),
    await signIn(browser, { email }),
    await browser.send('GET', '/settings'),
  ]
  expect(pages.map(({ status }) => status)).toEqual([200, 422, 403, 303, 200])
  for (const { headers } of pages) {
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    )
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBe(null)
    expect(headers.get('x-request-id')).toMatch(/^[\w-]+$/)
  }
  // The one style sheet is the one that the policy names.
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(pages[0]!.text) ?? []
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64')
  expect(pages[0]!.headers.get('content-security-policy')).toContain(`'sha256-${digest}'`)
  expect(pages[0]!.text).not.toMatch(/\sstyle=/)
})

test('[SI5] where a form may lead besides is a parameter, and can’t end its directive', () => {
  const policy = (...sources: string[]) => pageHeaders(sources)['content-security-policy']
  expect(policy('https://client.example', 'http://127.0.0.1:3334', 'http://[::1]:80', 'cursor:')).toContain(
    "; form-action 'self' https://client.example http://127.0.0.1:3334 http://[::1]:80 cursor:; ",
  )
  for (const bad of ['https://x; script-src *', "'unsafe-inline'", 'a b', 'a,b', 'a\nb', '', 'https://x"'])
    expect(() => policy(bad)).toThrow('form-action')
})

test('[SI6] what is put into a page is text', async () => {
  const evil = '"><script>alert(1)</script>&\''
  const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#39;'
  const written = html`<p title="${evil}">${[evil, null, false, undefined, 3]}</p>`
  expect(written.text).toBe(`<p title="${escaped}">${escaped}3</p>`)
  expect(html`<b>${html`<i>${'<'}</i>`}</b>`.text).toBe('<b><i>&lt;</i></b>')
  const browser = new Browser(service.homeUrl)
  const page = await browser.open(`/login?next=${encodeURIComponent(`/x?${encodeURIComponent(evil)}"'<>`)}`)
  expect(page.text).not.toContain('<script')
  expect(page.form('/login').fields.find(([name]) => name === 'next')![1]).toBe(
    `/x?${encodeURIComponent(evil)}"'<>`,
  )
  const answer = await browser.post(page.form('/login'), { email: `${evil}@x.example`, password: 'x' })
  expect(answer.text).not.toContain('<script')
})
