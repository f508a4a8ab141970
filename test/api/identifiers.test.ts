import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCard, makeCards, nowhere, succeeded, type Shown } from './board.ts'
import { makeFiles } from './file.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false, debounceMs: 50 })
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

const idOf = (value: string, scope = 'shotgrid') => ({ scope, value })
const resolve = async (who: TestUser, value: string, more = '') =>
  succeeded(await who.api.get(`/resolve?scope=shotgrid&value=${encodeURIComponent(value)}${more}`))
const matches = async (who: TestUser, value: string, more = ''): Promise<string[]> =>
  (await resolve(who, value, more)).matches.map(({ type, id }: Shown) => `${type} ${id}`)

test('[BB11] one live board of a workspace carries an identifier: another create or patch is 409 that names it', async () => {
  const user = await service.user()
  const identifiers = [idOf('7'), idOf('x', 'other')]
  const board = await makeBoard(user, { identifiers })
  const second = await makeBoard(user, { identifiers: [idOf('8')] })
  const refused = [
    await user.api.post('/boards', { name: 'a', identifiers: [idOf('free'), idOf('7')] }),
    await user.api.post('/boards', { boards: [{ name: 'a' }, { name: 'b', identifiers: [idOf('7')] }] }),
    await user.api.patch(`/boards/${second.id}`, { name: 'changed', identifiers: [idOf('8'), idOf('7')] }),
  ]
  for (const { status, body } of refused) {
    expect([status, body.code]).toEqual([409, 'conflict'])
    expect(body.error).toMatch(/^(boards\[1\]\.)?identifiers: shotgrid "7" is already on board/)
    expect(body.error).toContain(board.id)
  }
  expect((await user.api.get(`/boards/${second.id}`)).body.board).toEqual(second)
  // Neither the board itself, nor another scope, workspace, or a board in the trash stands in the way.
  const same = await user.api.patch(`/boards/${board.id}`, { identifiers: [idOf('x', 'other'), idOf('7')] })
  expect(same.body.board.identifiers).toEqual([idOf('x', 'other'), idOf('7')])
  await makeBoard(user, { identifiers: [idOf('7', 'ftrack')] })
  await makeBoard(await service.user(), { identifiers })
  await user.api.delete(`/boards/${board.id}`)
  await makeBoard(user, { identifiers: [idOf('7')] })
  await user.api.patch(`/boards/${second.id}`, { identifiers: null })
  await makeBoard(user, { identifiers: [idOf('8')] })
})

test('[BB11] patches that come at once give an identifier to one board alone', async () => {
  const user = await service.user()
  for (let round = 0; round < 5; round++) {
    const boards = await Promise.all(Array.from({ length: 6 }, () => makeBoard(user)))
    const answers = await Promise.all(
      boards.map(({ id }) => user.api.patch(`/boards/${id}`, { identifiers: [idOf(`round ${round}`)] })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 409, 409, 409, 409, 409,
    ])
  }
})

test('[BB12] a restore that clashes brings the board back without the clashing identifier, and says so', async () => {
  const user = await service.user()
  const board = await makeBoard(user, { identifiers: [idOf('7'), idOf('8'), idOf('9')] })
  await user.api.delete(`/boards/${board.id}`)
  const taker = await makeBoard(user, { identifiers: [idOf('8')] })
  const restored = await user.api.post(`/boards/${board.id}/restore`)
  expect(restored.status).toBe(200)
  expect(restored.body).toMatchObject({
    restored: true,
    board: { deleted: false, identifiers: [idOf('7'), idOf('9')] },
    dropped_identifiers: [idOf('8')],
  })
  expect(await matches(user, '8')).toEqual([`board ${taker.id}`])
  expect(await matches(user, '9')).toEqual([`board ${board.id}`])
  await user.api.delete(`/boards/${board.id}`)
  const plain = await user.api.post(`/boards/${board.id}/restore`)
  expect(plain.body.dropped_identifiers).toEqual([])
  expect((await user.api.post(`/boards/${board.id}/restore`)).body.dropped_identifiers).toEqual([])
  // Two that carried the same, one after the other, come back at once: one keeps it.
  const pair = [await makeBoard(user, { identifiers: [idOf('p')] })]
  await user.api.delete(`/boards/${pair[0]!.id}`)
  pair.push(await makeBoard(user, { identifiers: [idOf('p')] }))
  await user.api.delete(`/boards/${pair[1]!.id}`)
  const both = await Promise.all(pair.map(({ id }) => user.api.post(`/boards/${id}/restore`)))
  expect(both.map(({ body }) => body.dropped_identifiers.length).toSorted((a, b) => a - b)).toEqual([0, 1])
  expect(await matches(user, 'p')).toHaveLength(1)
})

