/** What is kept of applications: encrypted or hashed, listed for their user, shared by processes, and forgotten in time. */
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgetApplications } from '../../workers/upkeep/forget-applications.ts'
import { until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { answerConsent, begin, connect, redeem, refresh, refusal, register, toConsent } from './oauth.ts'
import { person, signIn } from './sign-in.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ config: { logLevel: 'error' } })
})
afterAll(() => service.stop())

const status = async (tokens: oauth.TokenEndpointResponse, url = service.homeUrl) =>
  (await new ApiClient(url, tokens.access_token).get('/me')).status

/** All that is in the database, as text. */
async function dump(): Promise<string> {
  const tables = await service.admin<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'corkboard' and table_type = 'BASE TABLE'`
  const parts: string[] = []
  for (const { name } of tables) {
    const rows = await service.admin.unsafe(`select t.*, t::text as whole from corkboard."${name}" t`)
    parts.push(JSON.stringify(rows, (_key, value: unknown) => (isBytes(value) ? bytesOf(value) : value)))
  }
  return parts.join('\n')
}
const isBytes = (value: unknown): value is { type: 'Buffer'; data: number[] } =>
  typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'Buffer'
const bytesOf = ({ data }: { data: number[] }) => {
  const bytes = Buffer.from(data)
  return [bytes.toString('latin1'), bytes.toString('base64'), bytes.toString('base64url')].join(' ')
}

test('[OC15] the database holds no code, token or secret with which anybody could get in', async () => {
  const { browser, email } = await person(service)
  const app = await register(service, { token_endpoint_auth_method: 'client_secret_post' })
  app.auth = oauth.ClientSecretPost(app.client['client_secret'] as string)
  const begun = await begin(service, app)
  const open = await toConsent(browser, await begin(service, app), email) // an interaction that is not over
  const consent = await toConsent(browser, begun, email)
  const answer = await answerConsent(browser, consent)
  const unused = answer.searchParams.get('code')!
  const before = await dump()
  const tokens = await redeem(app, begun, answer)
  const secrets: Record<string, string> = {
    'the code': unused,
    'the access token': tokens.access_token,
    'the refresh token': tokens.refresh_token!,
    'the client secret': app.client['client_secret'] as string,
    'the registration access token': app.client['registration_access_token'] as string,
    'the interaction': open.path.split('/').at(-1)!,
    'the verifier': begun.verifier,
  }
  const whole = before + (await dump())
  for (const [what, secret] of Object.entries(secrets)) {
    expect(secret.length, what).toBeGreaterThan(20)
    expect(whole.includes(secret), what).toBe(false)
    expect(whole.includes(Buffer.from(secret).toString('hex')), what).toBe(false)
  }
  expect(whole).toContain(app.client.client_id) // the dump sees what is there
})

test('[OC17] the settings list what is connected, and to disconnect it ends its tokens at once', async () => {
  const somebody = await person(service)
  const mine = await connect(service, somebody, { scope: 'read write' })
  const again = await connect(service, somebody, { scope: 'read delete' }, mine.application)
  const other = await connect(service, somebody, { scope: 'read' })
  expect(await status(mine.tokens)).toBe(200)
  const settings = await somebody.browser.open('/settings')
  const section = /<section id="applications">[^]*?<\/section>/.exec(settings.text)![0]
  expect(section.match(/>Clipper</g)).toHaveLength(2)
  expect(section).toContain('127.0.0.1:33418')
  expect(section).toContain('read, write, delete')
  // They are none of the personal tokens.
  const personal = /<section id="api">[^]*?<\/section>/.exec(settings.text)![0]
  expect(personal).not.toContain('Clipper')

  const question = await somebody.browser.open(
    `/settings/applications/disconnect?client_id=${mine.application.client.client_id}`,
  )
  expect(settings.text).toContain(`href="${question.path}"`)
  expect(question.text).toContain('Disconnect “Clipper”?')
  const form = question.form('/settings/applications/disconnect')
  const forged = { ...form, fields: form.fields.filter(([name]) => name !== 'csrf') }
  expect((await somebody.browser.post(forged)).status).toBe(403)
  const stranger = await person(service)
  await signIn(stranger.browser, { email: stranger.email })
  const theirs = (await stranger.browser.open('/settings')).form('/logout')
  const csrf = theirs.fields.find(([name]) => name === 'csrf')![1]
  await stranger.browser.post(form, { csrf })
  expect(await status(mine.tokens)).toBe(200)

  const after = await somebody.browser.submit(form)
  expect(/<section id="applications">[^]*?<\/section>/.exec(after.text)![0].match(/>Clipper</g)).toHaveLength(
    1,
  )
  const ended = async (tokens: oauth.TokenEndpointResponse) => (await status(tokens)) === 401
  await until(async () => (await ended(mine.tokens)) && ended(again.tokens), 'both have ended', 2000)
  expect(await refusal(refresh(mine.application, mine.tokens.refresh_token!))).toBe('invalid_grant')
  expect(await status(other.tokens)).toBe(200)
  const actions = (await somebody.api.get('/audit?limit=20')).body.entries.map(
    ({ action }: { action: string }) => action,
  )
  expect(actions).toEqual(expect.arrayContaining(['application.connect', 'application.disconnect']))
})

test('[OC18] any process goes on with what another began', async () => {
  const publicUrl = service.homeUrl
  const second = await startService({
    testDatabase: { url: service.databaseUrl, admin: service.admin, drop: async () => undefined },
    config: { logLevel: 'error', publicUrl },
  })
  const somebody = await person(service)
  const app = await register(service)
  const begun = await begin(service, app)
  const consent = await toConsent(somebody.browser, begun, somebody.email)
  const answer = await answerConsent(somebody.browser, consent)
  const elsewhere = { ...app, server: { ...app.server, token_endpoint: `${second.url}/oauth/token` } }
  const tokens = await redeem(elsewhere, begun, answer)
  expect([await status(tokens), await status(tokens, second.url)]).toEqual([200, 200])
  const next = await refresh(app, tokens.refresh_token!)
  expect(await refusal(refresh(elsewhere, tokens.refresh_token!))).toBe('invalid_grant')
  await until(async () => (await status(next)) === 401, 'the family has ended')
  await second.stop()
})

test('[OC19] behind a proxy all addresses are the public ones, whatever a request says of its host', async () => {
  const publicUrl = 'https://boards.example'
  const proxied = await startService({ config: { logLevel: 'error', publicUrl, trustProxy: 1 } })
  const said = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-for': '192.0.2.1',
  }
  const registered = await fetch(`${proxied.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...said },
    body: JSON.stringify({ redirect_uris: ['https://app.example/cb'], token_endpoint_auth_method: 'none' }),
  })
  const client = (await registered.json()) as Record<string, string>
  expect(client['registration_client_uri']).toBe(`${publicUrl}/oauth/register/${client['client_id']}`)
  const query = new URLSearchParams({
    client_id: client['client_id']!,
    redirect_uri: 'https://app.example/cb',
    response_type: 'code',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    resource: `${publicUrl}/api/v1/mcp`,
  })
  const begun = await fetch(`${proxied.url}/oauth/authorize?${query.toString()}`, {
    redirect: 'manual',
    headers: said,
  })
  expect([begun.status, begun.headers.get('location')?.split('/').slice(0, -1).join('/')]).toEqual([
    303,
    '/oauth/interaction',
  ])
  const cookies = begun.headers.getSetCookie()
  expect(cookies.length).toBeGreaterThan(1)
  for (const cookie of cookies) {
    expect(cookie).toMatch(/; secure/i)
    expect(cookie).toMatch(/; httponly/i)
    expect(cookie).toMatch(/; samesite=lax/i)
  }
  await proxied.stop()
})

