import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tools } from '../../api/mcp/tools.ts'
import { listCards, makeBoard, nowhere } from '../api/board.ts'
import { modern, openAgent, postMcp, request, toolCall } from '../support/mcp.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
})
afterAll(() => service.stop())

const post = (body: unknown, headers?: Record<string, string>) =>
  postMcp(service.url, user.token, body, headers)
const list = request('tools/list')

// ---- scopes

const scopesOf = (name: string) => tools.find((tool) => tool.name === name)!.route.scope

test('[MC5] tools that the scopes of a token do not allow are not listed', async () => {
  const listed = async (scopes: ('read' | 'write' | 'delete')[]) => {
    const { token } = await service.token(user, { scopes })
    const { client } = await openAgent(service.url, token)
    return (await client.listTools()).tools.map(({ name }) => name)
  }
  const with_ = (...scopes: string[]) =>
    tools.map(({ name }) => name).filter((name) => scopes.includes(scopesOf(name)))
  expect(await listed(['read'])).toEqual(with_('read'))
  expect(await listed(['write'])).toEqual(with_('read', 'write'))
  expect(await listed(['delete'])).toEqual(with_('read', 'delete'))
  expect(await listed(['write', 'delete'])).toEqual(tools.map(({ name }) => name))
  expect([scopesOf('delete_board'), scopesOf('delete_cards'), scopesOf('restore_board')]).toEqual([
    'delete',
    'delete',
    'write',
  ])
})

test.each(['create_board', 'delete_board'])(
  '[MC5] a call of %s without its scope is 403 that names the scopes to ask for, in a batch it fails alone',
  async (name) => {
    const { token } = await service.token(user, { scopes: ['read'] })
    const call = toolCall(name, { name: 'x', board_id: nowhere })
    const answer = await postMcp(service.url, token, call)
    expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope'])
    expect(answer.body.error).toContain(`\`${scopesOf(name)}\``)
    const challenge = answer.headers.get('www-authenticate')
    expect(challenge).toBe(
      `Bearer error="insufficient_scope", scope="read ${scopesOf(name)}", resource_metadata="${service.url}/.well-known/oauth-protected-resource"`,
    )
    const batch = await postMcp(service.url, token, [call, list])
    expect(batch.status).toBe(200)
    expect(batch.body[0].result).toMatchObject({ isError: true })
    expect(batch.body[0].result.content[0].text).toMatch(
      /^insufficient_scope: .* Ask the person for a token that has it\.$/,
    )
    expect(batch.body[1].result.tools.length).toBeGreaterThan(0)
  },
)

test('[MC5] without a token every message is 401 that says where to get one', async () => {
  for (const token of [null, 'cork_wrong']) {
    const answer = await postMcp(service.url, token, list)
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_token'])
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata=/)
  }
})

// ---- what tools say of themselves

test('[MC6] a tool says what it does: reading, destroying, whether it may be repeated, reaching out', async () => {
  const { client } = await openAgent(service.url, user.token)
  const listed = (await client.listTools()).tools
  for (const { name, title, description, annotations, inputSchema, outputSchema } of listed) {
    const { route } = tools.find((tool) => tool.name === name)!
    expect([name, annotations?.readOnlyHint]).toEqual([name, route.method === 'GET'])
    if (route.method === 'GET')
      expect(annotations).toMatchObject({ destructiveHint: false, idempotentHint: true })
    if (route.method === 'PATCH' || route.scope === 'delete')
      expect([name, annotations?.destructiveHint]).toEqual([name, true])
    expect(annotations?.openWorldHint).toBe(name === 'import_urls')
    expect([title, description].every((text) => (text?.length ?? 0) > 5)).toBe(true)
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(outputSchema?.['properties']).toHaveProperty('notice')
  }
  // An agent has them in its context all the time.
  expect(JSON.stringify(listed).length).toBeLessThan(60_000)
})

// ---- batches

test('[MC7] a batch is answered message by message, in order, each as if it came alone', async () => {
  const make = toolCall('create_board', { name: 'Batch' })
  const answer = await post([
    make,
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    toolCall('search', { query: 'Batch', kind: 'board' }),
    { nonsense: true },
    request('nothing/such'),
    request('initialize', {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    }),
  ])
  expect(answer.status).toBe(200)
  expect(answer.body).toHaveLength(5)
  const [made, found, ...refused] = answer.body
  expect(made.id).toBe(make.id)
  const { board } = made.result.structuredContent
  expect(found.result.structuredContent.boards.items).toMatchObject([{ id: board.id }])
  expect(refused.map(({ error }: any) => error.code)).toEqual([-32600, -32601, -32600])
})

test('[MC7] a batch of notifications has no answer', async () => {
  const silent = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  const answer = await post([silent, silent])
  expect([answer.status, answer.text]).toEqual([202, ''])
})

