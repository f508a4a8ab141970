/** Clients that register themselves (RFC 7591), and those that are known by a document of theirs. */
import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import { openEgress } from '../../platform/egress/egress.ts'
import { openSecureSite } from '../support/secure-site.ts'
import { startService } from '../support/service.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import {
  answerConsent,
  begin,
  callback,
  discover,
  redeem,
  register,
  toConsent,
  type Application,
} from './oauth.ts'
import { person } from './sign-in.ts'

const site = await forFile(openSecureSite())
const { service } = await serviceOfFile({
  config: { logLevel: 'error' },
  egress: openEgress({ allow: ['127.0.0.1'], ca: site.certificate }),
})
const somebody = await person(service)

const document = { client_name: 'By document', redirect_uris: [callback] }

const documented = async (clientId: string): Promise<Application> => ({
  server: await discover(service),
  client: { client_id: clientId },
  auth: oauth.None(),
  redirectUri: callback,
})

const post = (body: unknown, type = 'application/json') =>
  fetch(`${service.homeUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const refused = async (metadata: object) => {
  const answer = await post({ client_name: 'Odd', token_endpoint_auth_method: 'none', ...metadata })
  return [answer.status, ((await answer.json()) as { error?: string }).error]
}

test('[OC9] what a client asks for and there is not is left out, and it is told what it got', async () => {
  const answer = await post({
    client_name: 'Greedy',
    redirect_uris: [callback],
    scope: 'openid read admin write offline_access',
    grant_types: ['authorization_code', 'implicit', 'refresh_token', 'password'],
    response_types: ['code', 'token'],
    token_endpoint_auth_method: 'none',
    software_id: 'greedy',
    unheard_of: true,
  })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('x-request-id')).toBeTruthy()
  const client = (await answer.json()) as Record<string, unknown>
  expect(client).toMatchObject({
    client_name: 'Greedy',
    scope: 'read write',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    software_id: 'greedy',
  })
  expect(client).not.toHaveProperty('client_secret')
  expect(client).not.toHaveProperty('unheard_of')
  const again = await fetch(String(client['registration_client_uri']), {
    headers: { authorization: `Bearer ${String(client['registration_access_token'])}` },
  })
  expect(((await again.json()) as Record<string, unknown>)['client_name']).toBe('Greedy')
  const unread = await fetch(String(client['registration_client_uri']), {
    headers: { authorization: `Bearer ${'x'.repeat(43)}` },
  })
  expect(unread.status).toBe(401)
})

test('[PG12] a client is told nothing of OpenID Connect', async () => {
  const answer = await post({
    client_name: 'Plain',
    redirect_uris: [callback],
    subject_type: 'public',
    require_auth_time: true,
    client_uri: 'https://app.example',
    contacts: ['makers@app.example'],
  })
  const client = (await answer.json()) as Record<string, unknown>
  const again = await fetch(String(client['registration_client_uri']), {
    headers: { authorization: `Bearer ${String(client['registration_access_token'])}` },
  })
  expect([answer.status, again.status]).toEqual([201, 200])
  expect(Object.keys(client).toSorted()).toEqual([
    'application_type',
    'client_id',
    'client_id_issued_at',
    'client_name',
    'client_secret',
    'client_secret_expires_at',
    'client_uri',
    'contacts',
    'grant_types',
    'redirect_uris',
    'registration_access_token',
    'registration_client_uri',
    'response_types',
    'token_endpoint_auth_method',
  ])
  expect(await again.json()).toEqual(client)
})

test('[OC8] an address to answer to is https, this machine, or a program’s own scheme', async () => {
  for (const uri of [
    'javascript:alert(1)',
    'JavaScript:alert(1)//x',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a.example/x',
    'view-source:https://a.example',
    'http://a.example/callback',
    'http://127.0.0.1.evil.example/callback',
    'https://user:secret@a.example/callback',
    'https://a.example/callback#x',
    'not a url',
    '/relative',
  ])
    expect([uri, ...(await refused({ redirect_uris: [uri] }))]).toEqual([uri, 400, 'invalid_redirect_uri'])
  for (const uri of [
    'https://app.example/callback',
    'http://localhost:3000/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:1234/callback',
    'cursor://anysphere.cursor-retrieval/oauth/callback',
    'com.example.app:/callback',
  ]) {
    const { client } = await register(service, { redirect_uris: [uri] })
    expect([uri, client['redirect_uris']]).toEqual([uri, [uri]])
  }
  const mixed = ['https://app.example/callback', 'http://127.0.0.1:1/callback']
  expect((await register(service, { redirect_uris: mixed, application_type: 'web' })).client).toMatchObject({
    redirect_uris: mixed,
    application_type: 'native',
  })
})

test('[OC9] what is no registration is 400 that says what is wrong', async () => {
  const invalid = [400, 'invalid_client_metadata']
  expect(await refused({})).toEqual([400, 'invalid_redirect_uri'])
  expect(await refused({ redirect_uris: [callback], client_name: 'x'.repeat(201) })).toEqual(invalid)
  expect(await refused({ redirect_uris: [callback], client_name: 7 })).toEqual(invalid)
  expect(await refused({ redirect_uris: [callback], token_endpoint_auth_method: 'made_up' })).toEqual(invalid)
  const many = Array.from({ length: 21 }, (_, n) => `https://app.example/${n}`)
  expect((await refused({ redirect_uris: many }))[0]).toBe(400)
  for (const [body, type] of [
    ['{', 'application/json'],
    ['[]', 'application/json'],
    ['a=b', 'application/x-www-form-urlencoded'],
  ] as const)
    expect([body, (await post(body, type)).status]).toEqual([body, 400])
})