test('[BB13] a guest of a board may send its identifiers back, but not set others, whatever the workspace carries', async () => {
  const owner = await service.user()
  const guest = await service.user()
  const board = await makeBoard(owner, { identifiers: [idOf('7')] })
  await makeBoard(owner, { identifiers: [idOf('hidden')] })
  await service.share(board.id, guest, 'editor')
  const patch = (identifiers: object[] | null) =>
    guest.api.patch(`/boards/${board.id}`, { name: 'n', identifiers })
  expect((await patch([idOf('7')])).status).toBe(200)
  const answers = [await patch([idOf('hidden')]), await patch([idOf('free')]), await patch(null)]
  for (const { status, body } of answers) {
    expect([status, body]).toEqual([403, answers[0]!.body])
  }
  expect((await owner.api.get(`/boards/${board.id}`)).body.board.identifiers).toEqual([idOf('7')])
})

test('[BB14] resolve finds boards, cards and the images of image cards, by type and by workspace', async () => {
  const user = await service.user()
  const other = await service.user()
  await service.member(other.workspaceId, user, 'viewer')
  const board = await makeBoard(user, { identifiers: [idOf('7')] })
  const there = await makeBoard(other, { identifiers: [idOf('7')] })
  const identifiers = [idOf('7')]
  // As pasted in the app: the API gives a card no identifier that another one of the board carries.
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const pasted = [
    {},
    { kind: 'image', image_key: 'key-1' },
    { kind: 'image', image_key: 'key-1' },
    { kind: 'image' },
    { kind: 'pdf', image_key: 'still' },
  ].map((fields, n) => {
    editor.addCard(`pasted-${n}`, { ...fields, identifiers })
    return `pasted-${n}`
  })
  await editor.saved()
  await until(async () => (await matches(user, '7')).length >= 1 + pasted.length, 'they are indexed')
  await makeCard(user, board.id, { identifiers: [idOf('77'), idOf('7', 'other')] })
  await makeFiles(service, there, ['key-2'])
  const far = await makeCard(other, there.id, { kind: 'image', image_key: 'key-2', identifiers })
  const found = await resolve(user, '7')
  expect(found).toMatchObject({ scope: 'shotgrid', value: '7', has_more: false, next_offset: null })
  const match = (type: string, id: string, on: Shown) => ({
    type,
    id,
    board_id: on.id,
    workspace_id: on['workspace_id'],
  })
  const cards = pasted.toSorted()
  const all = [
    match('board', board.id, board),
    match('board', there.id, there),
    ...cards.map((id) => match('card', id, board)),
    match('card', far.id, there),
    match('image', 'key-1', board),
    match('image', 'key-2', there),
  ]
  expect(found.matches).toEqual(all)
  expect((await resolve(user, '7', '&type=board')).matches).toEqual(all.slice(0, 2))
  expect((await resolve(user, '7', '&type=card')).matches).toEqual(all.slice(2, 8))
  expect((await resolve(user, '7', '&type=image')).matches).toEqual(all.slice(8))
  expect((await resolve(user, '7', `&workspace=${other.workspaceId}`)).matches).toEqual([
    all[1],
    all[7],
    all[9],
  ])
  expect((await user.api.get(`/resolve?scope=erp&value=7&workspace=${nowhere}`)).status).toBe(404)
  expect(await resolve(user, '7', '&limit=4&offset=3')).toMatchObject({
    matches: all.slice(3, 7),
    limit: 4,
    offset: 3,
    has_more: true,
    next_offset: 7,
  })
  expect(await matches(user, 'none')).toEqual([])
  const odd = { scope: ' Ünï "q" ', value: '%_\\ 🎬' }
  const strange = await makeBoard(user, { identifiers: [odd] })
  const query = new URLSearchParams(odd).toString()
  expect((await user.api.get(`/resolve?${query}`)).body.matches).toEqual([
    match('board', strange.id, strange),
  ])
})

