/** What applications get: codes, access tokens and refresh tokens, and how they end. */
import * as oauth from 'oauth4webapi'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import {
  answerConsent,
  begin,
  connect,
  insecure,
  redeem,
  refresh,
  refusal,
  register,
  toConsent,
} from './oauth.ts'
import { person, type Person } from './sign-in.ts'

let service: TestService
let somebody: Person

beforeAll(async () => {
  service = await startService({ config: { logLevel: 'error' } })
  somebody = await person(service)
})
afterEach(leaveAll)
afterAll(() => service.stop())

const api = (tokens: oauth.TokenEndpointResponse) => new ApiClient(service.url, tokens.access_token)
const status = async (tokens: oauth.TokenEndpointResponse) => (await api(tokens).get('/me')).status
const ends = (tokens: oauth.TokenEndpointResponse) =>
  until(async () => (await status(tokens)) === 401, 'the token ends')

async function allowed(application = register(service)) {
  const app = await application
  const begun = await begin(service, app)
  const consent = await toConsent(somebody.browser, begun, somebody.email)
  return { app, begun, answer: await answerConsent(somebody.browser, consent) }
}

test('[OC5] a code is good once: used again, also at the same moment, it ends all that came of it', async () => {
  const { app, begun, answer } = await allowed()
  const tokens = await redeem(app, begun, answer)
  expect(await status(tokens)).toBe(200)
  expect(await refusal(redeem(app, begun, answer))).toBe('invalid_grant')
  await ends(tokens)
  expect(await refusal(refresh(app, tokens.refresh_token!))).toBe('invalid_grant')

  const again = await allowed()
  const race = await Promise.allSettled(
    Array.from({ length: 6 }, () => redeem(again.app, again.begun, again.answer)),
  )
  const won = race.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  expect(won.length).toBeLessThanOrEqual(1)
  for (const one of won) await ends(one)
})

test('[OC5] a code is for the client and the verifier that asked for it, and for its redirect', async () => {
  const { app, begun, answer } = await allowed()
  const other = await register(service)
  const attempts = [
    () => redeem({ ...other, server: app.server }, begun, answer),
    () => redeem(app, { ...begun, verifier: oauth.generateRandomCodeVerifier() }, answer),
    () => redeem({ ...app, redirectUri: 'http://127.0.0.1:1/callback' }, begun, answer),
  ]
  for (const attempt of attempts) expect(await refusal(attempt())).toBe('invalid_grant')
  expect(await status(await redeem(app, begun, answer))).toBe(200)
})

test('[OC6] refresh tokens are replaced at each use; one that comes again ends its family', async () => {
  const { application, tokens } = await connect(service, somebody)
  const second = await refresh(application, tokens.refresh_token!)
  expect(second.refresh_token).not.toBe(tokens.refresh_token)
  expect([await status(tokens), await status(second)]).toEqual([200, 200])
  expect(await refusal(refresh(application, tokens.refresh_token!))).toBe('invalid_grant')
  await ends(second)
  await ends(tokens)
  expect(await refusal(refresh(application, second.refresh_token!))).toBe('invalid_grant')

  const other = await connect(service, somebody)
  const race = await Promise.allSettled(
    Array.from({ length: 6 }, () => refresh(other.application, other.tokens.refresh_token!)),
  )
  const won = race.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  expect(won.length).toBeLessThanOrEqual(1)
  for (const one of won) await ends(one)
})

test('[OC6] a refresh may ask for less, never for more', async () => {
  const { application, tokens } = await connect(service, somebody, { scope: 'read write' })
  const less = await refresh(application, tokens.refresh_token!, { scope: 'read' })
  expect(less.scope).toBe('read')
  expect((await api(less).get('/me')).body.scopes).toEqual(['read'])
  expect(await refusal(refresh(application, less.refresh_token!, { scope: 'read delete' }))).toBe(
    'invalid_scope',
  )
})

test('[OC7] a token is asked for by a name of this service; any other is refused, and leaves no token', async () => {
  const app = await register(service)
  const { browser, email } = somebody
  for (const resource of [
    'https://elsewhere.example/api',
    `${service.homeUrl}/other`,
    `${service.homeUrl}/api/v1/boards`,
  ]) {
    const begun = await begin(service, app, { resource })
    const shown = await toConsent(browser, begun, email)
    const answer = new URL(shown.headers.get('location')!)
    expect(await refusal(redeem(app, begun, answer))).toBe('invalid_target')
  }
  for (const resource of [
    `${service.homeUrl}/api/v1/mcp`,
    null,
    [`${service.homeUrl}/api/v1`, `${service.homeUrl}/api/v1/mcp`],
  ]) {
    const { tokens } = await connect(service, somebody, { resource }, app)
    expect([resource, await status(tokens)]).toEqual([resource, 200])
  }
  const begun = await begin(service, app)
  const answer = await answerConsent(browser, await toConsent(browser, begun, email))
  const foreign = redeem(app, begun, answer, { resource: 'https://elsewhere.example/api' })
  expect(await refusal(foreign)).toBe('invalid_target')
})

test('[OC12] an access token is a token like others: scopes, the way to more, audit with the client, one hour for all of a grant', async () => {
  const { application, tokens } = await connect(service, somebody, { scope: 'read write' })
  expect(tokens.access_token).toMatch(/^cork_/)
  const made = await api(tokens).post('/boards', { name: 'Made by an application' })
  expect(made.status).toBe(201)
  const refused = await api(tokens).delete(`/boards/${made.body.board.id}`)
  expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope'])
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer error="insufficient_scope", scope="read write delete", resource_metadata="${service.homeUrl}/.well-known/oauth-protected-resource"`,
  )
  const audit = await api(tokens).get('/audit?limit=1')
  expect(audit.body.entries[0]).toMatchObject({
    action: 'board.create',
    actor: { user_id: somebody.userId, client_id: application.client.client_id },
  })
  const before = (await api(tokens).get('/me')).body.rate_limit.remaining
  const next = await refresh(application, tokens.refresh_token!)
  expect((await api(next).get('/me')).body.rate_limit.remaining).toBe(before - 1)

  await service.admin`update tokens set expires_at = now() where hash = sha256(${tokens.access_token}::text::bytea)`
  await ends(tokens)
  expect(await status(next)).toBe(200)
})

test('[OC13] a client gives up a token: with it goes what it was issued with, and its open sockets within two seconds', async () => {
  const { application, tokens } = await connect(service, somebody, { scope: 'read write' })
  const other = await connect(service, somebody, { scope: 'read write' })
  const boardId = (await api(tokens).post('/boards', { name: 'Open' })).body.board.id
  const open = (token: string) => openEditor(service.url, { boardId, token, reconnect: false })
  const editor = await open(tokens.access_token)
  const bystander = await open(other.tokens.access_token)
  const revoke = ({ server, client, auth }: typeof application, token: string) =>
    oauth.revocationRequest(server, client, auth, token, insecure).then(oauth.processRevocationResponse)

  // Not by another client, which learns nothing of it.
  await revoke(other.application, tokens.refresh_token!)
  expect(await status(tokens)).toBe(200)
  await revoke(application, tokens.refresh_token!)
  await until(() => editor.closes.some(({ code }) => code === 4403), 'the editor is cut off', 2000)
  await ends(tokens)
  expect(await refusal(refresh(application, tokens.refresh_token!))).toBe('invalid_grant')
  expect(bystander.closes).toEqual([])
  expect(await status(other.tokens)).toBe(200)
})
