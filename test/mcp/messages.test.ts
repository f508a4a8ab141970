import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openEgress } from '../../platform/egress/egress.ts'
import { listCards, makeBoard } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { modern, postMcp, request, toolCall } from '../support/mcp.ts'
import { openSite } from '../support/site.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'

const site = await forFile(openSite())
const { service, user } = await serviceOfFile({
  workers: false,
  egress: openEgress({ allow: ['127.0.0.1'] }),
})

const post = (body: unknown, headers?: Record<string, string>) =>
  postMcp(service.url, user.token, body, headers)
const list = request('tools/list')

// ---- batches

test(
  '[MC7] a batch is answered message by message, in order, each as if it came alone',
  { timeout: 120_000 },
  async () => {
    const make = toolCall('create_board', { name: 'Batch' })
    const answer = await post([
      make,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      toolCall('list_boards', { limit: 100 }),
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
    expect(found.result.structuredContent.boards.map(({ id }: any) => id)).toContain(board.id)
    expect(refused.map(({ error }: any) => error.code)).toEqual([-32600, -32601, -32600])
  },
)

test('[MC7] a batch of notifications has no answer', { timeout: 120_000 }, async () => {
  const silent = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  const answer = await post([silent, silent])
  expect([answer.status, answer.text]).toEqual([202, ''])
})

test('[MC7] of a batch whose client is gone the rest is left undone', { timeout: 120_000 }, async () => {
  const own = await service.user()
  const board = await makeBoard(own)
  let answer: () => void = () => undefined
  site.pages.set('/slow', (_request, response) => {
    answer = () => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Slow</title>')
  })
  const open = new Set<Socket>()
  const watch = ({ socket }: { socket: Socket }) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  service.app.server.once('request', watch)
  const gone = new AbortController()
  const sent = fetch(`${service.url}/api/v1/mcp`, {
    method: 'POST',
    signal: gone.signal,
    headers: { authorization: `Bearer ${own.token}`, 'content-type': 'application/json' },
    body: JSON.stringify([
      toolCall('import_urls', { board_id: board.id, items: [{ url: `${site.url}/slow` }] }),
      toolCall('create_board', { name: 'Too late' }),
    ]),
  })
  await until(() => site.requests.includes('/slow'), 'the first message is worked on')
  gone.abort()
  await expect(sent).rejects.toThrow()
  // The service learns of it within moments.
  await until(() => open.size === 0, 'the connection is closed', 30_000)
  answer()
  await until(async () => (await listCards(own, board.id)).length === 1, 'the first message is done', 30_000)
  for (let n = 0; n < 20; n++) {
    const { body } = await own.api.get('/boards')
    expect(body.boards.map(({ name }: any) => name)).toEqual(['Board'])
  }
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

test(
  '[MC8] each message of a batch counts as a request, and those past the limit are refused one by one',
  { timeout: 120_000 },
  async () => {
    const own = await service.user()
    await service.admin`update tokens set rate_limit = 10 where id = ${own.tokenId}`
    const left = (answer: { headers: Headers }) => Number(answer.headers.get('x-ratelimit-remaining'))
    expect(left(await postMcp(service.url, own.token, request('ping')))).toBe(9)
    expect(left(await postMcp(service.url, own.token, [request('ping'), toolCall('list_workspaces')]))).toBe(
      7,
    )
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
  },
)

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

test('[MC9] what lies within the bounds is answered', { timeout: 120_000 }, async () => {
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

test('[MC9] a body of more than 4 MB is 413', { timeout: 120_000 }, async () => {
  const answer = await post(toolCall('create_board', { name: 'x'.repeat(4 * 1024 * 1024) }))
  expect([answer.status, answer.body.code]).toEqual([413, 'payload_too_large'])
})

test('[MC9] other methods are 405 with Allow', { timeout: 120_000 }, async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const answer = await fetch(`${service.url}/api/v1/mcp`, {
      method,
      headers: { authorization: `Bearer ${user.token}`, accept: 'text/event-stream' },
    })
    expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST'])
  }
})

test(
  '[MC9] a tool, a method and a prompt that there is not are told as errors of JSON-RPC',
  { timeout: 120_000 },
  async () => {
    const errorOf = async (body: unknown) => (await post(body)).body.error
    expect(await errorOf(toolCall('drop_tables'))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('tools/list'),
    })
    expect(await errorOf(request('nothing/such'))).toMatchObject({ code: -32601 })
    const ofVersion = request('nothing/such', {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': modern,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    })
    const answer = await post(ofVersion, { 'mcp-protocol-version': modern, 'mcp-method': 'nothing/such' })
    expect(answer).toMatchObject({ status: 404, body: { error: { code: -32601 } } })
    expect(await errorOf(request('prompts/get', { name: 'none' }))).toMatchObject({ code: -32602 })
  },
)
