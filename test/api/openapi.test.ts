import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import { statusOf } from '../../core/errors.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let description: any

beforeAll(async () => {
  service = await startService({ workers: false })
  description = await (await fetch(`${service.url}/api/v1/openapi.json`)).json()
})
afterAll(() => service.stop())

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
  expect(Object.keys(description.components.securitySchemes)).toEqual(['token'])
  const ids = operations().map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  const ajv = new Ajv2020({ strict: false, validateSchema: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
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
      ajv.compile(schema)
    }
    for (const { schema } of Object.values<any>(operation.requestBody?.content ?? {})) ajv.compile(schema)
    for (const [status, response] of Object.entries<any>(operation.responses)) {
      expect(status, where).toMatch(/^[1-5]\d\d$/)
      expect(response.description, where).toEqual(expect.any(String))
      for (const { schema } of Object.values<any>(response.content ?? {})) ajv.compile(schema)
    }
  }
})

test('[I11] of each operation the description has a success and every error that it can answer', () => {
  for (const { path, method, operation } of operations()) {
    if (path === '/openapi.json') continue
    const where = `${method} ${path}`
    const described = (status: number) => String(operation.responses[String(status)]?.description ?? '')
    const expected: (keyof typeof statusOf)[] = [
      'invalid_token', 'rate_limited', 'internal_error', 'storage_unavailable',
    ] // prettier-ignore
    if (path.includes('{')) expected.push('not_found', 'bad_request')
    if (method !== 'GET')
      expected.push('bad_request', 'insufficient_scope', 'payload_too_large', 'unsupported_media_type')
    if (method === 'POST') expected.push('conflict', 'idempotency_in_progress')
    if (method !== 'GET' && path.includes('{')) expected.push('forbidden')
    if (method !== 'GET' && /^\/boards\/\{id\}\/./.test(path)) expected.push('conflict')
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
