import { request as httpRequest } from 'node:http'
import { expect, test } from 'vitest'
import { tools } from '../../api/mcp/tools.ts'
import { nowhere } from '../api/board.ts'
import { openAgent, postMcp, request, toolCall } from '../support/mcp.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false })

const list = request('tools/list')

// ---- scopes

const scopesOf = (name: string) => tools.find((tool) => tool.name === name)!.route.scope

test('[MC5] tools that the scopes of a token do not allow are not listed', { timeout: 120_000 }, async () => {
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
      `Bearer error="insufficient_scope", scope="read ${scopesOf(name)}", resource_metadata="${service.url}/.well-known/oauth-protected-resource/api/v1/mcp"`,
    )
    const batch = await postMcp(service.url, token, [call, list])
    expect(batch.status).toBe(200)
    expect(batch.body[0].result).toMatchObject({ isError: true })
    expect(batch.body[0].result.content[0].text).toMatch(
      /^insufficient_scope: .* Ask the user for a token with this scope\.$/,
    )
    expect(batch.body[1].result.tools.length).toBeGreaterThan(0)
  },
)

test(
  '[MC5] without a token every message is 401 that says where to get one',
  { timeout: 120_000 },
  async () => {
    for (const token of [null, 'cork_wrong']) {
      const answer = await postMcp(service.url, token, list)
      expect([answer.status, answer.body.code]).toEqual([401, 'invalid_token'])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata=/)
    }
  },
)

// ---- what tools say of themselves

test(
  '[MC6] a tool says what it does: reading, destroying, whether it may be repeated, reaching out',
  { timeout: 120_000 },
  async () => {
    const { client } = await openAgent(service.url, user.token)
    const listed = (await client.listTools()).tools
    for (const { name, title, description, annotations, inputSchema, outputSchema } of listed) {
      const { route } = tools.find((tool) => tool.name === name)!
      expect([name, annotations?.readOnlyHint]).toEqual([name, route.method === 'GET'])
      if (route.method === 'GET')
        expect(annotations).toMatchObject({ destructiveHint: false, idempotentHint: true })
      if (route.method === 'PATCH' || route.scope === 'delete')
        expect([name, annotations?.destructiveHint]).toEqual([name, true])
      expect(annotations?.openWorldHint).toBe(['import_urls', 'upload_from_url'].includes(name))
      expect([title, description].every((text) => (text?.length ?? 0) > 5)).toBe(true)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      const answersOn = ['import_urls', 'upload_from_url', 'delete_cards']
      expect([name, outputSchema !== undefined]).toEqual([
        name,
        route.method === 'GET' || answersOn.includes(name),
      ])
      if (outputSchema) expect(outputSchema['properties']).toHaveProperty('notice')
    }
  },
)

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

test(
  '[MC10] on a loopback address only names and pages of this machine are answered',
  { timeout: 120_000 },
  async () => {
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
  },
)

test(
  '[MC10] PUBLIC_URL is a name of it, too; on another address a token is all that it takes',
  { timeout: 120_000 },
  async () => {
    const named = await startService({
      workers: false,
      testDatabase: { url: service.databaseUrl, admin: service.admin, drop: () => Promise.resolve() },
      config: { publicUrl: 'https://boards.example' },
    })
    try {
      expect(await statusFrom(named.url, { host: 'boards.example', origin: 'https://boards.example' })).toBe(
        200,
      )
      expect(await statusFrom(named.url, { host: 'boards.example', origin: 'https://other.example' })).toBe(
        403,
      )
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
  },
)