test('[BB15] resolve follows what is written: at once by the API, within the debounce by an editor', async () => {
  const user = await service.user()
  const board = await makeBoard(user)
  const target = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const card = await makeCard(user, board.id, { identifiers: [idOf('a'), idOf('b')] })
  const mine = [`card ${card.id}`]
  expect([await matches(user, 'a'), await matches(user, 'b')]).toEqual([mine, mine])
  await user.api.patch(`${path}/${card.id}`, { title: 'x', x: 900 })
  expect([await matches(user, 'a'), await matches(user, 'b')]).toEqual([mine, mine])
  await user.api.patch(`${path}/${card.id}`, { identifiers: [idOf('b'), idOf('c')] })
  expect([await matches(user, 'a'), await matches(user, 'b'), await matches(user, 'c')]).toEqual([
    [],
    mine,
    mine,
  ])
  await user.api.delete(`/boards/${board.id}`)
  expect(await matches(user, 'b')).toEqual([])
  await user.api.post(`/boards/${board.id}/restore`)
  expect(await matches(user, 'b')).toEqual(mine)
  const removed = await user.api.delete(`${path}/${card.id}`)
  expect(await matches(user, 'b')).toEqual([])
  const { cards } = succeeded(await user.api.post(`/boards/${target.id}/cards`, removed.body.card))
  expect(await matches(user, 'b')).toEqual([`card ${cards[0].id}`])

  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const twice = [idOf('e'), idOf('e'), { scope: 'no value' }, 7]
  editor.addCard('edited', { identifiers: twice })
  editor.addCard('pasted', { identifiers: [idOf('e')] })
  await until(async () => (await matches(user, 'e')).length === 2, 'both cards are found')
  expect(await matches(user, 'e')).toEqual(['card edited', 'card pasted'])
  editor.cards.delete('pasted')
  editor.cards.get('edited')!.set('identifiers', [idOf('f')])
  await until(async () => (await matches(user, 'f')).length === 1, 'the changed one is found')
  expect(await matches(user, 'e')).toEqual([])
  editor.leave()

  await user.api.patch(`/boards/${target.id}`, { identifiers: [idOf('t')] })
  expect(await matches(user, 't')).toEqual([`board ${target.id}`])
  await user.api.delete(`/boards/${target.id}`)
  expect(await matches(user, 't')).toEqual([])
})

test('[BB16] resolve shows what the caller may see: a guest the one board, a stranger nothing', async () => {
  const owner = await service.user()
  const [guest, stranger] = [await service.user(), await service.user()]
  const identifiers = [idOf('7')]
  const shared = await makeBoard(owner, { identifiers })
  const hidden = await makeBoard(owner, { identifiers: [idOf('8')] })
  const [card] = await makeCards(owner, shared.id, [{ identifiers }])
  await makeCards(owner, hidden.id, [{ identifiers }])
  await service.share(shared.id, guest, 'viewer')
  expect(await matches(guest, '7')).toEqual([`board ${shared.id}`, `card ${card!.id}`])
  expect(await matches(guest, '8')).toEqual([])
  expect(await matches(guest, '7', `&workspace=${owner.workspaceId}`)).toHaveLength(2)
  expect(await matches(stranger, '7')).toEqual([])
  expect(await resolve(stranger, '7')).toEqual({ ...(await resolve(stranger, 'none')), value: '7' })
})

