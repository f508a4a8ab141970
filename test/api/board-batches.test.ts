import { expect, test } from 'vitest'
import type { TestUser } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'
import { makeBoard, nowhere, succeeded, type Shown } from './board.ts'

const { here: service, there: second } = await nodesOfFile({ workers: false })

const id7 = { scope: 'shotgrid', value: '7' }
const id8 = { scope: 'shotgrid', value: '8' }
const id9 = { scope: 'shotgrid', value: '9' }
const named = (name: string, ...identifiers: object[]) => ({ name, identifiers })
const batch = (who: TestUser, boards: object[], more: object = {}) =>
  who.api.post('/boards', { boards, ...more })
const upsert = (who: TestUser, boards: object[], more: object = {}) =>
  batch(who, boards, { on_conflict: 'identifier', ...more })
const listed = async (who: TestUser): Promise<Shown[]> =>
  succeeded(await who.api.get('/boards?limit=500&include=props,identifiers')).boards
const millisecond = () => new Promise((resolve) => setTimeout(resolve, 2))

test('[BB1] a batch creates its boards in its order, with the fields and defaults of a single create', async () => {
  const user = await service.user()
  const top = await makeBoard(user)
  const full = {
    view: 'list',
    scheduled_date: '2030-01-02',
    scheduled_end: '2030-01-03',
    day_label: 'Day 1',
    props: { a: [1, null] },
    identifiers: [id7],
  }
  const answer = await batch(user, [
    { name: '  one ' },
    { name: 'two', ...full, parent_board_id: top.id.toUpperCase() },
    { name: 'three', view: 'grid', parent_board_id: null, props: null, identifiers: null },
  ])
  expect(answer.status).toBe(201)
  const [one, two, three] = answer.body.boards
  expect(Object.keys(answer.body).toSorted()).toEqual(['boards', 'created'])
  expect(answer.body.created).toBe(3)
  const plain = (await user.api.post('/boards', { name: 'one' })).body.board
  const { id, created_at, updated_at, version } = one
  expect(one).toEqual({ ...plain, id, created_at, updated_at, version })
  expect(two).toMatchObject({ name: 'two', ...full, parent_board_id: top.id, workspace_id: user.workspaceId })
  expect(three).toMatchObject({
    name: 'three',
    view: 'canvas',
    parent_board_id: null,
    props: null,
    identifiers: [],
  })
  for (const board of answer.body.boards)
    expect((await user.api.get(`/boards/${board.id}`)).body.board).toEqual(board)
  const many = await batch(
    user,
    Array.from({ length: 500 }, (_, n) => ({ name: `n${n}` })),
  )
  expect(many.body.created).toBe(500)
  expect(many.body.boards.map(({ name }: Shown) => name)).toEqual(
    Array.from({ length: 500 }, (_, n) => `n${n}`),
  )
  expect(new Set(many.body.boards.map(({ id }: Shown) => id)).size).toBe(500)
})

test('[BB2] an entry lies in its own workspace, else in that of the batch, else in its parent’s, else in the caller’s own', async () => {
  const user = await service.user()
  const other = await service.user()
  await service.member(other.workspaceId, user, 'editor')
  const parent = await makeBoard(other)
  const places = async (boards: object[], more: object = {}) =>
    succeeded(await batch(user, boards, more)).boards.map((board: Shown) => board['workspace_id'])
  const own = user.workspaceId
  const there = other.workspaceId
  expect(
    await places([
      { name: 'a' },
      { name: 'b', workspace_id: there.toUpperCase() },
      { name: 'c', parent_board_id: parent.id },
    ]),
  ).toEqual([own, there, there])
  expect(
    await places(
      [{ name: 'a' }, { name: 'b', workspace_id: own }, { name: 'c', parent_board_id: parent.id }],
      { workspace_id: there },
    ),
  ).toEqual([there, own, there])
  const elsewhere = await batch(user, [{ name: 'a' }, { name: 'c', parent_board_id: parent.id }], {
    workspace_id: own,
  })
  expect([elsewhere.status, elsewhere.body.error]).toEqual([
    409,
    expect.stringContaining('boards[1].parent_board_id'),
  ])
})

