import { expect, test } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, nowhere, succeeded, type Shown } from './board.ts'

const { here: service, there: second } = await nodesOfFile({ workers: false })

const move = (who: TestUser, boards: (Shown | string)[], parent?: string | null) =>
  who.api.post('/boards/move', {
    board_ids: boards.map((board) => (typeof board === 'string' ? board : board.id)),
    ...(parent === undefined ? {} : { parent_board_id: parent }),
  })
const read = async (who: TestUser, { id }: Shown): Promise<Shown> =>
  succeeded(await who.api.get(`/boards/${id}`)).board
const ids = (boards: Shown[]) => boards.map(({ id }) => id)
const millisecond = () => new Promise((resolve) => setTimeout(resolve, 2))

test('[BB20] a move puts boards below another, or at top level, and answers with them in the order of the list', async () => {
  const user = await service.user()
  const [a, b, c, target] = [
    await makeBoard(user),
    await makeBoard(user),
    await makeBoard(user),
    await makeBoard(user),
  ]
  await makeCard(user, a!.id)
  await millisecond()
  const moved = await move(user, [c!, a!.id.toUpperCase(), c!], target!.id.toUpperCase())
  expect(moved.status).toBe(200)
  expect(Object.keys(moved.body)).toEqual(['moved', 'boards', 'skipped'])
  expect([moved.body.moved, moved.body.skipped]).toEqual([ids([c!, a!]), []])
  expect(moved.body.boards).toEqual([await read(user, c!), await read(user, a!)])
  const [shown] = moved.body.boards
  const { updated_at, version } = shown
  expect(shown).toEqual({ ...c, parent_board_id: target!.id, updated_at, version })
  expect(updated_at > c!['updated_at']).toBe(true)
  expect((await move(user, [a!], null)).body.boards[0].parent_board_id).toBeNull()
  expect((await move(user, [c!])).body.boards[0].parent_board_id).toBeNull()
  expect(await read(user, b!)).toEqual(b)
  const many = succeeded(
    await user.api.post('/boards', { boards: Array.from({ length: 500 }, () => ({ name: 'x' })) }),
  ).boards
  expect((await move(user, many, target!.id)).body.moved).toEqual(ids(many))
})

test('[BB21] what can’t move is skipped with its reason, and the rest moves', async () => {
  const user = await service.user()
  const other = await service.user()
  const third = await service.user()
  await service.member(other.workspaceId, user, 'viewer')
  await service.member(third.workspaceId, user, 'editor')
  const top = await makeBoard(user)
  const target = await makeBoard(user, { parent_board_id: top.id })
  const [child, free, trashed] = [
    await makeBoard(user, { parent_board_id: target.id }),
    await makeBoard(user),
    await makeBoard(user),
  ]
  await user.api.delete(`/boards/${trashed.id}`)
  const readable = await makeBoard(other)
  const shared = await makeBoard(await service.user())
  await service.share(shared.id, user, 'editor')
  const elsewhere = await makeBoard(third)
  const invisible = await makeBoard(await service.user())
  const list = [top, readable, target, elsewhere, free, child, invisible, trashed, shared, nowhere]
  const answer = await move(user, list, target.id)
  expect(answer.status).toBe(200)
  expect(answer.body.moved).toEqual([free.id])
  expect(answer.body.skipped).toEqual([
    { board_id: top.id, reason: 'cycle' },
    { board_id: readable.id, reason: 'no-write' },
    { board_id: target.id, reason: 'self' },
    { board_id: elsewhere.id, reason: 'cross-workspace' },
    { board_id: child.id, reason: 'same-parent' },
    { board_id: invisible.id, reason: 'missing' },
    { board_id: trashed.id, reason: 'missing' },
    { board_id: shared.id, reason: 'no-write' },
    { board_id: nowhere, reason: 'missing' },
  ])
  expect(await read(user, top)).toEqual(top)
  expect(await read(user, child)).toEqual(child)
  // To the top of its own workspace each.
  const up = await move(user, [child, elsewhere, readable], null)
  expect([up.body.moved, up.body.skipped]).toEqual([
    [child.id],
    [
      { board_id: elsewhere.id, reason: 'same-parent' },
      { board_id: readable.id, reason: 'no-write' },
    ],
  ])
})