test.each([
  ['empty', []],
  ['of 1,000', Array.from({ length: 1000 }, () => request('ping'))],
  ['of 101', Array.from({ length: 101 }, () => request('ping'))],
  [
    'of the current version, which has none',
    [
      {
        ...list,
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': modern,
            'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    ],
  ],
])('[MC7] a batch that is %s is refused whole', async (_what, batch) => {
  const answer = await post(batch)
  expect([answer.status, answer.body.error.code]).toEqual([400, -32600])
})

test('[MC8] each message of a batch counts as a request, and those past the limit are refused one by one', async () => {
  const own = await service.user()
  await service.admin`update tokens set rate_limit = 10 where id = ${own.tokenId}`
  const left = (answer: { headers: Headers }) => Number(answer.headers.get('x-ratelimit-remaining'))
  expect(left(await postMcp(service.url, own.token, request('ping')))).toBe(9)
  expect(left(await postMcp(service.url, own.token, [request('ping'), toolCall('list_workspaces')]))).toBe(7)
  const silent = { jsonrpc: '2.0', method: 'notifications/initialized' }
  expect(left(await postMcp(service.url, own.token, [silent, silent]))).toBe(5)
  const over = await postMcp(
    service.url,
    own.token,
    Array.from({ length: 7 }, (_, n) => toolCall('create_board', { name: `${n}` })),
  )
  expect(over.status).toBe(200)
  expect(left(over)).toBe(0)
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
  const codes = over.body.map(({ result, error }: any) => (result ? 'made' : error.data.code))
  expect(codes).toEqual([...Array(5).fill('made'), 'rate_limited', 'rate_limited'])
  const alone = await postMcp(service.url, own.token, request('ping'))
  expect([alone.status, alone.body.code]).toEqual([429, 'rate_limited'])
  const [made] =
    await service.admin`select count(*)::int as n from boards where workspace_id = ${own.workspaceId}`
  expect(made!['n']).toBe(5)
})

// ---- bodies and heads

const deep = (levels: number) =>
  `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`
const withId = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })

test.each<[string, unknown, Record<string, string>, number, number]>([
  ['no JSON', '{ not json', {}, 400, -32700],
  ['an empty body', '', {}, 400, -32700],
  ['bytes that are not UTF-8', Uint8Array.from([0x22, 0xff, 0xfe, 0x22]), {}, 400, -32700],
  ['JSON that is no message', '"text"', {}, 400, -32600],
  ['JSON of 33 levels', deep(32), {}, 400, -32600],
  ['JSON of 100,000 levels', deep(100_000), {}, 400, -32600],
  ['an id of 256 characters', withId('x'.repeat(256)), {}, 400, -32600],
  ['U+0000', toolCall('create_board', { name: 'a\0b' }), {}, 400, -32600],
  ['half of a character', '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', {}, 400, -32600],
  ['another content type', list, { 'content-type': 'text/plain' }, 415, -32000],
  ['a client that takes no JSON', list, { accept: 'text/html' }, 406, -32000],
])('[MC9] %s is refused with an error of JSON-RPC', async (_what, body, headers, status, code) => {
  const answer = await post(body, headers)
  expect([answer.status, answer.body.error?.code]).toEqual([status, code])
  expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: null })
  expect(answer.headers.get('x-ratelimit-remaining')).toEqual(expect.any(String))
})

