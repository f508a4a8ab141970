import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCard, makeCards, nowhere } from './board.ts'

let service: TestService
let user: TestUser
let guest: TestUser

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
  guest = await service.user()
})
afterAll(() => service.stop())

const millisecond = () => new Promise((resolve) => setTimeout(resolve, 2))
const read = async (id: string, who = user) => (await who.api.get(`/boards/${id}`)).body.board

test('[B1] a created board has its defaults, lies in the personal workspace at top level, and reads the same', async () => {
  const made = await user.api.post('/boards', { name: 'Plan' })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    board: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Plan',
      workspace_id: user.workspaceId,
      parent_board_id: null,
      view: 'canvas',
      deleted: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      updated_at: made.body.board.created_at,
      scheduled_date: null,
      scheduled_end: null,
      day_label: null,
      sched_status: 'draft',
      sched_version: 0,
      sched_published_at: null,
      props: null,
      identifiers: [],
      version: expect.any(String),
    },
  })
  const { body } = await user.api.get(`/boards/${made.body.board.id}`)
  expect(body).toEqual({ board: made.body.board, capacity: null })
})

test('[B2] a name is trimmed and has 1 to 200 characters, counted as people do', async () => {
  const name = async (name: unknown) => {
    const answer = await user.api.post('/boards', { name })
    return answer.status === 201
      ? answer.body.board.name
      : [answer.status, answer.body['error'].split(' ')[0]]
  }
  expect(await name('  a b \n')).toBe('a b')
  expect(await name('😀'.repeat(200))).toBe('😀'.repeat(200))
  expect(await name(`${' '.repeat(5000)}${'é'.repeat(200)}`)).toBe('é'.repeat(200))
  expect(await name('😀'.repeat(201))).toEqual([400, 'name'])
  expect(await name('x'.repeat(201))).toEqual([400, 'name'])
  expect(await name('')).toEqual([400, 'name'])
  expect(await name(' \t ')).toEqual([400, 'name'])
  const board = await makeBoard(user)
  expect((await user.api.patch(`/boards/${board.id}`, { name: ' ' })).status).toBe(400)
  expect((await user.api.patch(`/boards/${board.id}`, { name: 'x'.repeat(201) })).status).toBe(400)
  expect((await user.api.patch(`/boards/${board.id}`, { name: ' c ' })).body.board.name).toBe('c')
})

test('[B3] on create the view is canvas unless exactly `list`; on patch anything else is 400', async () => {
  const board = await makeBoard(user, { view: 'list' })
  expect(board['view']).toBe('list')
  for (const view of ['List', 'grid', '', null, 7, {}])
    expect((await makeBoard(user, { view }))['view']).toBe('canvas')
  for (const view of ['List', null, 7]) {
    const answer = await user.api.patch(`/boards/${board.id}`, { view })
    expect([view, answer.status]).toEqual([view, 400])
    expect(answer.body['error']).toMatch(/^view must be one of: canvas, list/)
  }
  expect((await user.api.patch(`/boards/${board.id}`, { view: 'canvas' })).body.board.view).toBe('canvas')
})

test('[B4] schedule fields are real dates, the end needs a start and is not before it, and they can be cleared', async () => {
  const days = { scheduled_date: '2028-02-29', scheduled_end: '2028-03-02', day_label: 'Day 4' }
  const board = await makeBoard(user, days)
  expect(board).toMatchObject(days)
  const path = `/boards/${board.id}`
  const refused: Record<string, unknown>[] = [
    { scheduled_date: '2027-02-29' },
    { scheduled_date: '2028-13-01' },
    { scheduled_date: '2028-2-9' },
    { scheduled_date: '2028-02-28T00:00:00Z' },
    { scheduled_date: '0000-01-01' },
    { scheduled_date: '' },
    { scheduled_date: '2028-03-03' },
    { scheduled_end: '2028-02-28' },
    { scheduled_date: null },
    { scheduled_date: '2028-02-28', scheduled_end: '2028-02-27' },
    { day_label: '😀'.repeat(201) },
    { day_label: 3 },
  ]
  for (const body of refused) {
    const patched = await user.api.patch(path, body)
    expect([body, patched.status]).toEqual([body, 400])
    expect(patched.body['error']).toMatch(/^(scheduled_date|scheduled_end|day_label)/)
  }
  expect((await user.api.post('/boards', { name: 'a', scheduled_end: '2028-01-01' })).status).toBe(400)
  expect(await read(board.id)).toMatchObject(days)
  const one = await user.api.patch(path, { scheduled_end: '2028-02-29', day_label: '😀'.repeat(200) })
  expect(one.body.board).toMatchObject({ scheduled_date: '2028-02-29', scheduled_end: '2028-02-29' })
  const cleared = { scheduled_date: null, scheduled_end: null, day_label: null }
  expect((await user.api.patch(path, cleared)).body.board).toMatchObject(cleared)
  const read_only = {
    sched_status: 'published',
    sched_version: 9,
    sched_published_at: '2028-01-01T00:00:00Z',
  }
  expect((await user.api.patch(path, { ...read_only, notify: false })).body.board).toMatchObject({
    sched_status: 'draft',
    sched_version: 0,
    sched_published_at: null,
  })
})