test('[OC9] registrations are limited by address', async () => {
  const busy = await startService({ config: { logLevel: 'error', trustProxy: 1 } })
  const send = (from: string) =>
    fetch(`${busy.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      body: JSON.stringify({ redirect_uris: [callback], token_endpoint_auth_method: 'none' }),
    }).then(({ status, headers }) => [status, Number(headers.get('retry-after')) > 0])
  const answers = []
  for (let n = 0; n < 61; n++) answers.push(await send('192.0.2.1'))
  expect(answers.filter(([status]) => status === 201)).toHaveLength(60)
  expect(answers.at(-1)).toEqual([429, true])
  expect(await send('192.0.2.2')).toEqual([201, false])
  await busy.stop()
})

test('[OC2] a client with a secret gets its token by it, and by no other', async () => {
  const app = await register(service, { token_endpoint_auth_method: 'client_secret_basic' })
  const { browser, email } = somebody
  const begun = await begin(service, app)
  const answer = await answerConsent(browser, await toConsent(browser, begun, email))
  for (const auth of [oauth.None(), oauth.ClientSecretBasic('wrong')])
    await expect(redeem({ ...app, auth }, begun, answer)).rejects.toThrow()
  expect((await redeem(app, begun, answer)).token_type).toBe('bearer')
})

test('[OC3] a client that is known by its document connects without registering, and its document is kept for a while', async () => {
  const id = site.describe('/client.json', document)
  const { browser, email } = somebody
  for (let time = 0; time < 2; time++) {
    const app = await documented(id)
    const begun = await begin(service, app)
    const consent = await toConsent(browser, begun, email)
    expect(consent.text).toContain('By document')
    expect(consent.text).toContain(new URL(site.url).host)
    const answer = await answerConsent(browser, consent)
    expect((await redeem(app, begun, answer)).token_type).toBe('bearer')
  }
  expect(site.seen.filter((path) => path === '/client.json')).toHaveLength(1)
})

test('[PG11] a client id that is a URL needs a path', async () => {
  const { browser } = somebody
  const before = site.seen.length
  for (const clientId of [site.url, `${site.url}?client=1`]) {
    const { url } = await begin(service, await documented(clientId))
    const shown = await browser.open(url.pathname + url.search)
    expect([clientId, shown.status, site.seen.length]).toEqual([clientId, 400, before])
    expect(shown.text).toContain('with a path')
  }
  const id = site.describe('/', document)
  expect(id).toBe(`${site.url}/`)
  const consent = await toConsent(browser, await begin(service, await documented(id)), somebody.email)
  expect(consent.text).toContain('By document')
})

test('[OC20] a document that is not its client’s, or not to be had, connects nobody', async () => {
  const { browser } = somebody
  const bad: Record<string, string> = {
    other: site.describe('/other.json', { ...document, client_id: `${site.url}/client.json` }),
    secret: site.describe('/secret.json', { ...document, client_secret: 'known to all' }),
    scheme: site.describe('/scheme.json', { ...document, redirect_uris: ['javascript:alert(1)'] }),
    large: site.describe('/large.json', { ...document, client_name: 'x'.repeat(100_000) }),
    missing: `${site.url}/missing.json`,
    plain: 'http://127.0.0.1:1/client.json',
    private: 'https://10.0.0.1/client.json',
    metadata: 'https://169.254.169.254/latest/meta-data',
  }
  site.pages.set('/moved.json', (_request, response) =>
    response.writeHead(302, { location: '/client.json' }).end(),
  )
  bad['moved'] = `${site.url}/moved.json`
  site.pages.set('/slow.json', () => undefined)
  bad['slow'] = `${site.url}/slow.json`
  for (const [what, clientId] of Object.entries(bad)) {
    const { url } = await begin(service, await documented(clientId))
    const shown = await browser.open(url.pathname + url.search)
    expect([what, shown.status, shown.headers.get('location')]).toEqual([what, 400, null])
  }
})

test('[OC20] without the operator’s leave no document inside the network is asked for', async () => {
  const strict = await startService({ config: { logLevel: 'error' } })
  const before = site.seen.length
  const query = new URLSearchParams({
    client_id: site.describe('/inside.json', document),
    redirect_uri: callback,
    response_type: 'code',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  })
  const shown = await fetch(`${strict.url}/oauth/authorize?${query.toString()}`, { redirect: 'manual' })
  expect([shown.status, site.seen.length]).toEqual([400, before])
  await strict.stop()
})

test('[OC9] preflights of other origins are answered, so that a client may live in a browser', async () => {
  for (const path of ['/oauth/register', '/oauth/token', '/oauth/revoke']) {
    const preflight = await fetch(service.homeUrl + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://inspector.example', 'access-control-request-method': 'POST' },
    })
    expect([path, preflight.headers.get('access-control-allow-origin')]).toEqual([path, '*'])
  }
  const answer = await fetch(`${service.homeUrl}/oauth/token`, {
    method: 'POST',
    headers: { origin: 'https://inspector.example' },
    body: new URLSearchParams({ grant_type: 'authorization_code', client_id: 'nobody' }),
  })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, '*'])
})
