import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, succeeded } from './board.ts'

let service: TestService
let owner: TestUser

beforeAll(async () => {
  service = await startService()
  owner = await service.user({ name: 'Ada' })
})
afterEach(leaveAll)
afterAll(() => service.stop())

interface Robot {
  id: string
  tokenId: string
  token: string
  api: ApiClient
}

async function makeRobot(fields: Record<string, unknown> = {}): Promise<Robot> {
  const body = {
    workspace_id: owner.workspaceId,
    name: 'Robot',
    scopes: ['read', 'write', 'delete'],
    ...fields,
  }
  const made = succeeded(await owner.api.post('/service-accounts', body))
  return robotOf(made.service_account.id, made)
}

const robotOf = (id: string, made: { token: { id: string }; access_token: string }): Robot => ({
  id,
  tokenId: made.token.id,
  token: made.access_token,
  api: new ApiClient(service.url, made.access_token),
})

const accounts = () => service.admin`select * from service_accounts order by id`
const tokens = () => service.admin`select id, scopes, rate_limit, revoked_at from tokens order by id`

test('[SA1] an account is created with its first token, and acts as an editor of its workspace', async () => {
  const answer = await owner.api.post('/service-accounts', {
    workspace_id: owner.workspaceId.toUpperCase(),
    name: '  Nightly sync ',
    scopes: ['delete', 'write'],
  })
  expect(answer.status).toBe(200)
  const { service_account: account, token, access_token: value } = answer.body
  expect(account).toEqual({
    id: expect.any(String),
    workspace_id: owner.workspaceId,
    name: 'Nightly sync',
    created_at: expect.any(String),
    retired_at: null,
  })
  expect(token).toMatchObject({
    name: 'Nightly sync',
    prefix: value.slice(0, 9),
    scopes: ['read', 'write', 'delete'],
    rate_limit: null,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  })
  const robot = new ApiClient(service.url, value)
  expect((await robot.get('/me')).body).toMatchObject({
    user_id: account.id,
    display_name: 'Nightly sync',
    tier: 'pro',
    scopes: ['read', 'write', 'delete'],
  })
  const board = await makeBoard(owner)
  expect((await robot.post(`/boards/${board.id}/cards`, { kind: 'note' })).status).toBe(201)
  expect((await robot.delete(`/boards/${board.id}`)).status).toBe(200)
  const { workspaces } = (await robot.get('/workspaces')).body
  expect(workspaces.map(({ id }: any) => id)).toEqual([owner.workspaceId])
  const elsewhere = await makeBoard(await service.user())
  expect((await robot.get(`/boards/${elsewhere.id}`)).status).toBe(404)
  const listed = (await owner.api.get(`/service-accounts?workspace=${owner.workspaceId}&limit=500`)).body
  expect(listed.service_accounts).toContainEqual(account)
})

test('[SA2] a service account makes and manages no service accounts, and strangers do not learn of it', async () => {
  const [robot, stranger] = [await makeRobot(), await service.user()]
  const body = { workspace_id: owner.workspaceId, name: 'Offspring' }
  const before = [await accounts(), await tokens()]
  expect((await robot.api.post('/service-accounts', body)).status).toBe(403)
  expect((await robot.api.post(`/service-accounts/${robot.id}/tokens`, {})).status).toBe(403)
  expect((await robot.api.delete(`/service-accounts/${robot.id}`)).status).toBe(403)
  // Also when the workspace should be its own one day.
  await service.admin`update workspaces set owner_id = ${robot.id} where id = ${owner.workspaceId}`
  expect((await robot.api.post('/service-accounts', body)).status).toBe(403)
  expect((await robot.api.post(`/service-accounts/${robot.id}/tokens`, {})).status).toBe(403)
  await service.admin`update workspaces set owner_id = ${owner.userId} where id = ${owner.workspaceId}`
  const hidden = await stranger.api.get(`/service-accounts/${robot.id}/tokens`)
  const missing = await stranger.api.get(`/service-accounts/${crypto.randomUUID()}/tokens`)
  expect([hidden.status, hidden.text]).toEqual([404, missing.text])
  expect([await accounts(), await tokens()]).toEqual(before)
})

