import { request as httpRequest } from 'node:http'
import { expect, test } from 'vitest'
import { apiRoot } from '../../api/http/root.ts'
import { routes } from '../../api/routes.ts'
import { limits } from '../../core/limits.ts'
import { makeToken } from '../../sql/accounts/tokens.ts'
import { ApiClient } from '../support/http.ts'
import { cpuMs } from '../support/cpu-time.ts'
import { openAgent } from '../support/mcp.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, nowhere } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })

const json = { 'content-type': 'application/json' }

interface Sent {
  status: number
  body: { error: string; code: string }
  headers: Record<string, unknown>
}

/** Sends the head of a request, and some of its body, and waits for the answer. */
const sendPart = (
  path: string,
  headers: Record<string, string>,
  part: string,
  token = user.token,
  signal?: AbortSignal,
): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(`${service.url}${apiRoot}${path}`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}`, ...headers },
      ...(signal ? { signal } : {}),
    })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => {
        resolve({ status: response.statusCode!, body: JSON.parse(text) as never, headers: response.headers })
        request.destroy()
      })
    })
    request.write(part)
  })

test('[A200, A206] a body of millions of values is refused early, clearly and cheaply, on any route', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const cases: [method: string, path: string, body: string, says: RegExp][] = [
    ['POST', path, `{"cards":[${'0,'.repeat(31_000_000)}0],"x":"\\ud83d\\ude00"}`, /at most 10000 entries/],
    ['POST', path, `{"cards":[${'{},'.repeat(20_000_000)}{}]}`, /at most 10000 entries/],
    ['PATCH', `/boards/${board.id}`, `{"props":[${'{},'.repeat(340_000)}{}]}`, /at most 10000 entries/],
    ['POST', '/boards', `{"name":"a","props":{"x":[${'0,'.repeat(500_000)}0]}}`, /at most 50000 values/],
  ]
  for (const [method, to, body, says] of cases) {
    const answer = await user.api.send(method, to, body)
    expect([answer.status, answer.body['code']]).toEqual([400, 'bad_request'])
    expect(answer.body['error']).toMatch(says)
  }
  const mcp = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":[${'{},'.repeat(1_000_000)}{}]}}`
  const accept = { accept: 'application/json, text/event-stream' }
  const used = await cpuMs(async () => {
    const answer = await user.api.send('POST', '/mcp', mcp, accept)
    expect(answer.status).toBe(400)
    expect(answer.text).toMatch(/must have at most 50000 values/)
  })
  expect(used).toBeLessThan(1000)
})

test('[A207] who may not write is told before a large body is read', async () => {
  const board = await makeBoard(user)
  const stranger = await service.user()
  const viewer = await service.user()
  await service.share(board.id, viewer, 'viewer')
  const size = { 'content-length': String(60 * 1024 * 1024) }
  const path = `/boards/${board.id}/cards`
  const head = '{"cards":['
  const refused = await sendPart(path, size, head, stranger.token)
  expect([refused.status, refused.body.code]).toEqual([404, 'not_found'])
  const forbidden = await sendPart(path, size, head, viewer.token)
  expect([forbidden.status, forbidden.body.code]).toEqual([403, 'forbidden'])
  await user.api.delete(`/boards/${board.id}`)
  expect((await sendPart(path, size, head)).status).toBe(409)
})

test('[A205] past its share an account is told to come back: 429 with retry-after', async () => {
  const other = await service.user()
  const board = await makeBoard(other)
  const size = { 'content-length': String(limits.largeBodies.bytesPerAccount) }
  const gone = new AbortController()
  const all = Array.from({ length: 2 + limits.largeBodies.waitingPerAccount }, () =>
    sendPart(`/boards/${board.id}/cards`, size, '{', other.token, gone.signal),
  )
  const refused = await Promise.any(all)
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(refused.headers['retry-after']).toBe('5')
  expect(refused.body.error).toMatch(/large bodies of this account/)
  gone.abort()
  await Promise.allSettled(all)
  // Their places are free again.
  const cards = Array.from({ length: 200 }, (_, n) => ({
    kind: 'note',
    x: n * 300,
    y: 0,
    body: 'b'.repeat(10_000),
  }))
  expect((await other.api.post(`/boards/${board.id}/cards`, { cards })).status).toBe(201)
})

