/** What clients see of faults that are not theirs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { lockBoard } from '../support/held-lock.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCard, type Shown } from './board.ts'

let database: TestDatabase
let service: TestService
let user: TestUser
let board: Shown

beforeAll(async () => {
  database = await cloneDatabase()
  service = await startService({ testDatabase: database, workers: false, writeDeadlineMs: 400 })
  user = await service.user()
  board = await makeBoard(user)
})
afterAll(async () => {
  await service.stop()
  await database.drop()
})

test('[E24] a fault of the service is 500 internal_error: the request id, and nothing from inside', async () => {
  await service.admin`alter table boards rename column view to appearance`
  const answer = await user.api.get(`/boards/${board.id}`)
  await service.admin`alter table boards rename column appearance to view`
  expect([answer.status, answer.body.code]).toEqual([500, 'internal_error'])
  expect(answer.body['error']).toContain(answer.headers.get('x-request-id'))
  expect(answer.text).not.toMatch(/view|column|select|sql/i)
  expect((await user.api.get(`/boards/${board.id}`)).status).toBe(200)
})

test('[E25] with the database out of reach reads and writes are 503 storage_unavailable with retry-after; afterwards all goes on', async () => {
  const card = await makeCard(user, board.id)
  const [{ name }] = (await service.admin`select current_database() as name`) as unknown as [{ name: string }]
  await service.admin.unsafe(`alter database ${name} connection limit 0`)
  await service.admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and usename = 'corkboard'`
  const answers = await Promise.all([
    user.api.get('/boards'),
    user.api.get(`/boards/${board.id}/cards`),
    user.api.post('/boards', { name: 'a' }),
    user.api.patch(`/boards/${board.id}/cards/${card.id}`, { title: 'a' }),
    user.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 }),
    user.api.post(`/boards/${board.id}/cards`, { kind: 'note' }),
  ])
  await service.admin.unsafe(`alter database ${name} connection limit -1`)
  for (const { status, body, headers } of answers) {
    expect([status, body['code']]).toEqual([503, 'storage_unavailable'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  await until(async () => (await user.api.get('/boards')).status === 200, 'reads work again')
  await until(
    async () => (await user.api.post(`/boards/${board.id}/cards`, { kind: 'note' })).status === 201,
    'writes work again',
  )
})

test('[E26] a board whose lock is held for too long answers 503 and holds up no other', async () => {
  const other = await makeBoard(user)
  await makeCard(user, other.id) // the first write of a board takes longer
  const release = await lockBoard(service.admin, board.id)
  const stuck = user.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })
  expect((await user.api.post(`/boards/${other.id}/cards`, { kind: 'note', x: 0, y: 0 })).status).toBe(201)
  const answer = await stuck
  await release()
  expect([answer.status, answer.body.code]).toEqual([503, 'storage_unavailable'])
  expect((await user.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })).status).toBe(201)
})

test('[E27] once the service stops, a card write is 503 session_unavailable', async () => {
  const ending = await startService({ testDatabase: database, workers: false })
  await ending.live.queue.stop(100)
  const client = new ApiClient(ending.url, user.token)
  const answer = await client.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })
  expect([answer.status, answer.body.code]).toEqual([503, 'session_unavailable'])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  await ending.stop()
})