test('[BB3] a bad entry is an error that names it and its field, and nothing is written', async () => {
  const user = await service.user()
  const viewer = await service.user()
  const stranger = await service.user()
  const fine = { name: 'fine' }
  const live = await makeBoard(user)
  const trashed = await makeBoard(user)
  await user.api.delete(`/boards/${trashed.id}`)
  const foreign = await makeBoard(stranger)
  const seen = await makeBoard(viewer)
  await service.member(viewer.workspaceId, user, 'viewer')
  const cases: [entry: object, status: number, says: string][] = [
    [{}, 400, 'boards[1].name is required'],
    [{ name: 7 }, 400, 'boards[1].name must be a string'],
    [{ name: ' ' }, 400, 'boards[1].name must not be empty'],
    [{ name: 'x'.repeat(201) }, 400, 'boards[1].name must be at most 200 characters'],
    [{ ...fine, workspace_id: 'x' }, 400, 'boards[1].workspace_id must be a valid uuid'],
    [{ ...fine, parent_board_id: 'x' }, 400, 'boards[1].parent_board_id must be a valid uuid'],
    [{ ...fine, scheduled_date: '2030-02-30' }, 400, 'boards[1].scheduled_date must be a valid date'],
    [{ ...fine, scheduled_date: '0000-01-01' }, 400, 'boards[1].scheduled_date must be a valid date'],
    [{ ...fine, scheduled_end: '2030-02-03' }, 400, 'boards[1].scheduled_end needs a scheduled_date'],
    [
      { ...fine, scheduled_date: '2030-02-03', scheduled_end: '2030-02-02' },
      400,
      'boards[1].scheduled_end must not be before',
    ],
    [{ ...fine, day_label: 'x'.repeat(201) }, 400, 'boards[1].day_label must be at most 200'],
    [{ ...fine, notify: 'no' }, 400, 'boards[1].notify must be a boolean'],
    [{ ...fine, props: [] }, 400, 'boards[1].props must be an object or null'],
    [
      { ...fine, props: { a: { b: { c: { d: { e: {} } } } } } },
      400,
      'boards[1].props: must be at most 5 levels',
    ],
    [{ ...fine, identifiers: [{ scope: 's' }] }, 400, 'boards[1].identifiers[0].value is required'],
    [
      { ...fine, identifiers: [{ scope: 's', value: '' }] },
      400,
      'boards[1].identifiers[0].value must be at least 1',
    ],
    [{ name: 'a\u0000b' }, 400, 'boards[1].name must not contain U+0000'],
    [{ ...fine, parent_board_id: nowhere }, 404, 'boards[1].parent_board_id: no such board'],
    [{ ...fine, parent_board_id: foreign.id }, 404, 'boards[1].parent_board_id: no such board'],
    [{ ...fine, parent_board_id: trashed.id }, 409, 'boards[1].parent_board_id: that board is in the trash'],
    [
      { ...fine, parent_board_id: live.id, workspace_id: viewer.workspaceId },
      409,
      'boards[1].parent_board_id: that board is in another',
    ],
    [{ ...fine, parent_board_id: seen.id }, 403, 'boards[1].workspace_id: you may not create'],
    [{ ...fine, workspace_id: viewer.workspaceId }, 403, 'boards[1].workspace_id: you may not create'],
    [{ ...fine, workspace_id: nowhere }, 404, 'boards[1].workspace_id: no such workspace'],
    [{ ...fine, workspace_id: stranger.workspaceId }, 404, 'boards[1].workspace_id: no such workspace'],
  ]
  const before = await listed(user)
  for (const [entry, status, says] of cases) {
    for (const send of [batch, upsert]) {
      const answer = await send(user, [{ ...fine, identifiers: [id7] }, entry, fine])
      expect([entry, answer.status]).toEqual([entry, status])
      expect(answer.body.error).toContain(says)
    }
  }
  const bodies: [body: object, says: string][] = [
    [{ boards: [] }, 'boards must hold at least 1'],
    [{ boards: Array.from({ length: 501 }, () => fine) }, 'boards must hold at most 500'],
    [{ boards: fine }, 'boards must be an array'],
    [{ boards: [fine, 'x'] }, 'boards[1] must be an object'],
    [{ boards: [fine], workspace_id: 'x' }, 'workspace_id must be a valid uuid'],
    [{ boards: [fine], on_conflict: 'name' }, 'on_conflict must be one of: identifier'],
    [{ ...fine, on_conflict: 'identifier' }, 'on_conflict goes with the batch form'],
    [{}, 'name is required'],
  ]
  for (const [body, says] of bodies) {
    const answer = await user.api.post('/boards', body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(says)])
  }
  expect(await listed(user)).toEqual(before)
})