test('[B5] props and identifiers are returned as they were sent, replaced whole, and cleared by null', async () => {
  const props = { status: 'ok', nested: { list: [1, null, true, 'x'] } }
  const identifiers = [{ scope: 'shotgrid', value: '7' }]
  const board = await makeBoard(user, {
    props,
    identifiers: [...identifiers, { ...identifiers[0], other: 'dropped' }],
  })
  expect(board).toMatchObject({ props, identifiers })
  const path = `/boards/${board.id}`
  const replaced = await user.api.patch(path, {
    props: { only: 1 },
    identifiers: [{ scope: 'a', value: 'b' }],
  })
  expect(replaced.body.board).toMatchObject({ props: { only: 1 }, identifiers: [{ scope: 'a', value: 'b' }] })
  expect((await user.api.patch(path, { name: 'x' })).body.board).toMatchObject({ props: { only: 1 } })
  const cleared = await user.api.patch(path, { props: null, identifiers: null })
  expect(cleared.body.board).toMatchObject({ props: null, identifiers: [] })
  expect((await user.api.patch(path, { props: {} })).body.board.props).toEqual({})
})

test('[B6] props and identifiers past their bounds are 400', async () => {
  const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
  const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ scope: 's', value: `${n}` }))
  const fine: Record<string, unknown>[] = [
    { props: deep(5) },
    { props: sized(16 * 1024) },
    { props: { ['😀'.repeat(100)]: 1 } },
    { identifiers: many(20) },
    { identifiers: [{ scope: '😀'.repeat(100), value: '😀'.repeat(500) }] },
  ]
  for (const fields of fine) {
    const answer = await user.api.post('/boards', { name: 'a', ...fields })
    expect(answer.status).toBe(201)
    expect(answer.body.board).toMatchObject(fields)
  }
  const refused: [body: string, says: string][] = [
    [JSON.stringify({ props: deep(6) }), 'props: must be at most 5 levels'],
    [JSON.stringify({ props: { a: [[[[[1]]]]] } }), 'props: must be at most 5 levels'],
    [JSON.stringify({ props: sized(16 * 1024 + 1) }), 'props: must be at most 16 KB'],
    [JSON.stringify({ props: { a: 'é'.repeat(8 * 1024) } }), 'props: must be at most 16 KB'],
    [JSON.stringify({ props: { ['x'.repeat(101)]: 1 } }), 'props: keys must be at most 100'],
    ['{"props":{"a":{"__proto__":1}}}', 'props: must not have a key __proto__'],
    ['{"props":[]}', 'props must be an object or null'],
    [JSON.stringify({ identifiers: many(21) }), 'identifiers must hold at most 20'],
    [JSON.stringify({ identifiers: [{ scope: 's' }] }), 'identifiers[0].value is required'],
    [JSON.stringify({ identifiers: [{ scope: '', value: 'a' }] }), 'identifiers[0].scope must be at least 1'],
    [
      JSON.stringify({ identifiers: [{ scope: 's'.repeat(101), value: 'a' }] }),
      'identifiers[0].scope must be at most 100',
    ],
    [
      JSON.stringify({ identifiers: [{ scope: 's', value: 'v'.repeat(501) }] }),
      'identifiers[0].value must be at most 500',
    ],
  ]
  const board = await makeBoard(user)
  for (const [fields, says] of refused) {
    const body = `{"name":"a",${fields.slice(1)}`
    for (const answer of [
      await user.api.send('POST', '/boards', body),
      await user.api.send('PATCH', `/boards/${board.id}`, body),
    ]) {
      expect([says, answer.status]).toEqual([says, 400])
      expect(answer.body['error']).toContain(says)
    }
  }
})

test('[B7] only the fields that are sent change; updated_at moves with the row, not with its cards, and created_at never', async () => {
  const board = await makeBoard(user, { view: 'list', day_label: 'x', props: { a: 1 } })
  await millisecond()
  const patched = (await user.api.patch(`/boards/${board.id}`, { name: 'New' })).body.board
  const { updated_at, version } = patched
  expect(patched).toEqual({ ...board, name: 'New', updated_at, version })
  expect(patched.updated_at > board['updated_at']).toBe(true)
  await millisecond()
  expect((await user.api.patch(`/boards/${board.id}`, { name: 'New' })).body.board).toEqual(patched)
  expect((await user.api.patch(`/boards/${board.id}`, {})).body.board).toEqual(patched)
  const card = await makeCard(user, board.id)
  await user.api.patch(`/boards/${board.id}/cards/${card.id}`, { title: 'b' })
  expect(await read(board.id)).toEqual(patched)
})

