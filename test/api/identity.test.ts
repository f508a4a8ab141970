import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user({ name: 'Anna', tier: 'free' })
})
afterAll(() => service.stop())

const template = (path: string) => path.replace(/:(\w+)/g, '{$1}')

test('[I1] /me tells who the token belongs to, its tier and scopes, and the figures of the rate-limit headers', async () => {
  const answer = await user.api.get('/me')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    user_id: user.userId,
    display_name: 'Anna',
    email: user.email,
    tier: 'free',
    scopes: ['read', 'write', 'delete'],
    rate_limit: {
      limit: Number(answer.headers.get('x-ratelimit-limit')),
      remaining: Number(answer.headers.get('x-ratelimit-remaining')),
      reset: Number(answer.headers.get('x-ratelimit-reset')),
    },
    storage: { used: 0, limit: 1024 ** 3 },
    documents: { used: expect.any(Number), history: 0, limit: 1024 ** 3 },
  })
})

test('[I2] write and delete imply read, and nothing else', async () => {
  const scopes = async (given: ('read' | 'write' | 'delete')[]) =>
    (await (await service.token(user, { scopes: given })).api.get('/me')).body.scopes
  expect(await scopes(['write'])).toEqual(['read', 'write'])
  expect(await scopes(['delete'])).toEqual(['read', 'delete'])
  expect(await scopes(['read'])).toEqual(['read'])
  expect(await scopes([])).toEqual(['read'])
})

test('[I3] the root lists exactly the routes, with the scope each needs, and the scopes of the token', async () => {
  const reader = await service.token(user, { scopes: ['read'] })
  const { status, body } = await reader.api.get('/')
  expect(status).toBe(200)
  expect(body.scopes).toEqual(['read'])
  expect(body).toMatchObject({ name: 'Corkboard', version: '1.0.0' })
  expect(body.endpoints).toEqual([
    ...routes.map(({ method, path, scope, open, summary }) => ({
      ...{ method, path: template(path), scope: open ? null : scope, summary },
    })),
    { method: 'GET', path: '/openapi.json', scope: null, summary: expect.any(String) },
  ])
  expect((await fetch(body.openapi)).status).toBe(200)
})

test('[I4] /workspaces lists those that the account owns or is a member of, with its role, oldest first, by pages', async () => {
  const [guest, owner] = await Promise.all([service.user({ name: 'Guest' }), service.user({ name: 'Owner' })])
  await service.member(owner.workspaceId, guest, 'viewer')
  const all = await guest.api.get('/workspaces')
  expect(all.body.workspaces.map((workspace: { id: string }) => workspace.id).toSorted()).toEqual(
    [guest.workspaceId, owner.workspaceId].toSorted(),
  )
  expect(all.body.workspaces[0]).toEqual({
    id: expect.any(String),
    name: expect.stringMatching(/Guest|Owner/),
    role: expect.any(String),
    created_at: expect.any(String),
  })
  const first = await guest.api.get('/workspaces?limit=1')
  expect(first.body).toMatchObject({ limit: 1, offset: 0, has_more: true, next_offset: 1 })
  const second = await guest.api.get('/workspaces?limit=1&offset=1')
  expect(second.body).toMatchObject({ limit: 1, offset: 1, has_more: false, next_offset: null })
  expect([...first.body.workspaces, ...second.body.workspaces]).toEqual(all.body.workspaces)
  const roleIn = async (id: string) =>
    (await guest.api.get('/workspaces')).body.workspaces.find((one: { id: string }) => one.id === id)?.role
  expect([await roleIn(guest.workspaceId), await roleIn(owner.workspaceId)]).toEqual(['owner', 'viewer'])
  await service.member(owner.workspaceId, guest, 'editor')
  expect(await roleIn(owner.workspaceId)).toBe('editor')
})

test('[I5] without a token, and with one that is unknown, mistyped, revoked or expired: 401 that says where to get one', async () => {
  const revoked = await service.token(user, {})
  const expired = await service.token(user, { ttlDays: 1 })
  await service.admin`update tokens set revoked_at = now() where id = ${revoked.tokenId}`
  await service.admin`update tokens set expires_at = now() - interval '1 second' where id = ${expired.tokenId}`
  const mistyped = `${user.token.slice(0, -1)}${user.token.endsWith('0') ? '1' : '0'}`
  const headers = [
    undefined,
    '',
    'Bearer',
    'Bearer  ',
    `Basic ${user.token}`,
    `Bearer ${mistyped}`,
    `Bearer ${user.token}x`,
    `Bearer ${'x'.repeat(4000)}`,
    'Bearer cork_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0000000',
    `Bearer ${revoked.token}`,
    `Bearer ${expired.token}`,
  ]
  for (const authorization of headers) {
    const answer = await service.anonymous.get('/me', authorization === undefined ? {} : { authorization })
    expect([authorization, answer.status, answer.body.code]).toEqual([authorization, 401, 'invalid_token'])
    const challenge = answer.headers.get('www-authenticate')!
    const [, metadata] = /^Bearer resource_metadata="(.*)"$/.exec(challenge)!
    expect(new URL(metadata!).pathname).toBe('/.well-known/oauth-protected-resource')
  }
  const metadata = await fetch(`${service.url}/.well-known/oauth-protected-resource`)
  expect(await metadata.json()).toMatchObject({ scopes_supported: ['read', 'write', 'delete'] })
  expect((await user.api.get('/me', { authorization: `bearer ${user.token}` })).status).toBe(200)
})

test('[I6] each route refuses a token without its scope with 403 that names the scope, before it looks at anything else', async () => {
  const reader = await service.token(user, { scopes: ['read'] })
  const writer = await service.token(user, { scopes: ['write'] })
  const deleter = await service.token(user, { scopes: ['delete'] })
  const lacking = { read: [], write: [reader, deleter], delete: [reader, writer] }
  for (const { method, path, scope } of routes) {
    for (const { api } of lacking[scope]) {
      const answer = await api.send(method, path.replace(/:\w+/g, 'not-an-id'), '{ not json')
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'insufficient_scope'])
      expect(answer.body['error']).toContain(`\`${scope}\``)
    }
  }
})

test('[I7] a revoked or expired token ends within two seconds of its use before', async () => {
  const token = await service.token(user, {})
  expect((await token.api.get('/me')).status).toBe(200)
  await service.admin`update tokens set revoked_at = now() where id = ${token.tokenId}`
  const revokedAt = performance.now()
  let status = 200
  while (status === 200 && performance.now() - revokedAt < 2000) status = (await token.api.get('/me')).status
  expect(status).toBe(401)
})

test('[I8] the personal workspace is made on demand, once, also under 20 concurrent creates', async () => {
  const fresh = await service.user({ name: 'Fresh' })
  await service.admin`delete from workspaces where id = ${fresh.workspaceId}`
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => fresh.api.post('/boards', { name: `Board ${n}` })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201))
  expect(new Set(answers.map(({ body }) => body.board.workspace_id)).size).toBe(1)
  const { workspaces } = (await fresh.api.get('/workspaces')).body
  expect(workspaces).toEqual([
    { id: answers[0]!.body.board.workspace_id, name: 'Fresh', role: 'owner', created_at: expect.any(String) },
  ])
})
