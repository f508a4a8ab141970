/** The feed of boards, and pages of both feeds. */
import { afterAll, expect, test } from 'vitest'
import { leaveAll } from '../support/editor.ts'
import { startService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCard, makeCards, nowhere, succeeded, type Shown } from './board.ts'
import { cardFeed, cursorOf, everything, follow, ids, settled } from './feed.ts'

const now = Date.now()
const service = await startService({ workers: false, debounceMs: 50, clock: { now: () => now } })
const user = await service.user()
afterAll(async () => {
  leaveAll()
  await service.stop()
})

test('[F1] the feed of boards is in the order of changes, goes on from its cursor alone, and has one on an empty page', async () => {
  const who = await service.user()
  const boards: Shown[] = []
  for (let n = 0; n < 7; n++) boards.push(await makeBoard(who, { name: `Board ${n}` }))
  await settled(service)
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
  await settled(service)
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
  await settled(service)
  const { cursor } = await follow(who, '/boards', everything)
  await who.api.delete(`/boards/${parent.id}`)
  await settled(service)
  expect((await follow(who, '/boards', cursorOf(cursor))).found).toEqual([])
  expect(ids((await follow(who, '/boards', everything)).found)).toEqual([child.id])
  const told = await follow(who, '/boards?deleted=1', cursorOf(cursor))
  expect(told.found).toMatchObject([{ id: parent.id, deleted: true }])
  // Who follows the trash learns of the parent that a child has, wherever that is, and knows itself what is in the trash.
  await who.api.patch(`/boards/${child.id}`, { name: 'Changed meanwhile' })
  await settled(service)
  const changed = await follow(who, '/boards?deleted=1', cursorOf(told.cursor))
  expect(changed.found).toMatchObject([{ id: child.id, parent_board_id: parent.id }])
  expect((await follow(who, '/boards', cursorOf(told.cursor))).found).toMatchObject([
    { id: child.id, parent_board_id: null },
  ])
  await who.api.post(`/boards/${parent.id}/restore`)
  await settled(service)
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
  await settled(service)
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
  await settled(service)
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
    '9999-12-31T23:59:59-23:59', // in the year 10000
  ])
    for (const path of ['/boards?', `${cardFeed(board.id)}&`, '/notifications?', '/images?', '/audit?']) {
      const { status, body } = await user.api.get(`${path}since=${since}`)
      expect([since, path, status]).toEqual([since, path, 200])
      const { status: next } = await user.api.get(`${path}${cursorOf(body['next_cursor'])}`)
      expect([since, path, next]).toEqual([since, path, 200])
    }
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
  await settled(service)
  const page = (await who.api.get(`/boards?${everything}&limit=2`)).body
  await who.api.patch(`/boards/${boards[0]!.id}`, { name: 'seen already' })
  await who.api.patch(`/boards/${boards[3]!.id}`, { name: 'not seen yet' })
  await settled(service)
  const rest = await follow(who, '/boards', cursorOf(page.next_cursor), 2)
  expect(ids([...page.boards, ...rest.found])).toEqual([0, 1, 2, 4, 5, 0, 3].map((n) => boards[n]!.id))

  const feed = cardFeed(boards[5]!.id)
  const order = ids((await follow(who, feed, everything, 500)).found)
  expect(order.toSorted()).toEqual(ids(cards).toSorted())
  const { body } = await who.api.get(`${feed}&${everything}&limit=2`)
  await who.api.patch(`/boards/${boards[5]!.id}/cards/${order[1]}`, { title: 'seen already' })
  await who.api.patch(`/boards/${boards[5]!.id}/cards/${order[4]}`, { title: 'not seen yet' })
  await settled(service)
  const after = await follow(who, feed, cursorOf(body.next_cursor), 2)
  expect(ids([...body.cards, ...after.found])).toEqual([0, 1, 2, 3, 5, 1, 4].map((n) => order[n]))
})
