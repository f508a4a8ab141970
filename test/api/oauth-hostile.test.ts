/** What must not happen on the way to a token: each refused, and nothing allowed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'
import {
  answerConsent,
  begin,
  callback,
  discover,
  redeem,
  register,
  toConsent,
  type Application,
  type Asked,
} from './oauth.ts'
import { person, signIn, type Person } from './sign-in.ts'

let service: TestService
let somebody: Person
let app: Application

beforeAll(async () => {
  service = await startService({ config: { logLevel: 'error' } })
  somebody = await person(service)
  app = await register(service)
})
afterAll(() => service.stop())

async function consentOf(asked: Asked = {}, who = somebody) {
  const begun = await begin(service, app, asked)
  return { begun, consent: await toConsent(who.browser, begun, who.email) }
}

const grants = async () =>
  Number((await service.admin`select count(*) as count from oauth_grants`)[0]!['count'])

test('[OC4] without PKCE, and with `plain`, there is no code', async () => {
  const attempts: Asked[] = [
    { challenge: null, challengeMethod: null },
    { challengeMethod: 'plain' },
    { challengeMethod: null },
    { challenge: 'short' },
  ]
  for (const asked of attempts) {
    const { begun, consent } = await consentOf(asked)
    const answer = new URL(consent.headers.get('location')!)
    expect(answer.origin + answer.pathname).toBe(callback)
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({
      error: 'invalid_request',
      state: begun.state,
      iss: service.homeUrl,
    })
    expect(answer.searchParams.has('code')).toBe(false)
  }
})

test('[OC8] an answer goes to a registered address alone, or nowhere', async () => {
  const { browser } = somebody
  for (const redirectUri of [
    'https://evil.example/callback',
    `${callback}/more`,
    'http://127.0.0.1:33418/other',
    'http://127.0.0.1.evil.example/callback',
    'javascript:alert(1)',
  ]) {
    const { url } = await begin(service, app, { redirectUri })
    const shown = await browser.open(url.pathname + url.search)
    expect([redirectUri, shown.status, shown.headers.get('location')]).toEqual([redirectUri, 400, null])
    expect(shown.text).toContain('could not be connected')
    expect(shown.headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`)
  }
  const { url } = await begin(service, { ...app, client: { client_id: '"><script>alert(1)</script>' } })
  const unknown = await browser.open(url.pathname + url.search)
  expect([unknown.status, unknown.text.includes('<script')]).toEqual([400, false])
  // A program on the user's machine takes any port that is free.
  const other = await consentOf({ redirectUri: 'http://127.0.0.1:1024/callback' })
  const answer = await answerConsent(browser, other.consent)
  expect(answer.host).toBe('127.0.0.1:1024')
})

test('[OC8] responses of other types than a code are refused', async () => {
  for (const more of [{ response_type: 'token' }, { response_type: 'code id_token' }]) {
    const { consent } = await consentOf({ more })
    const answer = new URL(consent.headers.get('location')!)
    expect(answer.href).toContain('error=')
    expect(answer.href).not.toContain('access_token')
  }
})

test('[OC11] a consent is taken only from the form that this session was shown', async () => {
  const before = await grants()
  const { consent } = await consentOf()
  const form = consent.form(consent.path)
  const without = { ...form, fields: form.fields.filter(([name]) => name !== 'csrf') }
  const { browser } = somebody
  const forged = [
    browser.post(without, { decision: 'allow' }),
    browser.post(form, { decision: 'allow', csrf: 'x'.repeat(60) }),
    browser.post(form, { decision: 'allow' }, { origin: 'https://evil.example' }),
    browser.post(form, { decision: 'allow' }, { 'sec-fetch-site': 'cross-site' }),
  ]
  for (const { status, headers } of await Promise.all(forged))
    expect([status, headers.get('location')]).toEqual([403, null])
  // As it is shown, no other page can put itself around it, and it leads back to the client alone.
  const policy = consent.headers.get('content-security-policy')!
  expect(policy).toContain(`frame-ancestors 'none'`)
  expect(policy).toContain(`form-action 'self' http://127.0.0.1:33418;`)
  expect(policy).toContain(`default-src 'none'`)
  expect(consent.headers.get('x-frame-options')).toBe('DENY')
  expect(consent.headers.get('access-control-allow-origin')).toBe(null)
  expect(await grants()).toBe(before)
})

test('[OC11] nobody answers for another browser or another account', async () => {
  const before = await grants()
  const { consent } = await consentOf()
  const form = consent.form(consent.path)
  // Somebody who was sent the address of the page, signed in as themselves.
  const other = await person(service)
  await signIn(other.browser, { email: other.email })
  expect((await other.browser.open(consent.path)).status).toBe(404)
  expect((await other.browser.post(form, { decision: 'allow' })).status).toBe(403)
  // The same browser, after somebody else has signed in there.
  const shared = new Browser(service.homeUrl)
  const begun = await begin(service, app)
  const first = await toConsent(shared, begun, somebody.email)
  await shared.submit((await shared.open('/settings')).form('/logout'))
  await signIn(shared, { email: other.email })
  expect((await shared.post(first.form(first.path), { decision: 'allow' })).status).toBe(403)
  const mine = await shared.open(first.path)
  expect(mine.text).toContain(other.email)
  // Without a session it leads to the login.
  const stranger = await new Browser(service.homeUrl).open(consent.path)
  expect(stranger.path).toBe(`/login?next=${encodeURIComponent(consent.path)}`)
  expect(await grants()).toBe(before)
})

test('[OC11] a consent that was given is over: sent again it gives nothing', async () => {
  const { begun, consent } = await consentOf()
  const answer = await answerConsent(somebody.browser, consent)
  const after = await grants()
  const again = await somebody.browser.post(consent.form(consent.path), { decision: 'allow' })
  expect([again.status, again.headers.get('location')]).toEqual([404, null])
  expect((await somebody.browser.open(consent.path)).status).toBe(404)
  expect(await grants()).toBe(after)
  expect((await redeem(app, begun, answer)).access_token).toBeDefined()
})

test('[OC11] sent twice before the browser went on, a consent is given once', async () => {
  const before = await grants()
  const { consent } = await consentOf()
  const form = consent.form(consent.path)
  const first = await somebody.browser.post(form, { decision: 'allow' })
  const second = await somebody.browser.post(form, { decision: 'deny' })
  expect(second.headers.get('location')).toBe(first.headers.get('location'))
  expect(await grants()).toBe(before + 1)
})

test('[OC10] denied: the application is told so, and nothing is allowed', async () => {
  const before = await grants()
  const { begun, consent } = await consentOf()
  const answer = await answerConsent(somebody.browser, consent, { decision: 'deny' })
  expect(answer.origin + answer.pathname).toBe(callback)
  expect(Object.fromEntries(answer.searchParams)).toMatchObject({
    error: 'access_denied',
    state: begun.state,
    iss: service.homeUrl,
  })
  expect(await grants()).toBe(before)
})

test('[OC10] what a client says of itself is shown as text, marked as its own word', async () => {
  const evil = await register(service, { client_name: '<b>Corkboard</b> \u202Eofficial"><script>' })
  const { browser, email } = somebody
  const consent = await toConsent(browser, await begin(service, evil), email)
  expect(consent.text).toContain('&lt;b&gt;Corkboard&lt;/b&gt; official')
  expect(consent.text).not.toContain('<script')
  expect(consent.text).toContain('Nobody has verified this application')
  expect(consent.text).toContain('127.0.0.1:33418')
  expect(consent.text).toContain('See all boards, cards and files that you can see')
})

test('[OC10] what is unticked is not allowed, reading always is, and no consent is taken for granted', async () => {
  const { begun, consent } = await consentOf({ scope: 'read write delete' })
  // Deleting is not ticked beforehand; writing is, and can be unticked.
  const form = consent.form(consent.path)
  expect(form.fields.map(([name]) => name)).toEqual(['csrf', 'scope_read', 'scope_write'])
  const shown = await somebody.browser.submit(form, { decision: 'allow' })
  const tokens = await redeem(app, begun, new URL(shown.headers.get('location')!))
  expect(tokens.scope).toBe('read write')
  const deletes = await consentOf({ scope: 'read write delete' })
  const other = await answerConsent(somebody.browser, deletes.consent, {
    decision: 'allow',
    ...{ scope_write: [], scope_delete: '1' },
  })
  expect((await redeem(app, deletes.begun, other)).scope).toBe('read delete')
  // Asked again, it shows the page again.
  expect((await consentOf()).consent.text).toContain('Nobody has verified this application')
  // What nobody asked for is not offered: without a scope it is reading.
  const plain = await consentOf({ scope: null })
  expect(plain.consent.form(plain.consent.path).fields.map(([name]) => name)).not.toContain('scope_write')
  const answer = await answerConsent(somebody.browser, plain.consent)
  expect((await redeem(app, plain.begun, answer)).scope).toBe('read')
  const silent = await consentOf({ more: { prompt: 'none' } })
  expect(silent.consent.headers.get('location')).toContain('error=login_required')
})

test('[OC14] [I5] the metadata say what is there, at each path where clients look, and a 401 leads to them', async () => {
  const json = async (path: string) =>
    (await (await fetch(service.homeUrl + path)).json()) as Record<string, any>
  const server = await discover(service)
  expect(server).toEqual({
    issuer: service.homeUrl,
    authorization_endpoint: `${service.homeUrl}/oauth/authorize`,
    token_endpoint: `${service.homeUrl}/oauth/token`,
    registration_endpoint: `${service.homeUrl}/oauth/register`,
    revocation_endpoint: `${service.homeUrl}/oauth/revoke`,
    scopes_supported: ['read', 'write', 'delete'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [`${service.homeUrl}/api/v1`, `${service.homeUrl}/api/v1/mcp`],
  })
  for (const path of ['', '/api/v1', '/api/v1/mcp'])
    expect(await json(`/.well-known/oauth-authorization-server${path}`)).toEqual(server)
  expect((await fetch(`${service.homeUrl}/.well-known/openid-configuration`)).status).toBe(404)
  for (const [path, resource] of [
    ['', '/api/v1'],
    ['/api/v1', '/api/v1'],
    ['/api/v1/mcp', '/api/v1/mcp'],
  ])
    expect(await json(`/.well-known/oauth-protected-resource${path}`)).toMatchObject({
      resource: service.homeUrl + resource,
      authorization_servers: [service.homeUrl],
      scopes_supported: ['read', 'write', 'delete'],
      bearer_methods_supported: ['header'],
    })
  for (const [method, path, suffix] of [
    ['GET', '/api/v1/me', ''],
    ['DELETE', '/api/v1/boards', ''],
    ['POST', '/api/v1/mcp', '/api/v1/mcp'],
  ] as const) {
    const refused = await fetch(service.homeUrl + path, { method })
    expect([path, refused.status, refused.headers.get('www-authenticate')]).toEqual([
      path,
      401,
      `Bearer resource_metadata="${service.homeUrl}/.well-known/oauth-protected-resource${suffix}"`,
    ])
  }
})