test(
  '[A208] a large batch is replayed under its key, and another one refused',
  { timeout: 60_000 },
  async () => {
    const board = await makeBoard(user)
    const cards = Array.from({ length: 400 }, (_, n) => ({
      kind: 'note',
      x: n * 300,
      y: 0,
      body: `${n}${'b'.repeat(15_000)}`,
    }))
    const path = `/boards/${board.id}/cards`
    const key = { 'idempotency-key': 'large' }
    const first = await user.api.post(path, { cards }, key)
    expect(first.status).toBe(201)
    expect(first.text.length).toBeGreaterThan(limits.idempotency.answerCharacters)
    const again = await user.api.post(path, { cards }, key)
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual([201, 'true'])
    expect(again.body['cards']).toEqual(first.body['cards'])
    expect((await user.api.get(`${path}?limit=1`)).body.total).toBe(400)
    const other = await user.api.post(path, { cards: cards.slice(1) }, key)
    expect([other.status, other.body['code']]).toEqual([409, 'conflict'])
    const [kept] = await service.admin<{ largest: number }[]>`
    select coalesce(max(octet_length(response)), 0) as largest from idempotency_keys`
    expect(kept!.largest).toBeLessThan(limits.idempotency.answerCharacters)
  },
)

test('[A210] an integer is written in decimal digits, on every route', async () => {
  const board = await makeBoard(user)
  const wrong = [
    'Infinity',
    '-Infinity',
    '1e400',
    '1e2',
    '0x10',
    '%2010',
    '10%20',
    '%2B5',
    '%EF%BC%91',
    '1.0',
    '',
    '1_0',
    '0b1',
    'NaN',
    '9'.repeat(400),
  ]
  let checked = 0
  for (const { method, path, schemas } of routes) {
    const query =
      (schemas.query as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {}
    for (const [name, { type }] of Object.entries(query)) {
      if (type !== 'integer') continue
      checked += 1
      const to = path.replace(':id', board.id)
      for (const text of wrong) {
        const answer = await user.api.send(
          method,
          `${to}?${name}=${text}&root=${board.id}&workspace=${user.workspaceId}&q=word&scope=s&value=v&from=1`,
        )
        expect([method, path, name, text, answer.status]).toEqual([method, path, name, text, 400])
        if (!path.includes('webhooks/:id')) expect(answer.body['error']).toMatch(new RegExp(`^${name} `))
      }
    }
  }
  expect(checked).toBeGreaterThan(15)
  await makeCards(
    user,
    board.id,
    Array.from({ length: 3 }, () => ({})),
  )
  const { body } = await user.api.get(`/boards/${board.id}/cards?limit=02&offset=-0`)
  expect([body.cards.length, body.limit, body.offset]).toEqual([2, 2, 0])
})

test('[A215] a filter that names a workspace or a board that is not visible is 404, on every list', async () => {
  const other = await service.user()
  const foreign = await makeBoard(other)
  const guest = await service.user()
  await service.share(foreign.id, guest, 'viewer')
  const since = 'since=2026-01-01T00:00:00Z'
  const byWorkspace = (id: string) => [
    `/boards?workspace=${id}`,
    `/boards?workspace=${id}&${since}`,
    `/boards?workspace=${id}&deleted=1`,
    `/images?workspace=${id}`,
    `/images?workspace=${id}&${since}`,
    `/search?q=word&workspace=${id}`,
    `/resolve?scope=s&value=v&workspace=${id}`,
    `/boards/tree?workspace=${id}`,
  ]
  const byBoard = (id: string) => [
    `/boards?parent=${id}`,
    `/boards?parent=${id}&${since}`,
    `/images?board=${id}`,
  ]
  for (const id of [other.workspaceId, nowhere]) {
    for (const path of [...byWorkspace(id), `/webhooks?workspace=${id}`]) {
      const answer = await user.api.get(path)
      expect([path, answer.status, answer.body.error]).toEqual([path, 404, 'No such workspace.'])
    }
  }
  for (const id of [foreign.id, nowhere])
    for (const path of byBoard(id)) expect([path, (await user.api.get(path)).status]).toEqual([path, 404])
  // What is visible and empty is 200; the workspace of a shared board is a filter for its guest.
  for (const path of [...byWorkspace(other.workspaceId), ...byBoard(foreign.id)]) {
    for (const who of [other, guest]) expect([path, (await who.api.get(path)).status]).toEqual([path, 200])
  }
  const agent = await openAgent(service.url, user.token)
  expect(await agent.fails('list_boards', { workspace_id: nowhere })).toMatch(/not_found: No such workspace/)
})

test('[A217] include is checked and honoured on a single card, and of the index', async () => {
  const board = await makeBoard(user)
  const identifiers = [{ scope: 's', value: 'v' }]
  const card = await makeCard(user, board.id, { props: { a: 1 }, identifiers })
  const path = `/boards/${board.id}/cards`
  const plain = (await user.api.get(`${path}/${card.id}`)).body.card
  expect(plain).toMatchObject({ props: { a: 1 }, identifiers })
  expect(plain).not.toHaveProperty('raw')
  const raw = (await user.api.get(`${path}/${card.id}?include=raw`)).body.card
  expect(raw).toMatchObject({ ...plain, raw: { kind: 'note' } })
  expect((await user.api.get(`${path}/${card.id}?include=rawe`)).body.error).toMatch(
    /^include must be .*"rawe"/,
  )
  for (const feed of ['', '&since=2026-01-01T00:00:00Z']) {
    const listed = await user.api.get(`${path}?source=index&include=identifiers${feed}`)
    expect(listed.body.cards).toMatchObject([{ id: card.id, identifiers }])
    expect((await user.api.get(`${path}?source=index${feed}`)).body.cards[0]).not.toHaveProperty(
      'identifiers',
    )
    for (const word of ['raw', 'props', 'x']) {
      const answer = await user.api.get(`${path}?source=index&include=${word}${feed}`)
      expect([word, answer.status]).toEqual([word, 400])
      expect(answer.body.error).toMatch(/^With source=index, include must be a list of identifiers/)
    }
  }
})

test('[A218] of a card with one coordinate that one stays, and the other is placed in free space', async () => {
  const board = await makeBoard(user)
  await makeCards(user, board.id, [
    { x: 0, y: 0 },
    { x: 0, y: 200 },
    { x: 1000, y: 0 },
  ])
  const post = async (cards: object[]) => {
    const { body } = await user.api.post(`/boards/${board.id}/cards`, { cards })
    return (body['cards'] as unknown as { x: number; y: number }[]).map(({ x, y }) => [x, y])
  }
  expect(
    await post([
      { kind: 'note', x: 10 },
      { kind: 'note', y: -50 },
    ]),
  ).toEqual([
    [10, 400],
    [300, -50],
  ])
  expect(
    await post([
      { kind: 'note', x: 10 },
      { kind: 'note', x: 5000 },
    ]),
  ).toEqual([
    [10, 600],
    [5000, -50],
  ])
  const { cards } = (await user.api.get(`/boards/${board.id}/cards`)).body
  const overlap = (a: any, b: any) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
  expect(cards.some((a: any, n: number) => cards.slice(n + 1).some((b: any) => overlap(a, b)))).toBe(false)
})

test('[A219] every answer says nosniff; over https also that it stays so', async () => {
  const paths = [
    '/api/v1/me',
    '/api/v1/nothing',
    '/nothing',
    '/login',
    '/docs',
    '/changelog',
    '/healthz',
    '/api/v1/openapi.json',
    '/.well-known/oauth-authorization-server',
    '/oauth/authorize',
  ]
  const secure = await startService({ workers: false, config: { publicUrl: 'https://cork.example' } })
  try {
    for (const path of paths) {
      const plain = await fetch(service.url + path, { redirect: 'manual' })
      expect([path, plain.headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
      expect([path, plain.headers.get('strict-transport-security')]).toEqual([path, null])
      const over = await fetch(secure.url + path, { redirect: 'manual' })
      expect([path, over.headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
    }
  } finally {
    await secure.stop()
  }
})

test('[A220] an answer that holds a secret is kept by no cache', async () => {
  const account = await user.api.post('/service-accounts', { workspace_id: user.workspaceId, name: 'a' })
  const id = (account.body['service_account'] as { id: string }).id
  const webhook = await user.api.post('/webhooks', {
    workspace_id: user.workspaceId,
    url: 'https://example.com/hook',
    events: ['board.created'],
  })
  const hookId = (webhook.body['webhook'] as { id: string }).id
  const answers = [
    account,
    await user.api.post(`/service-accounts/${id}/tokens`, {}),
    webhook,
    await user.api.post(`/webhooks/${hookId}/rotate-secret`),
    await user.api.post(`/workspaces/${user.workspaceId}/invitations`, { role: 'viewer' }),
    await user.api.post(`/boards/${(await makeBoard(user)).id}/links`, { role: 'viewer' }),
  ]
  for (const { status, headers } of answers)
    expect([status < 300, headers.get('cache-control')]).toEqual([true, 'no-store'])
})

test('[A221] a token’s own limit is at most MAX_RATE_LIMIT_PER_HOUR', async () => {
  const bound = await startService({ workers: false, config: { maxRateLimitPerHour: 70 } })
  try {
    const owner = await bound.user()
    const make = (rate_limit: number) =>
      owner.api.post('/service-accounts', { workspace_id: owner.workspaceId, name: 'a', rate_limit })
    const refused = await make(71)
    expect([refused.status, refused.body['error']]).toEqual([400, 'rate_limit must be <= 70.'])
    const made = await make(70)
    const path = `/service-accounts/${(made.body['service_account'] as { id: string }).id}/tokens`
    expect((await owner.api.post(path, { rate_limit: 71 })).status).toBe(400)
    expect((await owner.api.post(path, { rate_limit: 70 })).status).toBe(200)
  } finally {
    await bound.stop()
  }
})

test('[A209] a stranger’s token costs a look-up once, and none from an address over its limit', async () => {
  const clock = { ms: Date.now(), now: () => clock.ms }
  const small = await startService({ workers: false, clock, config: { rateLimitPerHour: 20 } })
  try {
    const known = await small.user()
    expect((await known.api.get('/me')).status).toBe(200)
    const fresh = await small.user()
    let lookUps = 0
    const { asSystem } = small.database
    small.database.asSystem = (...given: Parameters<typeof asSystem>) => {
      if (new Error().stack?.includes('sql/accounts/tokens.ts')) lookUps += 1
      return asSystem.apply(small.database, given) as never
    }
    const send = (token: string) => new ApiClient(small.url, token).get('/me')
    const one = makeToken()
    for (let n = 0; n < 5; n++) expect((await send(one)).status).toBe(401)
    expect(lookUps).toBe(1)
    clock.ms += 11_000
    await send(one)
    expect(lookUps).toBe(2)
    while ((await send(makeToken())).status === 401);
    for (let n = 0; n < limits.lookUpsPastLimitPerHour; n++) await send(makeToken())
    const before = lookUps
    for (let n = 0; n < 20; n++) expect((await send(makeToken())).status).toBe(429)
    expect(lookUps).toBe(before)
    // Who used a token of late is let in from there as well; who comes anew has to wait.
    clock.ms += 2000
    expect((await known.api.get('/me')).status).toBe(200)
    expect((await fresh.api.get('/me')).status).toBe(429)
    clock.ms += 60 * 60 * 1000
    expect((await fresh.api.get('/me')).status).toBe(200)
  } finally {
    await small.stop()
  }
})