test('[B8] a board is created where it is sent: in a workspace, under a parent whose workspace it takes', async () => {
  const home = (await service.user()).workspaceId
  await service.member(home, user, 'editor')
  const top = await makeBoard(user, { workspace_id: home })
  expect(top).toMatchObject({ workspace_id: home, parent_board_id: null })
  const child = await makeBoard(user, { parent_board_id: top.id })
  expect(child).toMatchObject({ workspace_id: home, parent_board_id: top.id })
  expect(await makeBoard(user, { workspace_id: home.toUpperCase(), parent_board_id: top.id })).toMatchObject({
    parent_board_id: top.id,
  })
  expect(await makeBoard(user, { parent_board_id: null })).toMatchObject({ workspace_id: user.workspaceId })
})

test('[B9] a parent that is invisible is 404, in the trash or in another workspace 409, not writable 403', async () => {
  const other = await service.user()
  const shared = await service.user()
  const trashed = await makeBoard(user)
  await user.api.delete(`/boards/${trashed.id}`)
  const foreign = await makeBoard(other)
  await service.member(other.workspaceId, shared, 'viewer')
  const board = await makeBoard(user)
  const cases: [who: TestUser, body: object, status: number][] = [
    [user, { parent_board_id: nowhere }, 404],
    [user, { parent_board_id: foreign.id }, 404],
    [user, { workspace_id: nowhere }, 404],
    [user, { workspace_id: other.workspaceId }, 404],
    [user, { parent_board_id: trashed.id }, 409],
    [shared, { parent_board_id: foreign.id }, 403],
    [shared, { workspace_id: other.workspaceId }, 403],
    [shared, { parent_board_id: foreign.id, workspace_id: shared.workspaceId }, 409],
  ]
  for (const [who, body, status] of cases)
    expect([body, (await who.api.post('/boards', { name: 'a', ...body })).status]).toEqual([body, status])
  const patches: [object, number][] = [
    [{ parent_board_id: nowhere }, 404],
    [{ parent_board_id: foreign.id }, 404],
    [{ parent_board_id: trashed.id }, 409],
    [{ parent_board_id: board.id }, 409],
  ]
  for (const [body, status] of patches)
    expect([body, (await user.api.patch(`/boards/${board.id}`, body)).status]).toEqual([body, status])
  await service.member(other.workspaceId, user, 'editor')
  const elsewhere = await user.api.patch(`/boards/${board.id}`, { parent_board_id: foreign.id })
  expect([elsewhere.status, elsewhere.body.code]).toEqual([409, 'conflict'])
})

test('[B10] a reparent that makes a cycle is 409, also when two that would make one come at once', async () => {
  const [a, b, c] = [await makeBoard(user), await makeBoard(user), await makeBoard(user)]
  const move = async (id: string, to: string | null) =>
    (await user.api.patch(`/boards/${id}`, { parent_board_id: to })).status
  expect(await move(b.id, a.id)).toBe(200)
  expect(await move(c.id, b.id)).toBe(200)
  expect(await move(a.id, c.id)).toBe(409)
  expect(await move(a.id, a.id)).toBe(409)
  expect(await move(c.id, null)).toBe(200)
  expect((await read(c.id)).parent_board_id).toBeNull()
  for (let round = 0; round < 15; round++) {
    const ring = await Promise.all([makeBoard(user), makeBoard(user), makeBoard(user)])
    const statuses = await Promise.all(ring.map(({ id }, n) => move(id, ring[(n + 1) % 3]!.id)))
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 409])
  }
})