test('[BB17] resolve refuses what is no identifier, type or workspace, and names it', async () => {
  const { api } = await service.user()
  const cases: [query: string, says: string][] = [
    ['', 'scope is required'],
    ['scope=a', 'value is required'],
    ['value=a', 'scope is required'],
    ['scope=&value=a', 'scope must be at least 1'],
    ['scope=a&value=', 'value must be at least 1'],
    [`scope=${'s'.repeat(101)}&value=a`, 'scope must be at most 100'],
    [`scope=a&value=${'v'.repeat(501)}`, 'value must be at most 500'],
    ['scope=a&scope=b&value=c', 'scope must be a string'],
    ['scope=a&value=b%00', 'value must not contain U+0000'],
    ['scope=a&value=b&type=group', 'type must be one of: board, card, image'],
    ['scope=a&value=b&workspace=x', 'workspace must be a valid uuid'],
    ['scope=a&value=b&limit=0', 'limit must be'],
    ['scope=a&value=b&limit=501', 'limit must be'],
  ]
  for (const [query, says] of cases) {
    const { status, body } = await api.get(`/resolve?${query}`)
    expect([query, status, body.error]).toEqual([query, 400, expect.stringContaining(says)])
  }
})

test('[BB18] the rows for look-up are those that the boards and cards of the database carry', async () => {
  const differences = await service.admin`
    with boards_json as (
      select b.id, b.workspace_id, i.scope, i.value
      from boards b cross join lateral jsonb_to_recordset(b.identifiers) as i(scope text, value text)
      where b.deleted_at is null
    ), cards_json as (
      select c.board_id, c.card_id, c.workspace_id, i.scope, i.value
      from card_index c cross join lateral jsonb_to_recordset(c.identifiers) as i(scope text, value text)
      where c.deleted_at is null
    ), boards_rows as (select board_id, workspace_id, scope, value from board_identifiers),
    cards_rows as (select board_id, card_id, workspace_id, scope, value from card_identifiers)
    select 'board not found' as what, to_json(d) as row from (select * from boards_json except select * from boards_rows) d
    union all select 'no such board', to_json(d) from (select * from boards_rows except select * from boards_json) d
    union all select 'card not found', to_json(d) from (select * from cards_json except select * from cards_rows) d
    union all select 'no such card', to_json(d) from (select * from cards_rows except select * from cards_json) d`
  expect([...differences]).toEqual([])
  const [counts] = await service.admin`
    select (select count(*)::integer from board_identifiers) as boards, (select count(*)::integer from card_identifiers) as cards`
  expect(counts!['boards']).toBeGreaterThan(10)
  expect(counts!['cards']).toBeGreaterThan(5)
})

test('[BB19] a value that is common among tenants is looked up among the caller’s own rows', async () => {
  const user = await service.user()
  const board = await makeBoard(user, { identifiers: [idOf('common')] })
  // 5,000 other tenants with one board each.
  await service.database.asSystem(async (tx) => {
    await tx`insert into users (email) select 'tenant-' || n from generate_series(1, 5000) n`
    await tx`insert into workspaces (name, owner_id) select 'w', id from users where email like 'tenant-%'`
    await tx`
      insert into boards (workspace_id, name, identifiers)
      select w.id, 'b', '[{"scope": "shotgrid", "value": "common"}]'
      from workspaces w join users u on u.id = w.owner_id
      where u.email like 'tenant-%'`
  })
  await service.admin`analyze`
  expect(await matches(user, 'common')).toEqual([`board ${board.id}`])
  const plan = await service.database.asUser(
    user.userId,
    (tx) => tx<{ 'QUERY PLAN': string }[]>`
      explain (analyze, costs off, timing off)
      select board_id from board_identifiers
      where workspace_id = any (array(select readable_workspaces(current_user_id()))) and scope = 'shotgrid' and value = 'common'`,
  )
  const lines = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(lines).toMatch(/(Index|Bitmap).*board_identifiers/)
  expect(lines).not.toMatch(/Rows Removed by Filter|Seq Scan on board_identifiers/)
})
