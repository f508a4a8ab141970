import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCard, makeCards, nowhere, succeeded, type Shown } from './board.ts'

let service: TestService
let user: TestUser
let now = Date.now()

beforeAll(async () => {
  service = await startService({ workers: false, debounceMs: 50, clock: { now: () => now } })
  user = await service.user()
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

const everything = 'since=1970-01-01T00:00:00Z'
const cardFeed = (boardId: string) => `/boards/${boardId}/cards?source=index`
const cursorOf = (cursor: string) => `cursor=${encodeURIComponent(cursor)}`

/** Follows a feed until it has no more, and gives what came with the cursor to go on from. */
async function follow(
  who: TestUser,
  path: string,
  start: string,
  limit = 3,
): Promise<{ found: Shown[]; cursor: string }> {
  const found: Shown[] = []
  let query = start
  for (;;) {
    const body: any = succeeded(
      await who.api.get(`${path}${path.includes('?') ? '&' : '?'}${query}&limit=${limit}`),
    )
    const page: Shown[] = body.boards ?? body.cards ?? body.notifications
    expect(page.length).toBeLessThanOrEqual(limit)
    expect(body).toMatchObject({ limit, next_cursor: expect.any(String) })
    expect(body).not.toHaveProperty('offset')
    found.push(...page)
    query = cursorOf(body.next_cursor)
    if (!body.has_more) return { found, cursor: body.next_cursor }
  }
}

const ids = (rows: Shown[]) => rows.map(({ id }) => id)
/** Whatever was written is in the feed as soon as its millisecond is over and its transaction has ended. */
const settled = () =>
  until(async () => {
    const [row] = await service.admin`select feed_horizon() > (select max(updated_at) from boards) and
    feed_horizon() > coalesce((select max(updated_at) from card_index), '-infinity') as all`
    return row!['all'] === true
  }, 'all changes are in the feeds')

test('[F1] the feed of boards is in the order of changes, goes on from its cursor alone, and has one on an empty page', async () => {
  const who = await service.user()
  const boards: Shown[] = []
  for (let n = 0; n < 7; n++) boards.push(await makeBoard(who, { name: `Board ${n}` }))
  await settled()
  const first = await follow(who, '/boards', everything)
  expect(ids(first.found)).toEqual(ids(boards))
  const { body: board } = await who.api.get(`/boards/${boards[6]!.id}`)
  expect({ ...first.found[6], props: null, identifiers: [] }).toEqual(board.board)
  expect(first.found[6]).not.toHaveProperty('props')
  expect(first.cursor).toBe(`${boards[6]!['updated_at']}|${boards[6]!.id}`)

  const idle = succeeded(await who.api.get(`/boards?${cursorOf(first.cursor)}`))
  expect(idle).toEqual({ boards: [], limit: 100, has_more: false, next_cursor: first.cursor })
  await who.api.patch(`/boards/${boards[2]!.id}`, { name: 'Changed' })
  await who.api.patch(`/boards/${boards[0]!.id}`, { props: { a: 1 } })
  await who.api.patch(`/boards/${boards[1]!.id}`, { identifiers: [{ scope: 's', value: 'v' }] })
  await who.api.patch(`/boards/${boards[3]!.id}`, { scheduled_date: '2030-01-01' })
  await makeCard(who, boards[4]!.id) // no change of the board's own
  await settled()
  const second = await follow(who, '/boards', cursorOf(first.cursor), 1)
  expect(ids(second.found)).toEqual([2, 0, 1, 3].map((n) => boards[n]!.id))

  const later = new Date(Date.now() + 86_400_000).toISOString()
  const empty = succeeded(await who.api.get(`/boards?since=${later}`))
  expect(empty).toMatchObject({
    boards: [],
    has_more: false,
    next_cursor: `${later}|00000000-0000-0000-0000-000000000000`,
  })
  expect((await follow(who, '/boards', cursorOf((empty as any).next_cursor))).found).toEqual([])
  // At or after: the time of a change gives it again.
  const at = second.found[3]!['updated_at']
  expect(ids((await follow(who, '/boards', `since=${at}`)).found)).toEqual([boards[3]!.id])
})

test('[F2] with deleted=1 the feed of boards holds the trash too, without it live boards alone', async () => {
  const who = await service.user()
  const [parent, child] = [await makeBoard(who), await makeBoard(who)]
  await who.api.patch(`/boards/${child.id}`, { parent_board_id: parent.id })
  await settled()
  const { cursor } = await follow(who, '/boards', everything)
  await who.api.delete(`/boards/${parent.id}`)
  await settled()
  expect((await follow(who, '/boards', cursorOf(cursor))).found).toEqual([])
  expect(ids((await follow(who, '/boards', everything)).found)).toEqual([child.id])
  const told = await follow(who, '/boards?deleted=1', cursorOf(cursor))
  expect(told.found).toMatchObject([{ id: parent.id, deleted: true }])
  // Who follows the trash learns of the parent that a child has, wherever that is, and knows itself what is in the trash.
  await who.api.patch(`/boards/${child.id}`, { name: 'Changed meanwhile' })
  await settled()
  const changed = await follow(who, '/boards?deleted=1', cursorOf(told.cursor))
  expect(changed.found).toMatchObject([{ id: child.id, parent_board_id: parent.id }])
  expect((await follow(who, '/boards', cursorOf(told.cursor))).found).toMatchObject([
    { id: child.id, parent_board_id: null },
  ])
  await who.api.post(`/boards/${parent.id}/restore`)
  await settled()
  const restored = await follow(who, '/boards?deleted=1', cursorOf(changed.cursor))
  expect(restored.found).toMatchObject([{ id: parent.id, deleted: false }])
  expect((await follow(who, '/boards', cursorOf(changed.cursor))).found).toMatchObject([
    { id: parent.id, deleted: false },
  ])
})

test('[F3] the feed of boards filters by workspace and parent, shows include, and holds what the caller may see', async () => {
  const [owner, guest] = [await service.user(), await service.user()]
  const root = await makeBoard(owner, { props: { a: 1 }, identifiers: [{ scope: 's', value: 'v' }] })
  const child = await makeBoard(owner, { parent_board_id: root.id })
  const hidden = await makeBoard(owner)
  const own = await makeBoard(guest)
  await service.share(root.id, guest, 'viewer')
  await service.share(child.id, guest, 'viewer')
  await settled()
  const all = async (who: TestUser, query = '') =>
    ids((await follow(who, `/boards${query}`, everything)).found)
  expect(await all(owner)).toEqual([root.id, child.id, hidden.id])
  expect(await all(guest)).toEqual([root.id, child.id, own.id])
  expect(await all(guest, `?workspace=${owner.workspaceId}`)).toEqual([root.id, child.id])
  expect(await all(guest, `?workspace=${guest.workspaceId}`)).toEqual([own.id])
  for (const workspace of [guest.workspaceId, nowhere])
    expect((await owner.api.get(`/boards?workspace=${workspace}&${everything}`)).status).toBe(404)
  expect(await all(owner, `?parent=${root.id}`)).toEqual([child.id])
  expect(await all(owner, '?parent=root')).toEqual([root.id, hidden.id])
  expect(await all(guest, '?parent=root')).toEqual([root.id, own.id])
  await service.share(root.id, guest, 'none')
  expect((await follow(guest, '/boards?parent=root', everything)).found).toMatchObject([
    { id: child.id, parent_board_id: null },
    { id: own.id },
  ])
  // Of a workspace that the guest becomes a member of, each board once.
  await service.member(owner.workspaceId, guest, 'viewer')
  expect(await all(guest)).toEqual([root.id, child.id, hidden.id, own.id])
  const shown = await follow(owner, '/boards?include=props,identifiers', everything)
  expect(shown.found[0]).toMatchObject({ props: { a: 1 }, identifiers: [{ scope: 's', value: 'v' }] })
})

test('[F4] a bad since and a malformed or foreign cursor of the feed of boards are 400 that name it', async () => {
  const board = await makeBoard(user)
  await makeCards(user, board.id, [{}, {}])
  await settled()
  const index = (await user.api.get(`${cardFeed(board.id)}&limit=1`)).body.next_cursor
  const cards = (await user.api.get(`${cardFeed(board.id)}&${everything}`)).body.next_cursor
  const told = (await user.api.get(`/notifications?${everything}`)).body.next_cursor
  const at = '2026-01-01T00:00:00.000Z'
  for (const cursor of [
    index,
    cards,
    told,
    'x',
    '',
    '|',
    at,
    `${at}|`,
    `|${board.id}`,
    `${at}|${board.id}|`,
    `${board.id}|${at}`,
    `2026-13-01T00:00:00.000Z|${board.id}`,
    `${at}|${board.id}x`,
    `2026-01-01|${board.id}`,
    `null|${board.id}`,
    `${at}|null`,
    'x'.repeat(201),
  ]) {
    const { status, body } = await user.api.get(`/boards?${cursorOf(cursor)}`)
    expect([cursor, status, body['code'], body['error']]).toEqual([
      cursor,
      400,
      'bad_request',
      expect.stringMatching(/^cursor must be/),
    ])
    expect((await user.api.get(`/boards?${everything}&${cursorOf(cursor)}`)).status).toBe(400)
  }
  for (const since of [
    'yesterday',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-02-30T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '1735689600',
    '',
    'infinity',
  ]) {
    for (const path of ['/boards?', `${cardFeed(board.id)}&`, '/notifications?']) {
      const { status, body } = await user.api.get(`${path}since=${encodeURIComponent(since)}`)
      expect([path, since, status, body['error']]).toEqual([
        path,
        since,
        400,
        expect.stringMatching(/^since must be/),
      ])
    }
  }
  for (const since of [
    '0001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
    '2026-01-01T00:00:00.123456789%2B02:00',
    '2026-01-01t00:00:00z',
  ])
    for (const path of ['/boards?', `${cardFeed(board.id)}&`, '/notifications?'])
      expect([since, (await user.api.get(`${path}since=${since}`)).status]).toEqual([since, 200])
  for (const [query, message] of [
    ['limit=0', /^limit/],
    ['limit=501', /^limit/],
    ['workspace=x', /^workspace/],
    ['parent=x', /^parent/],
    ['deleted=2', /^deleted/],
    ['include=x', /^include/],
  ] as const)
    expect((await user.api.get(`/boards?${everything}&${query}`)).body).toEqual({
      code: 'bad_request',
      error: expect.stringMatching(message),
    })
})

test('[F5] the feed of cards holds index cards in the order of changes, and each change of API and editors', async () => {
  const board = await makeBoard(user)
  const cards = await makeCards(user, board.id, [{ title: 'a' }, { title: 'b' }, { title: 'c' }, {}, {}])
  await settled()
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
  await settled()
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
  await settled()
  expect(ids((await follow(user, cardFeed(board.id), cursorOf(cursor))).found)).toEqual([card.id])
})

test('[F6] with deleted=1 the feed of cards tells of removals of the last 30 days, without it of live cards alone', async () => {
  const board = await makeBoard(user)
  const [kept, removed, erased] = await makeCards(user, board.id, [{}, {}, {}])
  await settled()
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
  await settled()
  expect((await follow(user, cardFeed(board.id), cursorOf(cursor))).found).toEqual([])
  expect(ids((await follow(user, cardFeed(board.id), everything)).found)).toEqual([kept!.id])
  const time = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/)
  const told = await follow(user, `${cardFeed(board.id)}&deleted=1`, cursorOf(cursor))
  expect(told.found).toEqual([
    { id: removed!.id, deleted: true, updated_at: time },
    { id: erased!.id, deleted: true, updated_at: time },
  ])
  expect(ids((await follow(user, `${cardFeed(board.id)}&deleted=1`, everything)).found)).toEqual([
    kept!.id,
    removed!.id,
    erased!.id,
  ])
  // A card that comes back under its id is a live one again.
  editor.addCard(erased!.id, { title: 'back' })
  await until(async () => (await listCards(user, board.id)).length === 2, 'it is back')
  await until(
    async () =>
      (await service.admin`select from card_index where board_id = ${board.id} and deleted_at is not null`)
        .length === 1,
    'it is indexed',
  )
  await settled()
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
  await settled()
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

test('[F8] 1,200 boards and 1,200 cards of one millisecond come each once, by pages of 50', async () => {
  const who = await service.user()
  await service.admin`
    insert into boards (workspace_id, name) select ${who.workspaceId}, 'Board ' || n from generate_series(1, 1200) n`
  await service.admin`alter table boards disable trigger boards_stamp`
  await service.admin`update boards set updated_at = '2026-01-01T00:00:00.001Z' where workspace_id = ${who.workspaceId}`
  await service.admin`alter table boards enable trigger boards_stamp`
  const boards = await follow(who, '/boards', everything, 50)
  expect(boards.found).toHaveLength(1200)
  expect(new Set(ids(boards.found)).size).toBe(1200)
  const board = boards.found[0]!
  await makeCards(
    who,
    board.id,
    Array.from({ length: 1000 }, () => ({})),
  )
  await makeCards(
    who,
    board.id,
    Array.from({ length: 200 }, () => ({})),
  )
  await service.admin`update card_index set updated_at = '2026-01-01T00:00:00.001Z' where board_id = ${board.id}`
  const cards = await follow(who, cardFeed(board.id), everything, 50)
  expect(cards.found).toHaveLength(1200)
  expect(new Set(ids(cards.found)).size).toBe(1200)
})

test('[F9] what changes in the middle of a walk comes again at its end, and nothing is left out', async () => {
  const who = await service.user()
  const boards: Shown[] = []
  for (let n = 0; n < 6; n++) boards.push(await makeBoard(who))
  const cards = await makeCards(
    who,
    boards[5]!.id,
    Array.from({ length: 6 }, () => ({})),
  )
  await settled()
  const page = (await who.api.get(`/boards?${everything}&limit=2`)).body
  await who.api.patch(`/boards/${boards[0]!.id}`, { name: 'seen already' })
  await who.api.patch(`/boards/${boards[3]!.id}`, { name: 'not seen yet' })
  await settled()
  const rest = await follow(who, '/boards', cursorOf(page.next_cursor), 2)
  expect(ids([...page.boards, ...rest.found])).toEqual([0, 1, 2, 4, 5, 0, 3].map((n) => boards[n]!.id))

  const feed = cardFeed(boards[5]!.id)
  const order = ids((await follow(who, feed, everything, 500)).found)
  expect(order.toSorted()).toEqual(ids(cards).toSorted())
  const { body } = await who.api.get(`${feed}&${everything}&limit=2`)
  await who.api.patch(`/boards/${boards[5]!.id}/cards/${order[1]}`, { title: 'seen already' })
  await who.api.patch(`/boards/${boards[5]!.id}/cards/${order[4]}`, { title: 'not seen yet' })
  await settled()
  const after = await follow(who, feed, cursorOf(body.next_cursor), 2)
  expect(ids([...body.cards, ...after.found])).toEqual([0, 1, 2, 3, 5, 1, 4].map((n) => order[n]))
})