test('[BB22] boards of one list move each below the target, also when one lies below another; a cycle reaches through the trash', async () => {
  const user = await service.user()
  const [target, parent] = [await makeBoard(user), await makeBoard(user)]
  const child = await makeBoard(user, { parent_board_id: parent.id })
  const grandchild = await makeBoard(user, { parent_board_id: child.id })
  expect((await move(user, [child, parent], target.id)).body.moved).toEqual(ids([child, parent]))
  expect([
    (await read(user, child))['parent_board_id'],
    (await read(user, parent))['parent_board_id'],
  ]).toEqual([target.id, target.id])
  expect((await read(user, grandchild))['parent_board_id']).toBe(child.id)
  await user.api.delete(`/boards/${child.id}`)
  const round = await move(user, [target], grandchild.id)
  expect(round.body.skipped).toEqual([{ board_id: target.id, reason: 'cycle' }])
  expect((await user.api.patch(`/boards/${target.id}`, { parent_board_id: grandchild.id })).status).toBe(409)
  // Its parent in the trash is not shown, and left all the same: it does not return there.
  expect((await read(user, grandchild))['parent_board_id']).toBeNull()
  expect((await move(user, [grandchild], null)).body.moved).toEqual([grandchild.id])
  await user.api.post(`/boards/${child.id}/restore`)
  expect((await read(user, grandchild))['parent_board_id']).toBeNull()
})

test('[BB23] a target that is invisible is 404, not writable 403, in the trash 409, and a bad list 400; nothing moves', async () => {
  const user = await service.user()
  const other = await service.user()
  await service.member(other.workspaceId, user, 'viewer')
  const board = await makeBoard(user)
  const trashed = await makeBoard(user)
  await user.api.delete(`/boards/${trashed.id}`)
  const guestOf = await makeBoard(await service.user())
  await service.share(guestOf.id, user, 'editor')
  const cases: [body: object, status: number, says: string][] = [
    [{ board_ids: [board.id], parent_board_id: nowhere }, 404, 'parent_board_id: no such board'],
    [
      { board_ids: [board.id], parent_board_id: (await makeBoard(await service.user())).id },
      404,
      'parent_board_id: no such board',
    ],
    [
      { board_ids: [board.id], parent_board_id: (await makeBoard(other)).id },
      403,
      'parent_board_id: you may not',
    ],
    [{ board_ids: [board.id], parent_board_id: guestOf.id }, 403, 'parent_board_id: you may not'],
    [
      { board_ids: [board.id], parent_board_id: trashed.id },
      409,
      'parent_board_id: that board is in the trash',
    ],
    [{}, 400, 'board_ids is required'],
    [{ board_ids: [] }, 400, 'board_ids must hold at least 1'],
    [{ board_ids: Array.from({ length: 501 }, () => board.id) }, 400, 'board_ids must hold at most 500'],
    [{ board_ids: board.id }, 400, 'board_ids must be an array'],
    [{ board_ids: [board.id, 'x'] }, 400, 'board_ids[1] must be a valid uuid'],
    [{ board_ids: [board.id], parent_board_id: 'root' }, 400, 'parent_board_id must be a valid uuid'],
  ]
  for (const [body, status, says] of cases) {
    const answer = await user.api.post('/boards/move', body)
    expect([body, answer.status, answer.body.error]).toEqual([body, status, expect.stringContaining(says)])
  }
  expect(await read(user, board)).toEqual(board)
})

