/** The feed of cards. */
import { afterAll, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { listCards, makeBoard, makeCard, makeCards, nowhere } from './board.ts'
import { cardFeed, cursorOf, everything, follow, ids, settled } from './feed.ts'

let now = Date.now()
const service = await startService({ workers: false, debounceMs: 50, clock: { now: () => now } })
const user = await service.user()
afterAll(async () => {
  leaveAll()
  await service.stop()
})

test('[F5] the feed of cards holds index cards in the order of changes, and each change of API and editors', async () => {
  const board = await makeBoard(user)
  const cards = await makeCards(user, board.id, [{ title: 'a' }, { title: 'b' }, { title: 'c' }, {}, {}])
  await settled(service)
  const first = await follow(user, cardFeed(board.id), everything, 2)
  expect(ids(first.found).toSorted()).toEqual(ids(cards).toSorted())
  expect(Object.keys(first.found[0]!)).toEqual([
    'id',
    'kind',
    'title',
    'image_key',
    'x',
    'y',
    'version',
    'updated_at',
  ])
  const { body } = await user.api.get(`${cardFeed(board.id)}&${everything}&limit=2`)
  expect(body).toEqual({
    board_id: board.id,
    source: 'index',
    cards: first.found.slice(0, 2),
    limit: 2,
    has_more: true,
    next_cursor: `${first.found[1]!['updated_at']}|${board.id}|${first.found[1]!.id}`,
  })
  expect((await user.api.get(`/boards/${board.id}/cards?${cursorOf(first.cursor)}`)).body).toEqual({
    board_id: board.id,
    source: 'index',
    cards: [],
    limit: 100,
    has_more: false,
    next_cursor: first.cursor,
  })
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  await user.api.patch(`/boards/${board.id}/cards/${cards[1]!.id}`, { x: 500 })
  editor.cards.get(cards[0]!.id)!.set('y', 700)
  editor.addCard('drawn')
  await until(
    async () =>
      (await service.admin`select from card_index where board_id = ${board.id} and card_id = 'drawn'`)
        .length === 1,
    'the edit is indexed',
  )
  await settled(service)
  const second = await follow(user, cardFeed(board.id), cursorOf(first.cursor), 1)
  expect(second.found).toMatchObject([{ id: cards[1]!.id, x: 500 }, expect.anything(), expect.anything()])
  expect(ids(second.found.slice(1)).toSorted()).toEqual([cards[0]!.id, 'drawn'].toSorted())
  editor.leave()
})

test('[F5] the feed of an empty board has a cursor, and goes on with the first card', async () => {
  const board = await makeBoard(user)
  const { found, cursor } = await follow(user, cardFeed(board.id), 'since=2026-01-01T00:00:00Z')
  expect([found, cursor]).toEqual([[], `2026-01-01T00:00:00.000Z|${board.id}|`])
  const card = await makeCard(user, board.id)
  await settled(service)
  expect(ids((await follow(user, cardFeed(board.id), cursorOf(cursor))).found)).toEqual([card.id])
})

test('[F6] with deleted=1 the feed of cards tells of removals of the last 30 days, without it of live cards alone', async () => {
  const board = await makeBoard(user)
  const [kept, removed, erased] = await makeCards(user, board.id, [{}, {}, {}])
  await settled(service)
  const { cursor } = await follow(user, cardFeed(board.id), everything)
  await user.api.delete(`/boards/${board.id}/cards/${removed!.id}`)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.cards.delete(erased!.id)
  await until(async () => (await listCards(user, board.id)).length === 1, 'the editor’s removal is there')
  await until(
    async () =>
      (await service.admin`select from card_index where board_id = ${board.id} and deleted_at is not null`)
        .length === 2,
    'it is indexed',
  )
  await settled(service)
  expect((await follow(user, cardFeed(board.id), cursorOf(cursor))).found).toEqual([])
  // Each is asked again: a write of another node that is under way holds the feed back for a moment.
  const live = async () => ids((await follow(user, cardFeed(board.id), everything)).found)
  await expect.poll(live).toEqual([kept!.id])
  const time = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/)
  let told = { cursor }
  const changes = async () => {
    const all = await follow(user, `${cardFeed(board.id)}&deleted=1`, cursorOf(cursor))
    told = all
    return all.found
  }
  await expect.poll(changes).toEqual([
    { id: removed!.id, deleted: true, updated_at: time },
    { id: erased!.id, deleted: true, updated_at: time },
  ])
  const all = async () => ids((await follow(user, `${cardFeed(board.id)}&deleted=1`, everything)).found)
  await expect.poll(all).toEqual([kept!.id, removed!.id, erased!.id])
  // A card that comes back under its id is a live one again.
  editor.addCard(erased!.id, { title: 'back' })
  await until(async () => (await listCards(user, board.id)).length === 2, 'it is back')
  await until(
    async () =>
      (await service.admin`select from card_index where board_id = ${board.id} and deleted_at is not null`)
        .length === 1,
    'it is indexed',
  )
  await settled(service)
  expect((await follow(user, `${cardFeed(board.id)}&deleted=1`, cursorOf(told.cursor))).found).toMatchObject([
    { id: erased!.id, title: 'back' },
  ])
  const real = now
  now += 30 * 86_400_000 + 60_000
  expect(ids((await follow(user, `${cardFeed(board.id)}&deleted=1`, everything)).found)).toEqual([
    kept!.id,
    erased!.id,
  ])
  now = real
  editor.leave()
})

