import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startPurge } from '../../workers/upkeep/purge.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { Mirror } from './mirror.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ debounceMs: 30 })
  user = await service.user()
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

const random = (below: number) => Math.floor(Math.random() * below)
/** Boards that have been there, of which four are purged at the end. */
const enough = 12
const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }

test('[F15] a mirror made by the feeds alone equals the database, deletions, trash and purges included', async () => {
  const boards = await Promise.all(
    Array.from({ length: 6 }, (_, n) => makeBoard(user, { name: `Board ${n}` })),
  )
  await makeCards(
    user,
    boards[0]!.id,
    Array.from({ length: 700 }, (_, n) => ({ title: `Card ${n}` })),
  )
  const purge = startPurge(
    { database: service.database, clock: { now: () => Date.now() }, log: silent, closeBoard: () => {} },
    { intervalMs: 50 },
  )
  onTestFinished(() => purge.stop())
  const mirror = new Mirror(service.url, user.token, user.workspaceId)
  const over = new AbortController()
  const following = (async () => {
    while (!over.signal.aborted) await mirror.catchUp()
  })()

  const deadline = performance.now() + 4000
  // On a busy machine for longer, until enough has happened to say something.
  const isOver = () => performance.now() > deadline + (boards.length > enough ? 0 : 30_000)
  const failures: string[] = []
  const api = async (writer: number) => {
    const expected = new Set([200, 201, 404, 409])
    for (let n = 0; !isOver(); n++) {
      const any = () => boards[random(boards.length)]!.id
      const board = any()
      const { cards = [] } = (await user.api.get<any>(`/boards/${board}/cards?limit=5`)).body
      const card = cards[random(cards.length)]?.id
      const acts = [
        async () => {
          const made = await user.api.post<any>('/boards', {
            name: `New ${writer}-${n}`,
            parent_board_id: random(2) ? null : board,
            props: { n },
          })
          if (made.status === 201) boards.push(made.body.board)
          return made
        },
        () => user.api.patch(`/boards/${board}`, { name: `Renamed ${n}`, day_label: `${n}` }),
        () => user.api.patch(`/boards/${board}`, { parent_board_id: any() }),
        () => user.api.delete(`/boards/${any()}`),
        () => user.api.post(`/boards/${any()}/restore`),
        () => user.api.post(`/boards/${any()}/restore`),
        () => user.api.post(`/boards/${board}/cards`, { kind: 'note', title: `${writer}-${n}` }),
        () =>
          user.api.post(`/boards/${board}/cards`, {
            cards: [{ kind: 'link', x: n, y: 0 }, { kind: 'note' }],
          }),
        ...(card
          ? [
              () => user.api.patch(`/boards/${board}/cards/${card}`, { x: random(500) }),
              () => user.api.delete(`/boards/${board}/cards/${card}`),
            ]
          : []),
      ]
      const { status, text } = await acts[random(acts.length)]!()
      if (!expected.has(status)) failures.push(text)
    }
  }
  const draw = async (n: number) => {
    const board = await makeBoard(user, { name: `Drawn ${n}` }) // not among those that are deleted
    const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
    for (let at = 0; !isOver(); at++) {
      const ids = [...editor.cards.keys()]
      const id = ids[random(ids.length)]
      if (random(3) === 0 && id) editor.cards.delete(id)
      else if (random(2) === 0 && id) editor.cards.get(id)!.set('x', at)
      else editor.addCard(`drawn-${n}-${at}`)
      await new Promise((resolve) => setTimeout(resolve, random(30)))
    }
    await editor.saved()
  }
  await Promise.all([api(0), api(1), api(2), draw(0), draw(1)])
  // Some of the trash is of long ago.
  await user.api.delete(`/boards/${boards[1]!.id}`)
  await service.admin`
    update boards set deleted_at = now() - interval '31 days'
    where id in (select id from boards where deleted_at is not null order by id limit 3) or id = ${boards[1]!.id}`
  await until(
    async () =>
      (await service.admin`select from boards where deleted_at < now() - interval '30 days'`).length === 0,
    'it is purged',
  )
  await until(
    async () => (await service.admin`select from board_documents where indexed_seq < seq`).length === 0,
    'all is indexed',
  )
  // Whatever chance did, one that is not of long ago is in the trash too.
  await user.api.delete(`/boards/${(await makeBoard(user)).id}`)
  over.abort()
  await following
  await until(
    async () =>
      (
        await service.admin`select feed_horizon() > greatest((select max(updated_at) from boards), (select max(updated_at) from card_index)) as past`
      )[0]!['past'] === true,
    'the horizon is past all',
  )
  await mirror.catchUp()
  expect(await mirror.catchUp()).toBe(false)

  expect(failures).toEqual([])
  const rows = await service.admin`
    select id, name, parent_board_id, view, deleted_at is not null as deleted, scheduled_date, day_label, props, updated_at from boards order by id`
  const fields = Object.keys(rows[0]!)
  const mirrored = [...mirror.boards.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const plain = (row: Record<string, unknown>) =>
    JSON.parse(JSON.stringify(fields.map((field) => row[field] ?? null)))
  expect(rows.length).toBeGreaterThan(8)
  expect(mirrored.map(plain)).toEqual(rows.map(plain))
  expect(mirrored.some(({ deleted }) => deleted)).toBe(true)
  for (const board of mirrored) {
    const cards = await service.admin`
      select card_id as id, kind, title, x, y, image_key, hash as version, updated_at from card_index where board_id = ${board.id} and deleted_at is null order by 1`
    const kept = [...mirror.cards.get(board.id)!.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    expect(kept).toEqual(JSON.parse(JSON.stringify(cards)))
    // And as the API shows it.
    const { body } = await user.api.get<any>(`/boards/${board.id}`)
    expect(mirror.parentOf(board)).toBe(body.board.parent_board_id)
  }
}, 60_000)
