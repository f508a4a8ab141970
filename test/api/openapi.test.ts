/** The description of the API: it lints clean, and says what the operations do. */
import { expect, test } from 'vitest'
import { ofEveryAnswer } from '../../api/http/headers.ts'
import { routes } from '../../api/routes.ts'
import { statusOf } from '../../core/errors.ts'
import { resolve, schemaCompiler } from '../support/description.ts'
import { lintDescription } from '../support/lint-description.ts'
import { compareObserved, type Observed } from '../support/observed.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service } = await serviceOfFile({ workers: false })
const description: any = await (await fetch(`${service.url}/api/v1/openapi.json`)).json()

const operations = () =>
  Object.entries<any>(description.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  )
const template = (path: string) => path.replace(/:(\w+)/g, '{$1}')

test('[I9] the description is served without a token and holds exactly the routes and itself', () => {
  expect(
    operations()
      .map(({ method, path }) => `${method} ${path}`)
      .toSorted(),
  ).toEqual(
    [...routes.map(({ method, path }) => `${method} ${template(path)}`), 'GET /openapi.json'].toSorted(),
  )
  expect(description.info).toMatchObject({ title: 'Corkboard', version: '1.0.0' })
  expect(description.servers[0].url).toMatch(/\/api\/v1$/)
})

test('[I10] the description is OpenAPI 3.1: its structure, its parameters, and each of its schemas', () => {
  expect(description.openapi).toMatch(/^3\.1\.\d+$/)
  expect(Object.keys(description.components.securitySchemes)).toEqual(['token', 'oauth'])
  const ids = operations().map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  const compile = schemaCompiler(description)
  for (const { path, method, operation } of operations()) {
    const where = `${method} ${path}`
    expect(operation.operationId, where).toMatch(/^[a-z][A-Za-z]+$/)
    expect(operation.summary, where).toEqual(expect.any(String))
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const parameters: any[] = operation.parameters ?? []
    expect(
      parameters.filter((one) => one.in === 'path').map((one) => one.name),
      where,
    ).toEqual(named)
    for (const { in: place, required, schema } of parameters) {
      expect(['path', 'query', 'header'], where).toContain(place)
      if (place === 'path') expect(required, where).toBe(true)
      compile(schema)
    }
    for (const { schema } of Object.values<any>(operation.requestBody?.content ?? {})) compile(schema)
    for (const [status, given] of Object.entries<any>(operation.responses)) {
      const response = resolve<any>(description, given)
      expect(status, where).toMatch(/^[1-5]\d\d$/)
      expect(response.description, where).toEqual(expect.any(String))
      for (const { schema } of Object.values<any>(response.content ?? {})) compile(schema)
    }
  }
})

/** Each schema of the description with where it stands: those of parameters, bodies, answers and components. */
function* schemas(): Generator<[where: string, schema: any]> {
  for (const [name, schema] of Object.entries<any>(description.components.schemas)) yield [name, schema]
  for (const [name, { content }] of Object.entries<any>(description.components.responses))
    yield [name, content['application/json'].schema]
  for (const { path, method, operation } of operations()) {
    for (const { name, schema } of operation.parameters ?? []) yield [`${method} ${path} ?${name}`, schema]
    for (const { schema } of Object.values<any>(operation.requestBody?.content ?? {}))
      yield [`${method} ${path} body`, schema]
    for (const [status, { content = {} }] of Object.entries<any>(operation.responses))
      for (const { schema } of Object.values<any>(content)) yield [`${method} ${path} ${status}`, schema]
  }
}

/** With those within it. */
function* inner(where: string, schema: any): Generator<[where: string, schema: any]> {
  yield [where, schema]
  for (const [name, one] of Object.entries(schema.properties ?? {})) yield* inner(`${where}.${name}`, one)
  if (schema.items) yield* inner(`${where}[]`, schema.items)
  for (const one of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) yield* inner(where, one)
}

const allSchemas = () => [...schemas()].flatMap(([where, schema]) => [...inner(where, schema)])