test('[SA3] a token reads unless more is asked for, and has no scope that the minting token lacks', async () => {
  const robot = await makeRobot({ scopes: undefined })
  expect((await robot.api.get('/me')).body.scopes).toEqual(['read'])
  expect((await robot.api.post('/boards', { name: 'No' })).status).toBe(403)
  const writer = await service.token(owner, { scopes: ['write'] })
  const before = [await accounts(), await tokens()]
  const body = { workspace_id: owner.workspaceId, name: 'Too much', scopes: ['delete'] }
  const refusals = [
    await writer.api.post('/service-accounts', body),
    await writer.api.post(`/service-accounts/${robot.id}/tokens`, { scopes: ['read', 'write', 'delete'] }),
  ]
  for (const { status, body } of refusals) {
    expect([status, body]).toEqual([
      403,
      { code: 'insufficient_scope', error: expect.stringContaining('`delete`') },
    ])
  }
  expect([await accounts(), await tokens()]).toEqual(before)
  const minted = await writer.api.post(`/service-accounts/${robot.id}/tokens`, { scopes: ['write'] })
  expect(minted.body.token.scopes).toEqual(['read', 'write'])
})

test('[SA4] bad input names the field and makes nothing', async () => {
  const robot = await makeRobot()
  const before = [await accounts(), await tokens()]
  const bad: [string, Record<string, unknown>][] = [
    ['name', { name: '   ' }],
    ['name', { name: 'x'.repeat(201) }],
    ['scopes', { scopes: [] }],
    ['scopes[0]', { scopes: ['admin'] }],
    ['ttl_days', { ttl_days: 0 }],
    ['ttl_days', { ttl_days: 3651 }],
    ['ttl_days', { ttl_days: 1.5 }],
    ['rate_limit', { rate_limit: 0 }],
    ['rate_limit', { rate_limit: 100_001 }],
    ['rate_limit', { rate_limit: '5' }],
  ]
  for (const [field, fields] of bad) {
    const answers = [
      await owner.api.post('/service-accounts', {
        workspace_id: owner.workspaceId,
        name: 'Robot',
        ...fields,
      }),
      await owner.api.post(`/service-accounts/${robot.id}/tokens`, fields),
    ]
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([400, { code: 'bad_request', error: expect.stringContaining(field) }])
    }
  }
  for (const body of [{ name: 'x' }, { workspace_id: 'x', name: 'x' }, { workspace_id: owner.workspaceId }])
    expect((await owner.api.post('/service-accounts', body)).status).toBe(400)
  expect((await owner.api.get('/service-accounts')).status).toBe(400)
  expect((await owner.api.get('/service-accounts/x/tokens')).status).toBe(400)
  expect([await accounts(), await tokens()]).toEqual(before)
})

test('[SA5] boards of a service account lie in its workspace', async () => {
  const robot = await makeRobot()
  const board = succeeded(await robot.api.post('/boards', { name: 'By a robot' }))
  expect(board.board.workspace_id).toBe(owner.workspaceId)
  const own = await service.admin`select id from workspaces where owner_id = ${robot.id}`
  expect([...own]).toEqual([])
})

test('[SA6] under load a client moves from one token to the next with no failed request', async () => {
  const old = await makeRobot()
  const board = await makeBoard(owner)
  let current = old.api
  const stop = new AbortController()
  const statuses: number[] = []
  const load = Array.from({ length: 4 }, async (_, worker) => {
    for (let n = 0; !stop.signal.aborted; n++) {
      const card = { kind: 'note', title: `${worker}-${n}`, x: 0, y: n * 200 }
      statuses.push((await current.post(`/boards/${board.id}/cards`, card)).status)
    }
  })
  await until(() => statuses.length > 20, 'the load runs')
  const minted = succeeded(
    await owner.api.post(`/service-accounts/${old.id}/tokens`, { name: 'next', scopes: ['write'] }),
  )
  const next = robotOf(old.id, minted)
  current = next.api
  const moved = statuses.length
  await until(() => statuses.length > moved + 20, 'the new token is in use')
  expect((await owner.api.delete(`/service-accounts/${old.id}/tokens/${old.tokenId}`)).status).toBe(200)
  await until(
    async () => (await old.api.get('/me')).status === 401,
    'the old token is refused everywhere',
    2000,
  )
  const revoked = statuses.length
  await until(() => statuses.length > revoked + 20, 'the new token goes on')
  stop.abort()
  await Promise.all(load)
  expect(new Set(statuses)).toEqual(new Set([201]))
  const { total } = (await owner.api.get(`/boards/${board.id}/cards?limit=1`)).body
  expect(total).toBe(statuses.length)
})

