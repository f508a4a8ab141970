import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { openLog, passwordsIn } from '../../server/log.ts'
import { version } from '../../server/version.ts'
import { makeToken } from '../../sql/accounts/tokens.ts'
import { until } from '../support/editor.ts'
import { makeDataDir, startInstance, type Instance } from '../support/instance.ts'

const previousKey = 'an-earlier-key-of-more-than-32-characters'
let instance: Instance
let account: { token: string; token_id: string }

beforeAll(async () => {
  instance = await startInstance(await makeDataDir(afterAll), {
    LOG_LEVEL: 'debug',
    SECRET_KEY_PREVIOUS: previousKey,
  })
  const added = await instance.corkboard('user', 'add', '--email', 'log@example.com', '--name', 'Log')
  account = JSON.parse(added.stdout) as typeof account
})

afterAll(async () => {
  await instance.stop()
})

type Line = Record<string, unknown>

const lines = (): Line[] =>
  instance
    .stdout()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)

async function linesOf(requestId: string): Promise<Line[]> {
  await until(() => lines().some((line) => line['requestId'] === requestId), 'the request is logged')
  return lines().filter((line) => line['requestId'] === requestId)
}

test('[O12, VR1] a request is one JSON line, with the version and its request id, and without its query', async () => {
  const response = await fetch(`${instance.url}/api/v1/boards?limit=5`, {
    headers: { authorization: `Bearer ${account.token}` },
  })
  const found = await linesOf(response.headers.get('x-request-id')!)
  expect(found).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      version,
      requestId: response.headers.get('x-request-id'),
      method: 'GET',
      path: '/api/v1/boards',
      status: 200,
      durationMs: expect.any(Number),
      tokenId: account.token_id,
      msg: 'request',
    },
  ])
})

test('[O12] a request id that the client gives is taken, and a refusal is logged alike', async () => {
  const headers = { 'x-request-id': 'trace-17' }
  const response = await fetch(`${instance.url}/api/v1/me`, { headers })
  expect(response.headers.get('x-request-id')).toBe('trace-17')
  const [line, ...more] = await linesOf('trace-17')
  expect(more).toEqual([])
  expect(line).toMatchObject({ method: 'GET', path: '/api/v1/me', status: 401 })
  expect(line).not.toHaveProperty('tokenId')
})

test.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
  ['cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later', true],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later', false],
  ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', false],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', false],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', false],
  ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', false],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7', false],
])('[ME8] the trace id of traceparent %s is logged: %s', async (traceparent, isValid) => {
  const response = await fetch(`${instance.url}/api/v1/me`, { headers: { traceparent } })
  expect(response.status).toBe(401)
  const [line] = await linesOf(response.headers.get('x-request-id')!)
  expect(line!['traceId']).toBe(isValid ? '4bf92f3577b34da6a3ce929d0e0e4736' : undefined)
})

test('[O12] a probe that succeeds is logged at debug only', async () => {
  const response = await fetch(`${instance.url}/healthz`)
  const [line] = await linesOf(response.headers.get('x-request-id')!)
  expect(line).toMatchObject({ level: 'debug', path: '/healthz', status: 200 })
})

test('[O13] wherever a token, a password or the secret key turns up, the log does not hold it', async () => {
  const { token } = account
  const mistyped = `${makeToken().slice(0, -1)}x`
  const send = (path: string, init: RequestInit = {}) => fetch(`${instance.url}${path}`, init)
  const sent = lines().length
  await send('/api/v1/me', { headers: { authorization: `Bearer ${token}` } })
  await send('/api/v1/me', { headers: { authorization: `Bearer ${mistyped}` } })
  await send(`/api/v1/boards?cursor=${token}`, { headers: { authorization: `Bearer ${token}` } })
  await send(`/api/v1/boards/${token}/cards`, { headers: { authorization: `Bearer ${token}` } })
  await send(`/${token}`)
  await send(`/${mistyped}`)
  await send(`/${previousKey}`)
  await send('/api/v1/me', { headers: { 'x-request-id': token, 'user-agent': token, referer: `/${token}` } })
  await send('/api/v1/boards', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: `{"name": ${token}}`,
  })
  for (const credential of [token, mistyped]) await knock(credential)
  await until(() => lines().length >= sent + 9, 'all is logged')

  const { servicePassword, superuserPassword } = JSON.parse(
    await readFile(join(instance.dataDir, 'postgres.json'), 'utf8'),
  ) as Record<string, string>
  const secretKey = (await readFile(join(instance.dataDir, 'secret-key'), 'utf8')).trim()
  const log = instance.stdout()
  expect(log).toContain('/api/v1/boards/cork_[redacted]/cards')
  for (const canary of [token, mistyped, servicePassword!, superuserPassword!, secretKey, previousKey]) {
    expect(canary.length).toBeGreaterThan(20)
    expect(log).not.toContain(canary)
    expect(log).not.toContain(canary.slice(5, 25))
  }
})

/** Opens a socket with this token to a board that is not there, and waits for the refusal. */
async function knock(token: string): Promise<void> {
  const socket = new HocuspocusProviderWebsocket({
    url: `${instance.url.replace('http', 'ws')}/collab?token=${token}`,
    WebSocketPolyfill: WebSocket,
  })
  let refused = false
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name: token,
    token,
    onAuthenticationFailed: () => (refused = true),
  })
  provider.attach()
  onTestFinished(() => socket.destroy())
  await until(() => refused, 'the socket is refused')
  provider.destroy()
}

test('[O13] the log blots out what it was given, in every form', () => {
  const written: string[] = []
  const url = 'postgres://cork:p%40ss%2Fword%22@db.example:5432/cork'
  const secrets = ['a "secret" key of 32 characters!', ...passwordsIn(url)]
  expect(passwordsIn(url)).toEqual(['p%40ss%2Fword%22', 'p@ss/word"'])
  const log = openLog('info', secrets, { write: (line: string) => written.push(line) })
  const cause = new Error(`no way to ${url}`)
  log.error(
    { err: new Error('failed', { cause }), url, key: secrets[0], nested: { password: 'p@ss/word"' } },
    url,
  )
  log.info({ token: makeToken() }, `said ${makeToken()}`)
  expect(written).toHaveLength(2)
  for (const line of written) expect(() => JSON.parse(line) as unknown).not.toThrow()
  expect(written.join('')).not.toMatch(/ss(%2F|\/)word|32 characters|cork_[^[]/)
  expect(JSON.parse(written[1]!)).toMatchObject({ token: 'cork_[redacted]', msg: 'said cork_[redacted]' })
})