test('[OA20] the schemas have names, and operations refer to them', () => {
  expect(Object.keys(description.components.schemas)).toEqual(
    expect.arrayContaining([
      'AuditEntry',
      'Board',
      'BoardInput',
      'Capacity',
      'Card',
      'CardHit',
      'CardInput',
      'CardPatch',
      'Delivery',
      'Error',
      'Group',
      'Identifier',
      'ImageRecord',
      'IndexCard',
      'Notification',
      'RemovedCard',
      'ServiceAccount',
      'Token',
      'TreeEntry',
      'Webhook',
      'Workspace',
    ]),
  )
  const answer = (path: string, method = 'get') =>
    description.paths[path][method].responses[200].content['application/json'].schema.properties
  expect(answer('/boards/{id}').board).toEqual({ $ref: '#/components/schemas/Board' })
  expect(answer('/boards/{id}/cards/{cardId}').card).toEqual({ $ref: '#/components/schemas/Card' })
  expect(answer('/webhooks').webhooks.items).toEqual({ $ref: '#/components/schemas/Webhook' })
  for (const [where, { title }] of allSchemas()) expect([where, title]).toEqual([where, undefined])
})

test('[OA21] every operation, parameter and property says what it is', () => {
  const isDescribed = (schema: any): boolean =>
    Boolean(schema.description) || '$ref' in schema || (schema.anyOf ?? []).some((one: any) => '$ref' in one)
  const silent = [...schemas()].flatMap(([where, schema]) =>
    [...inner(where, schema)].flatMap(([place, { properties = {} }]) =>
      Object.entries(properties).flatMap(([name, one]) => (isDescribed(one) ? [] : `${place}.${name}`)),
    ),
  )
  expect(silent).toEqual([])
  for (const [name, schema] of Object.entries<any>(description.components.schemas))
    expect([name, schema.description]).toEqual([name, expect.any(String)])
  for (const { path, method, operation } of operations()) {
    const where = `${method} ${path}`
    for (const { name, description } of operation.parameters ?? [])
      expect([where, name, description]).toEqual([where, name, expect.stringMatching(/^.+[.)]$/s)])
    expect(operation, where).toMatchObject({
      summary: expect.stringMatching(/\.$/),
      description: expect.any(String),
      operationId: expect.any(String),
      tags: [expect.any(String)],
    })
  }
})

test('[OA22] each error response lists its codes, in words and as an enum', () => {
  for (const { path, method, operation } of operations())
    for (const [status, given] of Object.entries<any>(operation.responses)) {
      if (Number(status) < 400 || path === '/mcp') continue
      const where = `${method} ${path} ${status}`
      const { description: words, content } = resolve<any>(description, given)
      const [error, { properties }] = content['application/json'].schema.allOf
      expect(error, where).toEqual({ $ref: '#/components/schemas/Error' })
      const codes: (keyof typeof statusOf)[] = properties.code.enum
      expect(codes.length, where).toBeGreaterThan(0)
      for (const code of codes) {
        expect(words, where).toContain(`\`${code}\`: `)
        if (status !== '416') expect([where, statusOf[code]]).toEqual([where, Number(status)])
      }
    }
  const { responses } = description.paths['/images/{key}'].get
  const codesOf = (status: number) =>
    resolve<any>(description, responses[status]).content['application/json'].schema.allOf[1].properties.code
      .enum
  expect([codesOf(415), codesOf(416)]).toEqual([['unsupported_media_type'], ['bad_request']])
})

test('[OA23] every answer has headers, and a success carries those of the rate limit', async () => {
  for (const { path, method, operation } of operations())
    for (const [status, given] of Object.entries<any>(operation.responses)) {
      const { headers } = resolve<any>(description, given)
      const where = `${method} ${path} ${status}`
      expect(Object.keys(headers), where).toEqual(expect.arrayContaining(ofEveryAnswer))
      for (const { $ref } of Object.values<any>(headers))
        expect(resolve<any>(description, { $ref }).description, where).toEqual(expect.any(String))
      if (status === '429' || status === '503') expect(Object.keys(headers), where).toContain('retry-after')
      if (status === '401') expect(Object.keys(headers), where).toContain('www-authenticate')
    }
  const user = await service.user()
  const { headers } = await user.api.get('/me')
  for (const name of ofEveryAnswer) expect([name, headers.get(name)]).toEqual([name, expect.any(String)])
  expect(Object.keys(description.paths['/images/{key}'].get.responses[200].headers)).toEqual(
    expect.arrayContaining(['etag', 'cache-control']),
  )
})

