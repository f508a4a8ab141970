/** Tokens that end, on every path and on every process. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, succeeded } from './board.ts'

let testDatabase: TestDatabase
let services: TestService[]
let owner: TestUser

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  services = [await startService({ testDatabase }), await startService({ testDatabase })]
  owner = await services[0]!.user()
})
afterAll(async () => {
  leaveAll()
  for (const service of services) await service.stop()
  await testDatabase.drop()
})

// An open route does not look at the token.
const paths = routes
  .filter(({ open }) => !open)
  .map(({ method, path }) => ({
    method,
    path: path.replace(':key', 'f0').replace(/:\w+/g, () => randomUUID()),
  }))

/** Every process refuses it within 2 s of its end; from then on all of its paths do. */
async function refusedWithin2s(token: string, endedAt: number): Promise<void> {
  for (const [n, { url }] of services.entries()) {
    const client = new ApiClient(url, token)
    let refusedAt = 0
    await until(
      async () => {
        const askedAt = performance.now()
        if ((await client.get('/me')).status === 200) return false
        refusedAt = askedAt
        return true
      },
      `process ${n} refuses`,
      20_000,
    )
    expect(refusedAt - endedAt, `process ${n}`).toBeLessThan(2000)
  }
}

async function refusedEverywhere(token: string): Promise<void> {
  for (const { url } of services) {
    const client = new ApiClient(url, token)
    for (const { method, path } of paths) {
      const { status, body } = await client.send(method, path)
      expect([method, path, status, body.code]).toEqual([method, path, 401, 'invalid_token'])
    }
  }
}

test('[SA11] after a retirement every path of every process refuses within 2 s, and every open canvas is closed', async () => {
  const body = { workspace_id: owner.workspaceId, name: 'Robot', scopes: ['read', 'write', 'delete'] }
  const { service_account: robot, access_token: first } = succeeded(
    await owner.api.post('/service-accounts', body),
  )
  const { access_token: second } = succeeded(
    await owner.api.post(`/service-accounts/${robot.id}/tokens`, { scopes: ['write'] }),
  )
  const board = await makeBoard(owner)
  const tokens = [first, second]
  const editors = await Promise.all(
    services.flatMap(({ url }) =>
      tokens.map((token) => openEditor(url, { boardId: board.id, token, reconnect: false })),
    ),
  )
  // They are known to both processes, which would go on believing in them.
  for (const { url } of services)
    for (const token of tokens) expect((await new ApiClient(url, token).get('/me')).status).toBe(200)
  succeeded(await owner.api.delete(`/service-accounts/${robot.id}`))
  const retiredAt = performance.now()
  for (const token of tokens) await refusedWithin2s(token, retiredAt)
  const isClosed = () => editors.every(({ closes }) => closes.some(({ code }) => code === 4403))
  await until(isClosed, 'every canvas is closed', Math.max(1, 2000 - (performance.now() - retiredAt)))
  for (const token of tokens) await refusedEverywhere(token)
  for (const { url } of services)
    await openEditor(url, { boardId: board.id, token: first, reconnect: false, expectRefusal: true })
}, 60_000)

test('[SA12] a client under load moves to a new token on two processes with no failed request; the old one is refused', async () => {
  const body = { workspace_id: owner.workspaceId, name: 'Loader', scopes: ['read', 'write'] }
  const { service_account: robot, ...made } = succeeded(await owner.api.post('/service-accounts', body))
  const board = await makeBoard(owner)
  let token: string = made.access_token
  const stop = new AbortController()
  const statuses: number[] = []
  const load = services.flatMap(({ url }) =>
    Array.from({ length: 2 }, async () => {
      while (!stop.signal.aborted) {
        const card = { kind: 'note', x: 0, y: 0 }
        statuses.push((await new ApiClient(url, token).post(`/boards/${board.id}/cards`, card)).status)
      }
    }),
  )
  const more = async () => {
    const before = statuses.length
    await until(() => statuses.length >= before + 20, 'the load goes on', 20_000)
  }
  await more()
  const minted = succeeded(
    await owner.api.post(`/service-accounts/${robot.id}/tokens`, { scopes: ['read', 'write'] }),
  )
  token = minted.access_token
  // Requests with the old token are answered before it ends.
  await more()
  succeeded(await owner.api.delete(`/service-accounts/${robot.id}/tokens/${made.token.id}`))
  await refusedWithin2s(made.access_token, performance.now())
  await more()
  stop.abort()
  await Promise.all(load)
  await refusedEverywhere(made.access_token)
  expect(new Set(statuses)).toEqual(new Set([201]))
  expect((await owner.api.get(`/boards/${board.id}/cards?limit=1`)).body.total).toBe(statuses.length)
}, 60_000)
