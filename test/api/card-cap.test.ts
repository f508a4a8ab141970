import { afterAll, beforeAll, expect, test } from 'vitest'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { leaveAll, openEditor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCards, type Shown } from './board.ts'

let database: TestDatabase
let service: TestService

beforeAll(async () => {
  database = await cloneDatabase()
  service = await startService({ testDatabase: database, workers: false })
})
afterAll(async () => {
  leaveAll()
  await service.stop()
  await database.drop()
})

const owned = async (): Promise<{ owner: TestUser; boards: [Shown, Shown] }> => {
  const owner = await service.user({ tier: 'free' })
  return { owner, boards: [await makeBoard(owner), await makeBoard(owner)] }
}
const used = async (owner: TestUser, board: Shown) =>
  (await owner.api.get(`/boards/${board.id}`)).body.capacity.used
const count = (statuses: number[]) => ({
  made: statuses.filter((status) => status === 201).length,
  refused: statuses.filter((status) => status === 402).length,
})
const some = (length: number) => Array.from({ length }, () => ({}))

test('[C38] the card cap of a free account is exact under 50 concurrent creates, over all boards of the owner', async () => {
  for (const kinds of [[{ x: 0, y: 0 }], [{}], [{ x: 0, y: 0 }, {}]]) {
    const { owner, boards } = await owned()
    await makeCards(owner, boards[0].id, some(70))
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        owner.api.post(`/boards/${boards[n % 2]!.id}/cards`, { kind: 'note', ...kinds[n % kinds.length] }),
      ),
    )
    expect(count(answers.map(({ status }) => status))).toEqual({ made: 30, refused: 20 })
    expect(await used(owner, boards[0])).toBe(100)
    const refused = answers.find(({ status }) => status === 402)!
    expect(refused.body).toEqual({
      code: 'limit_reached',
      error: expect.stringMatching(/\b100\b.*\b100\b/),
    })
  }
})

test('[C39] the cap is exact with two processes, and a batch fits whole or not at all', async () => {
  const second = await startService({ testDatabase: database, workers: false })
  const { owner, boards } = await owned()
  await makeCards(owner, boards[1].id, some(5))
  const clients = [owner.api, new ApiClient(second.url, owner.token)]
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      clients[n % 2]!.post(`/boards/${boards[(n >> 1) % 2]!.id}/cards`, {
        cards: some(10).map(() => ({ kind: 'note', x: 0, y: 0 })),
      }),
    ),
  )
  await second.stop()
  expect(count(answers.map(({ status }) => status))).toEqual({ made: 9, refused: 31 })
  expect(await used(owner, boards[0])).toBe(95)
})

test('[C40] the cap is that of the board’s owner, whoever writes; deleted cards and boards in the trash make room at once', async () => {
  const { owner, boards } = await owned()
  const writer = await service.user({ tier: 'pro' })
  const paying = await makeBoard(writer)
  await service.member(owner.workspaceId, writer, 'editor')
  const made = await makeCards(owner, boards[0].id, some(60))
  await makeCards(owner, boards[1].id, some(40))
  const path = `/boards/${boards[0].id}/cards`
  const card = { kind: 'note', x: 0, y: 0 }
  expect((await writer.api.post(path, card)).status).toBe(402)
  await service.member(writer.workspaceId, owner, 'editor')
  expect((await owner.api.post(`/boards/${paying.id}/cards`, card)).status).toBe(201)
  const { body } = await owner.api.delete(path, { card_ids: made.slice(0, 2).map(({ id }) => id) })
  expect((await owner.api.post(path, body.cards[0])).status).toBe(201)
  expect((await writer.api.post(path, { cards: [card, card] })).status).toBe(402)
  expect((await writer.api.post(path, card)).status).toBe(201)
  expect((await owner.api.post(path, card)).status).toBe(402)
  expect((await owner.api.patch(`${path}/${made[5]!.id}`, { title: 'still' })).status).toBe(200)
  await owner.api.delete(`/boards/${boards[1].id}`)
  expect((await owner.api.post(path, card)).status).toBe(201)
})

test('[C41] editors are never refused: remaining is never below 0, and the API answers 402 until the count is below', async () => {
  const { owner, boards } = await owned()
  const board = boards[0]
  await makeCards(owner, board.id, some(99))
  const editor = await openEditor(service.url, { boardId: board.id, token: owner.token })
  for (let n = 0; n < 5; n++) editor.addCard(`card-${n}`)
  await editor.saved()
  await service.flush(board.id)
  expect((await owner.api.get(`/boards/${board.id}`)).body.capacity).toEqual({
    limit: 100,
    used: 104,
    remaining: 0,
  })
  const path = `/boards/${board.id}/cards`
  for (let n = 0; n < 4; n++) {
    expect((await owner.api.post(path, { kind: 'note' })).status).toBe(402)
    await owner.api.delete(`${path}/card-${n}`)
  }
  expect((await owner.api.post(path, { kind: 'note' })).status).toBe(402)
  await owner.api.delete(`${path}/card-4`)
  expect((await owner.api.post(path, { kind: 'note' })).status).toBe(201)
})

test('[C42] a cap of 0 refuses every card, and a paid plan none', async () => {
  const strict = await startService({
    testDatabase: database,
    workers: false,
    config: { freeCardCap: 0 },
  })
  const [free, pro] = [await service.user({ tier: 'free' }), await service.user({ tier: 'pro' })]
  for (const [who, status] of [
    [free, 402],
    [pro, 201],
  ] as const) {
    const board = await makeBoard(who)
    const client = new ApiClient(strict.url, who.token)
    expect((await client.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })).status).toBe(status)
  }
  await strict.stop()
})