test('[BB4] a workspace that is not writable refuses the whole batch, one that is invisible is not there', async () => {
  const user = await service.user()
  const viewer = await service.user()
  await service.member(user.workspaceId, viewer, 'viewer')
  const entries = [{ name: 'a' }, { name: 'b', workspace_id: viewer.workspaceId }]
  const refused = await batch(viewer, entries, { workspace_id: user.workspaceId })
  expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
  for (const workspace_id of [nowhere, (await service.user()).workspaceId]) {
    const invisible = await batch(viewer, entries, { workspace_id })
    expect([invisible.status, invisible.body]).toEqual([
      404,
      { error: 'workspace_id: no such workspace.', code: 'not_found' },
    ])
  }
  expect((await listed(viewer)).filter((board) => board['workspace_id'] === viewer.workspaceId)).toEqual([])
  expect(await listed(user)).toEqual([])
})

test('[BB5] with on_conflict a board that carries an identifier of an entry keeps its id and takes only what is sent', async () => {
  const user = await service.user()
  const top = await makeBoard(user)
  const known = await makeBoard(user, {
    name: 'known',
    view: 'list',
    parent_board_id: top.id,
    scheduled_date: '2030-01-02',
    scheduled_end: '2030-01-05',
    day_label: 'Day 1',
    props: { a: 1 },
    identifiers: [id7, id8],
  })
  await millisecond()
  const answer = await upsert(user, [named('new', id9), named('renamed', id8, id7), { name: 'without' }])
  expect(answer.status).toBe(201)
  expect([answer.body.created, answer.body.updated]).toEqual([2, 1])
  const [made, updated, without] = answer.body.boards
  expect([made.created, updated.created, without.created]).toEqual([true, false, true])
  const { created: _, ...board } = updated
  const { updated_at, version } = board
  expect(board).toEqual({ ...known, name: 'renamed', identifiers: [id8, id7], updated_at, version })
  expect(updated_at > known['updated_at']).toBe(true)

  const all = {
    name: 'all',
    view: 'canvas',
    parent_board_id: null,
    scheduled_end: '2030-01-03',
    day_label: null,
    props: null,
    identifiers: [id7],
  }
  const [whole] = succeeded(await upsert(user, [all])).boards
  expect(whole).toMatchObject({ ...all, id: known.id, scheduled_date: '2030-01-02', created: false })
  // What it no longer carries is free.
  const [fresh] = succeeded(await upsert(user, [named('fresh', id8)])).boards
  expect([fresh.created, fresh.id === known.id]).toEqual([true, false])

  const again = succeeded(await upsert(user, [all])).boards[0]
  expect(again).toEqual(whole)
  for (const [fields, says] of [
    [{ scheduled_date: '2030-01-04' }, 'boards[0].scheduled_end must not be before'],
    [{ scheduled_date: null }, 'boards[0].scheduled_end needs a scheduled_date'],
    [{ scheduled_end: '0000-01-01' }, 'boards[0].scheduled_end must be a valid date'],
  ] as const) {
    const refused = await upsert(user, [{ ...named('x', id7), ...fields }, { name: 'y' }])
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(says)])
  }
  expect((await user.api.get(`/boards/${known.id}`)).body.board.name).toBe('all')
})

test('[BB6] on_conflict matches live boards of the entry’s own workspace alone', async () => {
  const user = await service.user()
  const other = await service.user()
  await service.member(other.workspaceId, user, 'editor')
  const there = await makeBoard(other, named('there', id7))
  const trashed = await makeBoard(user, named('trashed', id7))
  await user.api.delete(`/boards/${trashed.id}`)
  const [here] = succeeded(await upsert(user, [named('here', id7)])).boards
  expect(here.created).toBe(true)
  const both = succeeded(
    await upsert(user, [named('here 2', id7), { ...named('there 2', id7), workspace_id: other.workspaceId }]),
  )
  expect(both.boards.map(({ id, created }: Shown) => [id, created])).toEqual([
    [here.id, false],
    [there.id, false],
  ])
  expect([both.created, both.updated]).toEqual([0, 2])
})

test('[BB7] entries of one batch that mean the same board, and an entry that means two, are 400 that names them', async () => {
  const user = await service.user()
  const [one, two] = [await makeBoard(user, named('one', id7, id8)), await makeBoard(user, named('two', id9))]
  const before = await listed(user)
  const free = { scope: 'shotgrid', value: 'free' }
  const cases: [entries: object[], says: string[]][] = [
    [
      [named('a', free), named('b'), named('c', free)],
      ['boards[2].identifiers', 'shotgrid "free"', 'boards[0]'],
    ],
    [
      [named('a', id7), named('b', id7)],
      ['boards[1].identifiers', 'shotgrid "7"', 'boards[0]'],
    ],
  ]
  const updating: typeof cases = [
    [
      [named('a'), named('b', id7, id9)],
      ['boards[1].identifiers', 'shotgrid "7"', one.id, 'shotgrid "9"', two.id],
    ],
    [
      [named('a', id7), named('b', id8)],
      ['boards[1].identifiers', 'shotgrid "8"', one.id, 'boards[0]'],
    ],
  ]
  for (const send of [batch, upsert]) {
    for (const [entries, says] of send === upsert ? [...cases, ...updating] : cases) {
      const answer = await send(user, entries)
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
      for (const words of says) expect(answer.body.error).toContain(words)
    }
  }
  expect(await listed(user)).toEqual(before)
  const twice = succeeded(await upsert(user, [named('a', free, free)])).boards[0]
  expect(twice.identifiers).toEqual([free])
})

