/**
 * What every operation answers before it does anything, told by the description itself: without a token, without the
 * scope, over the limit, with a body that is none, too large or of another type, and for what is not there.
 */
import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import { holdAgainstDescription, type Answered } from '../support/description.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser
let description: any

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
  description = await (await fetch(`${service.url}/api/v1/openapi.json`)).json()
})
afterAll(() => service.stop())

interface Operation {
  method: string
  template: string
  /** It needs no token, and takes no idempotency key. */
  open: boolean
  /** With ids of what is not there. */
  path: string
  declares(status: number): boolean
  described: any
}

const operations = routes.map(({ method, path, open = false }): Operation => {
  const template = path.replace(/:(\w+)/g, '{$1}')
  const operation = (): any => description.paths[template][method.toLowerCase()]
  return {
    method,
    template,
    open,
    path: template.replace(/\{key\}/, 'f0000').replace(/\{\w+\}/g, () => randomUUID()),
    declares: (status) => operation().responses[String(status)] !== undefined,
    get described() {
      return operation()
    },
  }
})

interface Raw {
  token?: string | null
  headers?: Record<string, string | number>
  body?: string
}

/** Sends what fetch would not: a length without its body, a type without content. */
async function send({ method }: Operation, path: string, raw: Raw): Promise<Answered & { code: string }> {
  const { token = user.token, headers = {}, body } = raw
  const answered = await new Promise<Answered>((resolve, reject) => {
    const sent = httpRequest(
      `${service.url}/api/v1${path}`,
      {
        method,
        agent: false,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      },
      (response) => {
        void text(response).then((text) => {
          const isJson = response.headers['content-type']?.includes('json') ?? false
          resolve({ status: response.statusCode!, body: isJson ? JSON.parse(text) : null, text })
          sent.destroy()
        }, reject)
      },
    )
    sent.on('error', reject)
    if (body === undefined && headers['content-length']) sent.flushHeaders()
    else sent.end(body)
  })
  await holdAgainstDescription(service.url, method, path, answered)
  return { ...answered, code: (answered.body as { code: string }).code }
}

const json = { 'content-type': 'application/json' }

/** Of each parameter of a query what it does not take; null where it takes anything. */
function badQuery({ described }: Operation): string | null {
  const query: any[] = (described.parameters ?? []).filter((one: any) => one.in === 'query')
  const strict = query.find(({ schema }) => schema.type === 'integer' || schema.format || schema.enum)
  if (strict) return `?${strict.name}=%20no%20`
  return query.some(({ required }) => required) ? '' : null
}

/** Its required parameters of the query. Each takes a 1, or is not looked at before what is not there. */
function goodQuery({ described }: Operation): string {
  const query: any[] = (described.parameters ?? []).filter((one: any) => one.in === 'query' && one.required)
  return query.length > 0 ? `?${query.map(({ name }) => `${name}=1`).join('&')}` : ''
}

for (const operation of operations) {
  const { method, template, open, path } = operation
  // What is wrong with its body it says as JSON-RPC, and scopes are those of the tools: test/mcp holds both.
  const isRpc = template === '/mcp'
  describe(`${method} ${template}`, () => {
    test(`[OA4] ${method} ${template}: 401 without a token, 429 over the limit`, async () => {
      if (!open)
        expect(await send(operation, path, { token: null })).toMatchObject({
          status: 401,
          code: 'invalid_token',
        })
      const limited = await service.user()
      await service.admin`update tokens set rate_limit = 1 where id = ${limited.tokenId}`
      await limited.api.get('/me')
      const { status, code } = await send(operation, path, { token: limited.token })
      expect([status, code]).toEqual([429, 'rate_limited'])
    })

    test(`[OA4] ${method} ${template}: 403 without the scope, 400 for what it does not take, 404 for what is not there`, async () => {
      if (operation.declares(403) && method !== 'GET' && !isRpc && !open) {
        const reader = await service.user({ scopes: ['read'] })
        const { status, code } = await send(operation, path, { token: reader.token })
        expect([status, code]).toEqual([403, 'insufficient_scope'])
      }
      const query = badQuery(operation)
      const malformed =
        query !== null
          ? await send(operation, path + query, {})
          : method !== 'GET'
            ? await send(operation, path, { headers: json, body: '{"' })
            : template.includes('{')
              ? await send(operation, template.replace(/\{\w+\}/g, 'none'), {})
              : await send(operation, `${path}?nothing=1`, { headers: { prefer: 'handling=strict' } })
      expect(operation.declares(400)).toBe(true)
      expect([malformed.status, malformed.code]).toEqual([400, isRpc ? undefined : 'bad_request'])
      if (method === 'GET' && template.includes('{')) {
        const { status, code } = await send(operation, path + goodQuery(operation), {})
        expect([status, code]).toEqual([404, 'not_found'])
      }
    })

    if (method === 'GET') return
    test(`[OA4] ${method} ${template}: 413 and 415 before its body is read`, async () => {
      const board = `${path}?board=${randomUUID()}`
      const large = template === '/uploads' ? { 'content-type': 'image/png' } : json
      const tooLarge = await send(operation, board, { headers: { ...large, 'content-length': 1e9 } })
      expect([tooLarge.status, tooLarge.code]).toEqual([413, 'payload_too_large'])
      const other = await send(operation, board, { headers: { 'content-type': 'text/csv' }, body: 'a,b' })
      expect([other.status, other.code]).toEqual([415, isRpc ? undefined : 'unsupported_media_type'])
    })

    if (method !== 'POST' || open) return
    test(`[OA4] ${method} ${template}: 409 for another request under its idempotency key`, async () => {
      const key = { 'idempotency-key': randomUUID() }
      const first = await send(operation, `${path}?board=x`, { headers: { ...json, ...key }, body: '{"' })
      const second = await send(operation, `${path}?board=y`, { headers: { ...json, ...key }, body: '{"' })
      expect([first.status, second.status, second.code]).toEqual([first.status, 409, 'conflict'])
      expect([400, 415]).toContain(first.status)
    })
  })
}

test('[OA4] GET /openapi.json needs no token, and is 429 over the limit of one', async () => {
  const described: Operation = {
    method: 'GET',
    template: '/openapi.json',
    open: true,
    path: '/openapi.json',
    declares: (status) => description.paths['/openapi.json'].get.responses[String(status)] !== undefined,
    described: description.paths['/openapi.json'].get,
  }
  expect(await send(described, described.path, { token: null })).toMatchObject({ status: 200 })
  const limited = await service.token(user, {})
  await service.admin`update tokens set rate_limit = 1 where id = ${limited.tokenId}`
  expect(await send(described, described.path, { token: limited.token })).toMatchObject({ status: 200 })
  const { status, code } = await send(described, described.path, { token: limited.token })
  expect([status, code]).toEqual([429, 'rate_limited'])
})