test('[F7] a cursor of another kind or board, and what does not go together, is 400 in the feed of cards', async () => {
  const [board, other] = [await makeBoard(user), await makeBoard(user)]
  await makeCards(user, board.id, [{}, {}])
  await settled(service)
  const path = cardFeed(board.id)
  const feed = (await user.api.get(`${path}&${everything}&limit=1`)).body.next_cursor
  const index = (await user.api.get(`${path}&limit=1`)).body.next_cursor
  const boards = (await user.api.get(`/boards?${everything}&limit=1`)).body.next_cursor
  const at = '2026-01-01T00:00:00.000Z'
  const bad = [
    boards,
    `${at}|${other.id}|a`,
    `${at}|${board.id}`,
    `${at}|${board.id}|a|b`,
    `${at}|${board.id}|a/b`,
    `${at}||a`,
    at,
  ]
  for (const cursor of bad) {
    const { status, body } = await user.api.get(`${path}&${cursorOf(cursor)}`)
    expect([cursor, status, body['error']]).toEqual([cursor, 400, expect.stringMatching(/^cursor must be/)])
  }
  expect((await user.api.get(`${cardFeed(other.id)}&${cursorOf(feed)}`)).body.error).toMatch(
    /^cursor must be/,
  )
  expect((await user.api.get(`${path}&${everything}&${cursorOf(index)}`)).body.error).toMatch(
    /^cursor must be/,
  )
  expect((await user.api.get(`/boards/${board.id}/cards?${everything}`)).body.error).toMatch(
    /^since needs source=index/,
  )
  for (const query of ['', '&source=index', `&${cursorOf(index)}`])
    expect((await user.api.get(`/boards/${board.id}/cards?deleted=1${query}`)).body.error).toMatch(
      /^deleted=1 needs/,
    )
  // Each cursor goes on with the walk that it comes from.
  expect((await user.api.get(`/boards/${board.id}/cards?${cursorOf(feed)}`)).body.next_cursor).toMatch(
    /^\d{4}-/,
  )
  expect((await user.api.get(`/boards/${board.id}/cards?${cursorOf(index)}`)).body.next_cursor).toBe(null)
  const stranger = await service.user()
  expect((await stranger.api.get(`${path}&${everything}`)).status).toBe(404)
  expect((await stranger.api.get(`${path}&${cursorOf(feed)}`)).status).toBe(404)
  expect((await user.api.get(`${cardFeed(nowhere)}&${everything}`)).status).toBe(404)
  await user.api.delete(`/boards/${board.id}`)
  expect((await user.api.get(`${path}&${everything}`)).body.cards).toHaveLength(2)
})