test('[BB8] parents that a batch sets make no cycle, neither by one entry nor by several', async () => {
  const user = await service.user()
  const top = await makeBoard(user, named('top', id7))
  const below = await makeBoard(user, { ...named('below', id8), parent_board_id: top.id })
  const leaf = await makeBoard(user, { ...named('leaf', id9), parent_board_id: below.id })
  const apart = await makeBoard(user, named('apart', { scope: 's', value: 'apart' }))
  const cases = [
    [{ ...named('x', id7), parent_board_id: leaf.id }],
    [{ ...named('x', id7), parent_board_id: top.id }],
    [
      { ...named('x', { scope: 's', value: 'apart' }), parent_board_id: leaf.id },
      { ...named('y', id7), parent_board_id: apart.id },
    ],
  ]
  for (const entries of cases) {
    const answer = await upsert(user, [{ name: 'fine' }, ...entries])
    expect([answer.status, answer.body.error]).toEqual([
      409,
      expect.stringMatching(/^boards\[[12]\]\.parent_board_id: a board cannot be below itself/),
    ])
  }
  expect((await listed(user)).length).toBe(4)
  // Turned round within one batch, which is no cycle.
  const turned = await upsert(user, [
    { ...named('top', id7), parent_board_id: leaf.id },
    { ...named('below', id8), parent_board_id: null },
  ])
  expect(turned.body.boards.map((board: Shown) => board['parent_board_id'])).toEqual([leaf.id, null])
})

test('[BB9] batches with the same identifiers that come at once make each board once, on one process and on two', async () => {
  const user = await service.user()
  const elsewhere = { ...user, api: (await second.token(user, {})).api }
  for (let round = 0; round < 4; round++) {
    const identifiers = Array.from({ length: 20 }, (_, n) => ({ scope: `round ${round}`, value: `${n}` }))
    const shuffled = (turn: number) =>
      identifiers.toSorted(
        (a, b) => ((Number(a.value) * 7 + turn * 3) % 20) - ((Number(b.value) * 7 + turn * 3) % 20),
      )
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, turn) =>
        upsert(
          turn % 2 ? elsewhere : user,
          shuffled(turn).map((identifier) => named(`by ${turn}`, identifier)),
        ),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(20)
    expect(answers.reduce((sum, { body }) => sum + body.updated, 0)).toBe(7 * 20)
    const singles = await Promise.all(
      Array.from({ length: 8 }, (_, turn) =>
        (turn % 2 ? elsewhere : user).api.post(
          '/boards',
          named('single', { scope: 'single', value: `${round}` }),
        ),
      ),
    )
    expect(singles.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ])
  }
  const carried = (await listed(user)).flatMap((board) =>
    board['identifiers'].map((one: object) => JSON.stringify(one)),
  )
  expect(carried.length).toBe(4 * 21)
  expect(new Set(carried).size).toBe(carried.length)
})

test('[BB10] answers to writes of a board carry its props and identifiers; include takes these two words alone', async () => {
  const user = await service.user()
  const fields = { props: { a: 1 }, identifiers: [id7] }
  const board = await makeBoard(user, fields)
  const path = `/boards/${board.id}`
  const answers = [
    (await user.api.patch(path, { name: 'b' })).body.board,
    (await user.api.delete(path)).body.board,
    (await user.api.post(`${path}/restore`)).body.board,
    (await user.api.post(`${path}/restore`)).body.board,
    (await user.api.get(path)).body.board,
    (await user.api.get(`${path}?include=props`)).body.board,
    (
      await user.api.post('/boards/move', {
        board_ids: [board.id],
        parent_board_id: (await makeBoard(user)).id,
      })
    ).body.boards[0],
  ]
  for (const answer of answers) expect(answer).toMatchObject({ id: board.id, ...fields })
  for (const include of ['prop', 'props,raw', 'props;identifiers', 'PROPS']) {
    for (const url of [`/boards?include=${include}`, `${path}?include=${include}`]) {
      const answer = await user.api.get(url)
      expect([url, answer.status]).toEqual([url, 400])
      expect(answer.body.error).toMatch(/^include must be a list of props, identifiers/)
    }
  }
})