test('[OC16] what ended is forgotten, and so are clients that nobody uses; what is in use stays', async () => {
  const clocked = await startService({ config: { logLevel: 'error' }, workers: false })
  const count = async (table: string) =>
    Number((await clocked.admin.unsafe(`select count(*) as count from corkboard.${table}`))[0]!['count'])
  const somebody = await person(clocked)
  const unused = await register(clocked)
  const { application, tokens } = await connect(clocked, somebody)
  const sweep = (days: number) =>
    forgetApplications(clocked.database, new Date(Date.now() + days * 86_400_000))
  await sweep(0)
  expect([await count('oauth_clients'), await count('oauth_grants')]).toEqual([2, 1])
  await sweep(8)
  const [left] = await clocked.admin`select client_id from oauth_clients`
  expect(left!['client_id']).toBe(application.client.client_id)
  expect(unused.client.client_id).not.toBe(application.client.client_id)
  const kinds = await clocked.admin`select distinct kind from oauth_artifacts order by kind`
  expect(kinds.map(({ kind }) => kind as string)).toEqual(['RefreshToken', 'RegistrationAccessToken'])
  expect(
    Number(
      (await clocked.admin`select count(*) as count from tokens where grant_id is not null`)[0]!['count'],
    ),
  ).toBe(0)
  expect((await refresh(application, tokens.refresh_token!)).token_type).toBe('bearer')
  await sweep(100)
  expect([await count('oauth_clients'), await count('oauth_grants'), await count('oauth_artifacts')]).toEqual(
    [0, 0, 0],
  )
  await clocked.stop()
})