test('[OA24] each operation takes a token, or OAuth with its scope', async () => {
  const { token, oauth } = description.components.securitySchemes
  expect(token).toMatchObject({ type: 'http', scheme: 'bearer' })
  const server = await (await fetch(`${service.url}/.well-known/oauth-authorization-server`)).json()
  expect(oauth.flows.authorizationCode).toEqual({
    authorizationUrl: (server as any).authorization_endpoint,
    tokenUrl: (server as any).token_endpoint,
    refreshUrl: (server as any).token_endpoint,
    scopes: { read: expect.any(String), write: expect.any(String), delete: expect.any(String) },
  })
  for (const { method, path, scope, open } of routes)
    expect(description.paths[template(path)][method.toLowerCase()].security).toEqual(
      open ? [] : [{ token: [] }, { oauth: [scope] }],
    )
})

test('[OA28] nothing that has a default is required', () => {
  for (const { path, method, operation } of operations()) {
    for (const { name, required, schema } of operation.parameters ?? [])
      if (schema.default !== undefined)
        expect([method, path, name, required]).toEqual([method, path, name, false])
    // A generated client requires such a field of a body, whatever `required` says.
    for (const { schema } of Object.values<any>(operation.requestBody?.content ?? {}))
      for (const [where, one] of inner(`${method} ${path}`, schema))
        expect([where, one.default]).toEqual([where, undefined])
  }
  const format = description.paths['/boards/{id}/export'].get.parameters.find(
    (one: any) => one.name === 'format',
  )
  expect(format).toMatchObject({ required: false, schema: { default: 'json' } })
})

test('[I11] of each operation the description has a success and every error that it can answer', () => {
  for (const { path, method, operation } of operations()) {
    if (path === '/openapi.json' || operation.security.length === 0) continue
    const where = `${method} ${path}`
    const described = (status: number) => {
      const given = operation.responses[String(status)]
      return given ? String(resolve<any>(description, given).description) : ''
    }
    const expected: (keyof typeof statusOf)[] = [
      'invalid_token',
      'rate_limited',
      'internal_error',
      'storage_unavailable',
    ]
    if (path.includes('{')) expected.push('not_found', 'bad_request')
    if (method !== 'GET') expected.push('bad_request', 'payload_too_large', 'unsupported_media_type')
    if (method !== 'GET' && !operation.description.includes('scope `read`'))
      expected.push('insufficient_scope')
    if (method === 'POST') expected.push('conflict', 'idempotency_in_progress')
    // Whoever may read a board may be shown on it.
    const changes = method !== 'GET' && !path.endsWith('/presence')
    // Access can be ended on a board in the trash, too.
    const endsAccess = method === 'DELETE' && /\/(shares|links)\//.test(path)
    if (changes && path.includes('{')) expected.push('forbidden')
    if (changes && /^\/boards\/\{id\}\/./.test(path) && !endsAccess) expected.push('conflict')
    if (path.includes('/cards')) expected.push('session_unavailable')
    if (method === 'POST' && /cards$|restore$/.test(path)) expected.push('limit_reached')
    for (const code of expected)
      expect(described(statusOf[code]), `${where} ${code}`).toContain(`\`${code}\``)
    expect(
      Object.keys(operation.responses).filter((status) => status < '300'),
      where,
    ).toHaveLength(path === '/images/{key}' || path === '/mcp' ? 2 : 1) // a part of it is 206, no answer 202
  }
})

test('[I12] the description tells the bounds that are enforced', () => {
  const schemaOf = (path: string, method: string) =>
    description.paths[path][method].requestBody.content['application/json'].schema.properties
  expect(schemaOf('/boards/{id}/cards', 'post').cards.maxItems).toBe(1000)
  expect(schemaOf('/boards/{id}/cards', 'patch').cards.maxItems).toBe(1000)
  expect(schemaOf('/boards/{id}/cards', 'delete').card_ids.maxItems).toBe(1000)
  expect(schemaOf('/boards', 'post').boards.maxItems).toBe(500)
  expect(schemaOf('/boards', 'delete').board_ids.maxItems).toBe(500)
  expect(schemaOf('/boards/move', 'post').board_ids.maxItems).toBe(500)
  const depth = description.paths['/boards/tree'].get.parameters.find((one: any) => one.name === 'depth')
  expect(depth.schema).toMatchObject({ minimum: 1, maximum: 20, default: 10 })
  const limit = description.paths['/boards'].get.parameters.find((one: any) => one.name === 'limit')
  expect(limit.schema).toMatchObject({ minimum: 1, maximum: 500, default: 100 })
})

