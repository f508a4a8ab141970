import { afterAll, beforeAll, expect, test } from 'vitest'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let database: TestDatabase
let service: TestService
let user: TestUser

beforeAll(async () => {
  database = await cloneDatabase()
  service = await startService({ testDatabase: database })
  user = await service.user()
})

afterAll(async () => {
  leaveAll()
  await service.stop()
  await database.drop()
})

test('[J1] two editors see 1,000 cards of the API at once, a drag of one is in the index within 3 s, and a restart keeps all', async () => {
  const board = (await user.api.post('/boards', { name: 'Main' })).body.board
  const path = `/boards/${board.id}/cards`
  const anna = await openEditor(service.url, { boardId: board.id, token: user.token })
  const ben = await openEditor(service.url, { boardId: board.id, token: user.token })

  const cards = Array.from({ length: 1000 }, (_, n) => ({
    kind: 'note',
    title: `Card ${n}`,
    body: `Text ${n}`,
    x: (n % 40) * 300,
    y: Math.floor(n / 40) * 200,
  }))
  const created = await user.api.post(path, { cards })
  expect(created.status).toBe(201)
  expect(created.body.live).toBe(true)
  expect(created.body.cards).toHaveLength(1000)
  await until(() => anna.cards.size === 1000 && ben.cards.size === 1000, 'both editors hold all cards', 1000)

  const dragged = created.body.cards[7].id as string
  anna.cards.get(dragged)!.set('x', 12_345)
  await anna.saved()
  await until(() => ben.cards.get(dragged)?.get('x') === 12_345, 'the other editor sees the drag')
  const live = await user.api.get(`${path}?limit=500`)
  expect(live.body.cards.find((card: { id: string }) => card.id === dragged).x).toBe(12_345)
  await until(
    async () => {
      // The index is walked by id: start right before the card.
      const before = dragged.slice(0, -1)
      const index = await user.api.get(`${path}?source=index&limit=100&cursor=${board.id}|${before}`)
      return index.body.cards.some(
        (card: { id: string; x: number }) => card.id === dragged && card.x === 12_345,
      )
    },
    'the index shows the drag',
    3000,
  )

  leaveAll()
  await service.stop()
  service = await startService({ testDatabase: database })
  const again = await fetch(`${service.url}/api/v1${path}?limit=500&offset=500`, {
    headers: { authorization: `Bearer ${user.token}` },
  })
  const page = (await again.json()) as { total: number; cards: unknown[] }
  expect(page.total).toBe(1000)
  expect(page.cards).toHaveLength(500)
})