test('[B11] lists are in order of creation, by pages, and filter by workspace and parent', async () => {
  const other = await service.user()
  await service.member(other.workspaceId, user, 'editor')
  const home = { workspace_id: other.workspaceId }
  const tops = [await makeBoard(user, home), await makeBoard(user, home)]
  const children = [
    await makeBoard(user, { parent_board_id: tops[0]!.id, props: { a: 1 } }),
    await makeBoard(user, { parent_board_id: tops[0]!.id, identifiers: [{ scope: 's', value: 'v' }] }),
  ]
  const list = async (query: string) => (await user.api.get(`/boards?${query}`)).body
  const ids = async (query: string) => (await list(query)).boards.map((board: { id: string }) => board.id)
  const idsOf = (boards: { id: string }[]) => boards.map(({ id }) => id)
  const workspace = `workspace=${other.workspaceId}`
  expect(await ids(workspace)).toEqual(idsOf([...tops, ...children]))
  expect(await ids(`${workspace}&parent=root`)).toEqual(idsOf(tops))
  expect(await ids(`parent=${tops[0]!.id}`)).toEqual(idsOf(children))
  expect(await ids(`parent=${tops[0]!.id.toUpperCase()}&deleted=0`)).toEqual(idsOf(children))
  expect((await user.api.get(`/boards?parent=${nowhere}`)).status).toBe(404)
  expect((await user.api.get(`/boards?workspace=${nowhere}`)).status).toBe(404)
  expect((await user.api.get(`/boards?workspace=${guest.workspaceId}`)).status).toBe(404)
  const page = await list(`${workspace}&limit=3`)
  expect(page).toMatchObject({ limit: 3, offset: 0, has_more: true, next_offset: 3 })
  const last = await list(`${workspace}&limit=3&offset=3`)
  expect(last).toMatchObject({ limit: 3, offset: 3, has_more: false, next_offset: null })
  expect(idsOf([...page.boards, ...last.boards])).toEqual(idsOf([...tops, ...children]))
  expect(await list(`${workspace}&offset=9`)).toMatchObject({
    boards: [],
    has_more: false,
    next_offset: null,
  })
  const [plain] = (await list(workspace)).boards
  expect(plain).not.toHaveProperty('props')
  expect(plain).not.toHaveProperty('identifiers')
  const rich = (await list(`parent=${tops[0]!.id}&include=props,identifiers`)).boards
  expect(rich).toEqual(children)
  const named = (await list(`parent=${tops[0]!.id}&include=identifiers`)).boards[1]
  expect(named.identifiers).toEqual([{ scope: 's', value: 'v' }])
  expect(named).not.toHaveProperty('props')
})

test('[B16] a guest of one board sees it without its parent, at top level, and neither the workspace nor its children', async () => {
  const owner = await service.user()
  const guest = await service.user()
  const parent = await makeBoard(owner)
  const board = await makeBoard(owner, { parent_board_id: parent.id })
  const child = await makeBoard(owner, { parent_board_id: board.id })
  await service.share(board.id, guest, 'editor')
  expect(await read(board.id, guest)).toMatchObject({
    parent_board_id: null,
    workspace_id: owner.workspaceId,
  })
  const ids = async (query: string) =>
    (await guest.api.get(`/boards?${query}`)).body.boards.map((one: any) => one.id)
  expect(await ids('')).toEqual([board.id])
  expect(await ids('parent=root')).toEqual([board.id])
  expect((await guest.api.get(`/boards?parent=${parent.id}`)).status).toBe(404)
  expect(await ids(`parent=${board.id}`)).toEqual([])
  expect(await ids(`workspace=${owner.workspaceId}`)).toEqual([board.id])
  expect((await guest.api.get(`/boards/${child.id}`)).status).toBe(404)
  expect((await guest.api.get('/workspaces')).body.workspaces.map((one: any) => one.id)).toEqual([
    guest.workspaceId,
  ])
  const renamed = await guest.api.patch(`/boards/${board.id}`, { name: 'By a guest', view: 'list' })
  expect(renamed.body.board).toMatchObject({ name: 'By a guest', view: 'list', parent_board_id: null })
  expect((await read(board.id, owner)).parent_board_id).toBe(parent.id)
})

test('[B17] capacity tells the card cap of the board’s owner over all live boards; none for a paid plan', async () => {
  const owner = await service.user({ tier: 'free' })
  const guest = await service.user({ tier: 'pro' })
  const [one, two] = [await makeBoard(owner), await makeBoard(owner)]
  await service.share(one.id, guest, 'viewer')
  await makeCards(owner, one.id, [{}, {}, {}])
  await makeCards(owner, two.id, [{}])
  const capacity = async (who: TestUser) => (await who.api.get(`/boards/${one.id}`)).body.capacity
  expect(await capacity(owner)).toEqual({ limit: 100, used: 4, remaining: 96 })
  expect(await capacity(guest)).toEqual({ limit: 100, used: 4, remaining: 96 })
  await owner.api.delete(`/boards/${two.id}`)
  expect(await capacity(owner)).toEqual({ limit: 100, used: 3, remaining: 97 })
  await service.admin`update users set tier = 'pro' where id = ${owner.userId}`
  expect(await capacity(owner)).toBeNull()
  // Nor are they counted then: an owner may have thousands of boards.
  const [counting] =
    await service.admin`select pg_get_functiondef('owner_card_count(uuid)'::regprocedure) as text`
  await service.admin.unsafe(`
    create or replace function owner_card_count(owner uuid) returns bigint language plpgsql stable security definer
    as 'begin raise exception ''counted''; end'`)
  onTestFinished(async () => void (await service.admin.unsafe(counting!['text'])))
  expect((await owner.api.get(`/boards/${one.id}`)).status).toBe(200)
})