test('[SA7] retiring an account ends its tokens and its canvases within 2 s, and it stays listed', async () => {
  const robot = await makeRobot()
  const second = robotOf(
    robot.id,
    succeeded(await owner.api.post(`/service-accounts/${robot.id}/tokens`, { scopes: ['write'] })),
  )
  const board = await makeBoard(owner)
  const editors = await Promise.all(
    [robot, second].map(({ token }) =>
      openEditor(service.url, { boardId: board.id, token, reconnect: false }),
    ),
  )
  editors[0]!.addCard('before')
  await editors[0]!.saved()
  expect((await owner.api.delete(`/service-accounts/${robot.id}`)).body).toEqual({
    deleted: true,
    id: robot.id,
  })
  const retiredAt = performance.now()
  for (const editor of editors)
    await until(() => editor.closes.some(({ code }) => code === 4403), 'the canvas is closed', 2000)
  for (const { api } of [robot, second]) {
    const left = Math.max(1, 2000 - (performance.now() - retiredAt))
    await until(async () => (await api.get('/me')).status === 401, 'requests are refused', left)
    expect((await api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })).status).toBe(401)
  }
  await openEditor(service.url, { boardId: board.id, token: robot.token, expectRefusal: true })
  const { service_accounts: listed } = (
    await owner.api.get(`/service-accounts?workspace=${owner.workspaceId}&limit=500`)
  ).body
  expect(listed.find(({ id }: any) => id === robot.id).retired_at).toEqual(expect.any(String))
  const minting = await owner.api.post(`/service-accounts/${robot.id}/tokens`, {})
  expect([minting.status, minting.body.code]).toEqual([409, 'conflict'])
})

test('[SA8] tokens are listed with their last use, and without what they are', async () => {
  const robot = await makeRobot()
  await robot.api.get('/me')
  const minted = succeeded(await owner.api.post(`/service-accounts/${robot.id}/tokens`, { name: 'second' }))
  const answer = await owner.api.get(`/service-accounts/${robot.id}/tokens`)
  expect(answer.body.tokens.map(({ name, last_used_at }: any) => [name, last_used_at !== null])).toEqual([
    ['Robot', true],
    ['second', false],
  ])
  for (const value of [robot.token, minted.access_token]) {
    expect(answer.text).not.toContain(value)
    expect(answer.text).not.toContain(value.slice(5, 40))
  }
  const page = (await owner.api.get(`/service-accounts/${robot.id}/tokens?limit=1&offset=1`)).body
  expect(page).toMatchObject({ tokens: [{ name: 'second' }], has_more: false, next_offset: null })
})

test('[SA9] revoking and retiring again succeed and change nothing', async () => {
  const [robot, other] = [await makeRobot(), await makeRobot()]
  const path = `/service-accounts/${robot.id}/tokens/${robot.tokenId}`
  expect((await owner.api.delete(path)).body).toEqual({ deleted: true, id: robot.tokenId })
  const revoked = await tokens()
  await delay(2)
  expect((await owner.api.delete(path)).status).toBe(200)
  expect((await owner.api.delete(`/service-accounts/${robot.id}/tokens/${other.tokenId}`)).status).toBe(404)
  expect(await tokens()).toEqual(revoked)
  await owner.api.delete(`/service-accounts/${robot.id}`)
  const retired = await accounts()
  await delay(2)
  expect((await owner.api.delete(`/service-accounts/${robot.id}`)).status).toBe(200)
  expect(await accounts()).toEqual(retired)
  expect((await other.api.get('/me')).status).toBe(200)
})

test('[SA10] limit and lifetime bind the token', async () => {
  const robot = await makeRobot({ rate_limit: 5, ttl_days: 30 })
  expect((await robot.api.get('/me')).body.rate_limit).toMatchObject({ limit: 5, remaining: 4 })
  const [first] = (await owner.api.get(`/service-accounts/${robot.id}/tokens`)).body.tokens
  const days = (Date.parse(first.expires_at) - Date.parse(first.created_at)) / 86_400_000
  expect(days).toBeCloseTo(30, 3)
  expect(first.rate_limit).toBe(5)
  const mint = async (body: object) =>
    succeeded(await owner.api.post(`/service-accounts/${robot.id}/tokens`, body)).token
  expect((await mint({})).rate_limit).toBe(5)
  expect((await mint({ rate_limit: 100_000 })).rate_limit).toBe(100_000)
  await service.admin`update tokens set expires_at = now() where id = ${robot.tokenId}`
  await until(async () => (await robot.api.get('/me')).status === 401, 'the token has ended', 2000)
})