test('[MC9] what lies within the bounds is answered', async () => {
  const answers = [
    await post(deep(30)),
    await post(withId('x'.repeat(255))),
    await post(withId(Number.MAX_SAFE_INTEGER)),
    await post(list, { accept: 'application/json' }),
    await post(list, { 'content-type': 'application/json; charset=utf-8' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(answers[1]!.body.id).toBe('x'.repeat(255))
  expect(answers[2]!.body.id).toBe(Number.MAX_SAFE_INTEGER)
})

test('[MC9] a body of more than 4 MB is 413', async () => {
  const answer = await post(toolCall('create_board', { name: 'x'.repeat(4 * 1024 * 1024) }))
  expect([answer.status, answer.body.code]).toEqual([413, 'payload_too_large'])
})

test('[MC9] other methods are 405 with Allow', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const answer = await fetch(`${service.url}/api/v1/mcp`, {
      method,
      headers: { authorization: `Bearer ${user.token}`, accept: 'text/event-stream' },
    })
    expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST'])
  }
})

test('[MC9] a tool, a method and a prompt that there is not are told as errors of JSON-RPC', async () => {
  const errorOf = async (body: unknown) => (await post(body)).body.error
  expect(await errorOf(toolCall('drop_tables'))).toMatchObject({
    code: -32602,
    message: expect.stringContaining('tools/list'),
  })
  expect(await errorOf(request('nothing/such'))).toMatchObject({ code: -32601 })
  expect(await errorOf(request('prompts/get', { name: 'none' }))).toMatchObject({ code: -32602 })
})

// ---- where it is reached from

/** With a `Host` of one's own, which fetch does not send. */
const statusFrom = (url: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = httpRequest(
      `${url}/api/v1/mcp`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${user.token}`,
          'content-type': 'application/json',
          ...headers,
        },
      },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(list))
  })

test('[MC10] on a loopback address only names and pages of this machine are answered', async () => {
  const from = (headers: Record<string, string>) => statusFrom(service.url, headers)
  for (const host of ['localhost', 'localhost:4000', '127.0.0.1:1', '127.3.2.1', '[::1]:4000'])
    expect([host, await from({ host })]).toEqual([host, 200])
  for (const host of [
    'evil.test',
    'localhost.evil.test',
    '127.0.0.1.evil.test',
    '10.0.0.1',
    'a b',
    '127.0.0.1@evil.test',
  ])
    expect([host, await from({ host })]).toEqual([host, 403])
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:1'])
    expect([origin, await from({ origin })]).toEqual([origin, 200])
  for (const origin of ['http://evil.test', 'null', 'http://localhost.evil.test'])
    expect([origin, await from({ origin })]).toEqual([origin, 403])
})

test('[MC10] PUBLIC_URL is a name of it, too; on another address a token is all that it takes', async () => {
  const named = await startService({
    workers: false,
    testDatabase: { url: service.databaseUrl, admin: service.admin, drop: () => Promise.resolve() },
    config: { publicUrl: 'https://boards.example' },
  })
  try {
    expect(await statusFrom(named.url, { host: 'boards.example', origin: 'https://boards.example' })).toBe(
      200,
    )
    expect(await statusFrom(named.url, { host: 'boards.example', origin: 'https://other.example' })).toBe(403)
    expect(await statusFrom(named.url, { host: 'other.example' })).toBe(403)
  } finally {
    await named.stop()
  }
  const open = await startService({
    workers: false,
    testDatabase: { url: service.databaseUrl, admin: service.admin, drop: () => Promise.resolve() },
    config: { host: '0.0.0.0' },
  })
  try {
    expect(await statusFrom(open.url, { host: 'any.example', origin: 'https://any.example' })).toBe(200)
  } finally {
    await open.stop()
  }
})

// ---- what is written down

test('[MC11] the audit tells a call of a tool as its operation, with the token, and the path that was called', async () => {
  const own = await service.user()
  const agent = await openAgent(service.url, own.token)
  const { board } = await agent.does('create_board', { name: 'Wall' })
  await agent.does('read_board', { board_id: board.id })
  await agent.does('create_cards', { board_id: board.id, cards: [{ kind: 'note' }, { kind: 'note' }] })
  await agent.does('update_board', { board_id: board.id, name: 'New' })
  const { body } = await own.api.get('/audit')
  expect(body.entries.map(({ action }: any) => action)).toEqual([
    'board.update',
    'card.create',
    'board.create',
  ])
  for (const entry of body.entries)
    expect(entry).toMatchObject({
      method: 'POST',
      path: '/api/v1/mcp',
      workspace_id: own.workspaceId,
      board_id: board.id,
      actor: { user_id: own.userId, token_id: own.tokenId },
      request_id: expect.any(String),
      ip: '127.0.0.1',
    })
})

test('[MC12] a message under an idempotency key is carried out once and answered the same; a batch has none', async () => {
  const board = await makeBoard(user)
  const key = { 'idempotency-key': 'once' }
  const call = toolCall('create_cards', { board_id: board.id, cards: [{ kind: 'note', title: 'Once' }] })
  const first = await post(call, key)
  const again = await post(call, key)
  expect(again.text).toBe(first.text)
  expect(again.headers.get('idempotent-replay')).toBe('true')
  expect(await listCards(user, board.id)).toHaveLength(1)
  const other = await post(toolCall('create_cards', { board_id: board.id, cards: [{ kind: 'doc' }] }), key)
  expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  const batch = await post([call, call], { 'idempotency-key': 'many' })
  expect([batch.status, batch.body.error.code]).toEqual([400, -32600])
  expect(await listCards(user, board.id)).toHaveLength(1)
})

test('[MC12] an answer that was lost with its process is made again from what was made', async () => {
  const board = await makeBoard(user)
  const key = { 'idempotency-key': 'lost' }
  const call = toolCall('create_cards', { board_id: board.id, cards: [{ kind: 'note', title: 'Once' }] })
  const first = await post(call, key)
  await service.admin`update idempotency_keys set response = null where user_id = ${user.userId}`
  const again = await post(call, key)
  expect(again.body.result.structuredContent.cards).toEqual(first.body.result.structuredContent.cards)
  expect(await listCards(user, board.id)).toHaveLength(1)
})