test('[OA1] the description lints clean', async () => {
  expect(await lintDescription(description)).toEqual([])
})

test('[OA2] the linter notices what is wrong in a description', async () => {
  const broken: [string, (given: any) => void][] = [
    ['struct', ({ info }) => delete info.title],
    [
      'struct',
      ({ paths }) => (paths['/me'].get.responses['200'].content['application/json'].schema.type = 'strange'),
    ],
    ['info-license', ({ info }) => delete info.license],
    ['no-ambiguous-paths', ({ paths }) => (paths['/me/{id}'] = paths['/{id}/me'] = paths['/me'])],
    ['no-unused-components', ({ components }) => (components.schemas.Unused = { type: 'string' })],
    ['operation-description', ({ paths }) => delete paths['/me'].get.description],
    ['parameter-description', ({ paths }) => delete paths['/boards'].get.parameters[0].description],
    ['operation-operationId-unique', ({ paths }) => (paths['/me'].get.operationId = 'getBoards')],
    ['path-parameters-defined', ({ paths }) => (paths['/boards/{id}'].get.parameters = [])],
    [
      'no-unresolved-refs',
      ({ paths }) => (paths['/me'].get.responses['401'] = { $ref: '#/components/responses/None' }),
    ],
    ['security-defined', (given) => delete given.security && delete given.paths['/me'].get.security],
    ['operation-summary', ({ paths }) => delete paths['/boards'].get.summary],
    ['operation-tag-defined', ({ paths }) => (paths['/boards'].get.tags = ['Unknown'])],
    [
      'operation-4xx-response',
      ({ paths }) => (paths['/me'].get.responses = { 200: paths['/me'].get.responses['200'] }),
    ],
    [
      'no-invalid-schema-examples',
      ({ paths }) =>
        (paths['/boards'].post.requestBody.content['application/json'].schema.properties.name.example = 5),
    ],
  ]
  for (const [rule, breakIt] of broken) {
    const copy = structuredClone(description)
    breakIt(copy)
    const faults = await lintDescription(copy)
    expect(
      faults.some((fault) => fault.startsWith(`${rule}:`)),
      `${rule}: ${faults.join('; ')}`,
    ).toBe(true)
  }
})

test('[OA3] what no test has seen, and what is not described, is named', () => {
  const described = {
    paths: {
      '/boards/{id}': {
        get: { responses: { 200: {}, 404: {}, 500: {}, 503: {} } },
        patch: { responses: { 200: {} } },
      },
    },
  }
  const seen = (operation: string, status: number, how: Observed['how'] = 'held', code = '') => ({
    how,
    operation,
    status,
    code,
  })
  const all = [
    seen('GET /boards/{id}', 200),
    seen('GET /boards/{id}', 404, 'held', 'not_found'),
    seen('PATCH /boards/{id}', 200),
    seen('GET /boards/{id}', 500, 'held', 'internal_error'),
    seen('GET /boards/{id}', 503, 'held', 'session_unavailable'),
    seen('GET /boards/{id}', 503, 'held', 'storage_unavailable'),
  ]
  expect(compareObserved(described, all)).toEqual([])
  const without = (at: number) => compareObserved(described, all.toSpliced(at, 1))
  expect(without(1)).toEqual(['GET /boards/{id} 404: no test has seen it'])
  expect(without(2)).toEqual(['PATCH /boards/{id} 200: no test has seen it'])
  expect(without(3)).toEqual(['500 internal_error: no test has seen it of any operation'])
  expect(without(4)).toEqual(['503 session_unavailable: no test has seen it of any operation'])
  // That it was sent is not enough: nobody has looked at it.
  expect(compareObserved(described, [...all.toSpliced(0, 1), seen('GET /boards/{id}', 200, 'sent')])).toEqual(
    ['GET /boards/{id} 200: no test has seen it'],
  )
  expect(compareObserved(described, [...all, seen('PATCH /boards/{id}', 418, 'sent')])).toEqual([
    'PATCH /boards/{id} 418: the description does not know it',
  ])
})