test('[BB24] of moves that would make a cycle together one is refused, by whatever way and process they come', async () => {
  const user = await service.user()
  const elsewhere = { ...user, api: (await second.token(user, {})).api }
  const ways: ((who: TestUser, board: Shown, to: Shown) => Promise<boolean>)[] = [
    async (who, board, to) => succeeded(await move(who, [board], to.id)).moved.length === 1,
    async (who, board, to) =>
      (await who.api.patch(`/boards/${board.id}`, { parent_board_id: to.id })).status === 200,
    async (who, board, to) =>
      (
        await who.api.post('/boards', {
          on_conflict: 'identifier',
          boards: [{ name: 'x', parent_board_id: to.id, identifiers: board['identifiers'] }],
        })
      ).status === 201,
  ]
  for (let round = 0; round < 12; round++) {
    const ring = await Promise.all(
      [0, 1, 2].map((n) => makeBoard(user, { identifiers: [{ scope: 'ring', value: `${round} ${n}` }] })),
    )
    const done = await Promise.all(
      ring.map((board, n) => ways[(round + n) % 3]!(n % 2 ? elsewhere : user, board, ring[(n + 1) % 3]!)),
    )
    expect(done.filter((one) => one)).toHaveLength(2)
  }
  // Two lists of many, against each other.
  const halves = await Promise.all(
    [0, 1].map(() => user.api.post('/boards', { boards: Array.from({ length: 40 }, () => ({ name: 'x' })) })),
  )
  const [left, right] = halves.map(({ body }) => body.boards as Shown[]) as [Shown[], Shown[]]
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      n % 2 ? move(elsewhere, left, right[n]!.id) : move(user, right.toReversed(), left[n]!.id),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const [found] = await service.admin`
    with recursive below as (
      select id from boards where parent_board_id is null
      union all
      select b.id from below join boards b on b.parent_board_id = below.id
    )
    select (select count(*)::integer from boards) as all, (select count(*)::integer from below) as reached`
  expect(found!['reached']).toBe(found!['all'])
})

test('[BB25] below a chain of 20,000 boards a move is checked like any other', async () => {
  const user = await service.user()
  const chain = await makeChain(user, 20_000)
  const board = await makeBoard(user)
  const startMs = performance.now()
  expect((await move(user, [board, chain[0]!, chain[10_000]!], chain.at(-1)!)).body).toMatchObject({
    moved: [board.id],
    skipped: [
      { board_id: chain[0], reason: 'cycle' },
      { board_id: chain[10_000], reason: 'cycle' },
    ],
  })
  expect((await user.api.patch(`/boards/${chain[5]}`, { parent_board_id: board.id })).status).toBe(409)
  // A walk that went over what it has seen would take minutes.
  expect(performance.now() - startMs).toBeLessThan(10_000)
})

async function makeChain(user: TestUser, length: number): Promise<string[]> {
  const boardIds = Array.from({ length }, () => crypto.randomUUID())
  await service.database.asSystem(
    (tx) => tx`
      insert into boards (id, workspace_id, name, parent_board_id)
      select id, ${user.workspaceId}, 'link', lag(id) over (order by at)
      from unnest(${boardIds}::uuid[]) with ordinality as l(id, at)
      order by at`,
  )
  return boardIds
}

