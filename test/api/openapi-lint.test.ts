import { afterAll, beforeAll, expect, test } from 'vitest'
import { compareObserved, type Observed } from '../support/observed.ts'
import { lintDescription } from '../support/lint-description.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let description: any

beforeAll(async () => {
  service = await startService({ workers: false })
  description = await (await fetch(`${service.url}/api/v1/openapi.json`)).json()
})
afterAll(() => service.stop())

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