test('[BB26] bulk deletion puts boards into the trash, each once; again is a no-op, and the rest is skipped with its reason', async () => {
  const user = await service.user()
  const other = await service.user()
  await service.member(other.workspaceId, user, 'viewer')
  const [parent, seen, shared, invisible] = [
    await makeBoard(user),
    await makeBoard(other),
    await makeBoard(await service.user()),
    await makeBoard(await service.user()),
  ]
  const child = await makeBoard(user, { parent_board_id: parent.id })
  const kept = await makeBoard(user, { parent_board_id: parent.id })
  await service.share(shared.id, user, 'editor')
  const editor = await openEditor(service.url, { boardId: parent.id, token: user.token, reconnect: false })
  const other_editor = await openEditor(service.url, {
    boardId: kept.id,
    token: user.token,
    reconnect: false,
  })
  const remove = (...board_ids: string[]) => user.api.delete('/boards', { board_ids })
  const answer = await remove(
    parent.id.toUpperCase(),
    seen.id,
    child.id,
    nowhere,
    parent.id,
    shared.id,
    invisible.id,
  )
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      deleted: [parent.id, child.id],
      skipped: [
        { board_id: seen.id, reason: 'no-write' },
        { board_id: nowhere, reason: 'missing' },
        { board_id: shared.id, reason: 'no-write' },
        { board_id: invisible.id, reason: 'missing' },
      ],
    },
  ])
  await until(() => editor.closes.length > 0, 'the socket is closed', 1000)
  expect([editor.closes[0]!.code, other_editor.closes]).toEqual([4403, []])
  expect((await read(user, kept))['deleted']).toBe(false)
  const before = await read(user, parent)
  expect(before['deleted']).toBe(true)
  await millisecond()
  expect((await remove(parent.id, child.id)).body).toEqual({ deleted: [parent.id, child.id], skipped: [] })
  expect(await read(user, parent)).toEqual(before)
  expect((await user.api.post(`/boards/${child.id}/restore`)).body.restored).toBe(true)
  expect((await read(user, parent))['deleted']).toBe(true)
})

test('[BB27] a bad list for bulk deletion is 400, a token without delete 403, and nothing is deleted', async () => {
  const user = await service.user()
  const board = await makeBoard(user)
  const cases: [body: object | undefined, says: string][] = [
    [undefined, 'The body must be an object'],
    [{}, 'board_ids is required'],
    [{ board_ids: [] }, 'board_ids must hold at least 1'],
    [{ board_ids: Array.from({ length: 501 }, () => board.id) }, 'board_ids must hold at most 500'],
    [{ board_ids: null }, 'board_ids must be an array'],
    [{ board_ids: [board.id, 7] }, 'board_ids[1] must be a string'],
    [{ board_ids: [board.id, 'x'] }, 'board_ids[1] must be a valid uuid'],
  ]
  for (const [body, says] of cases) {
    const answer = await user.api.delete('/boards', body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(says)])
  }
  const writer = await service.token(user, { scopes: ['read', 'write'] })
  expect((await writer.api.delete('/boards', { board_ids: [board.id] })).body.code).toBe('insufficient_scope')
  expect((await read(user, board))['deleted']).toBe(false)
})

test('[BB28] bulk deletions, moves and restores at the same time leave no lock behind and no fault', async () => {
  const user = await service.user()
  const boards = succeeded(
    await user.api.post('/boards', {
      boards: Array.from({ length: 60 }, (_, n) => ({
        name: 'x',
        identifiers: [{ scope: 's', value: `${n}` }],
      })),
    }),
  ).boards as Shown[]
  const some = (from: number) => boards.slice(from, from + 30).map(({ id }) => id)
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) => {
      const at = (n * 11) % 30
      if (n % 4 === 0) return user.api.delete('/boards', { board_ids: some(at) })
      if (n % 4 === 1)
        return user.api.post('/boards/move', { board_ids: some(at).toReversed(), parent_board_id: null })
      if (n % 4 === 2) return user.api.post(`/boards/${boards[at]!.id}/restore`)
      return user.api.post('/boards', {
        on_conflict: 'identifier',
        boards: some(at).map((_id, k) => ({ name: 'y', identifiers: [{ scope: 's', value: `${at + k}` }] })),
      })
    }),
  )
  expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([])
  const twice = await service.admin`
    select i.scope, i.value, count(*) from boards b cross join lateral jsonb_to_recordset(b.identifiers) as i(scope text, value text)
    where b.deleted_at is null and b.workspace_id = ${user.workspaceId}
    group by 1, 2 having count(*) > 1`
  expect([...twice]).toEqual([])
})
