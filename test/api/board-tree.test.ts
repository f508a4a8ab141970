import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { arrange } from '../../api/boards/tree.ts'
import { longestStepMs } from '../support/cpu-time.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCards, nowhere, succeeded, type Shown } from './board.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
})
afterAll(() => service.stop())

const tree = async (who: TestUser, query: string) => succeeded(await who.api.get(`/boards/tree?${query}`))
/** `name depth parent` of each. */
const shape = async (who: TestUser, query: string) => {
  const { boards } = await tree(who, query)
  const names = new Map<string, string>(boards.map(({ id, name }: any) => [id, name]))
  return boards.map(
    (board: Shown) => `${board['name']} ${board['depth']} ${names.get(board['parent_board_id']) ?? '-'}`,
  )
}

test('[BB29] a tree is that of a board or of a workspace: depths, parents before children, siblings as made, counts of cards', async () => {
  const user = await service.user()
  const a = await makeBoard(user, { name: 'a' })
  const b = await makeBoard(user, { name: 'b' })
  const aa = await makeBoard(user, { name: 'aa', parent_board_id: a.id })
  const bb = await makeBoard(user, { name: 'bb', parent_board_id: b.id })
  const ab = await makeBoard(user, { name: 'ab', parent_board_id: a.id })
  const aaa = await makeBoard(user, { name: 'aaa', parent_board_id: aa.id })
  await makeCards(user, aa.id, [{}, {}, {}])
  const whole = await tree(user, `workspace=${user.workspaceId}`)
  expect(whole).toMatchObject({ root: null, count: 6 })
  expect(whole.boards[2]).toEqual({
    id: aa.id,
    parent_board_id: a.id,
    name: 'aa',
    depth: 1,
    card_count: 3,
    updated_at: aa['updated_at'],
    deleted: false,
  })
  const workspace = `workspace=${user.workspaceId}`
  expect(await shape(user, workspace)).toEqual(['a 0 -', 'b 0 -', 'aa 1 a', 'bb 1 b', 'ab 1 a', 'aaa 2 aa'])
  expect(await shape(user, `${workspace}&depth=1`)).toEqual(['a 0 -', 'b 0 -', 'aa 1 a', 'bb 1 b', 'ab 1 a'])
  const below = await tree(user, `root=${aa.id.toUpperCase()}`)
  expect(below).toMatchObject({ root: aa.id, count: 2 })
  expect(below.boards.map(({ id, depth, parent_board_id }: any) => [id, depth, parent_board_id])).toEqual([
    [aa.id, 0, a.id],
    [aaa.id, 1, aa.id],
  ])
  expect((await tree(user, `root=${bb.id}`)).count).toBe(1)
  expect((await tree(user, `root=${ab.id}&depth=20`)).boards[0].depth).toBe(0)
  const reader = await service.user()
  expect(await tree(reader, `workspace=${reader.workspaceId}`)).toEqual({ root: null, count: 0, boards: [] })
})

test('[BB30] ten levels below the start are shown, or as many as depth says, up to twenty', async () => {
  const user = await service.user()
  let last = await makeBoard(user, { name: '0' })
  const first = last
  for (let n = 1; n <= 22; n++) last = await makeBoard(user, { name: `${n}`, parent_board_id: last.id })
  const deepest = async (query: string) => (await tree(user, query)).boards.at(-1).depth
  for (const start of [`root=${first.id}`, `workspace=${user.workspaceId}`]) {
    expect(await deepest(start)).toBe(10)
    expect(await deepest(`${start}&depth=1`)).toBe(1)
    expect(await deepest(`${start}&depth=20`)).toBe(20)
  }
})

test('[BB31] live boards of a trashed parent are at top level; deleted=1 adds the trash, where it lay', async () => {
  const user = await service.user()
  const make = (name: string, parent?: Shown) =>
    makeBoard(user, { name, ...(parent ? { parent_board_id: parent.id } : {}) })
  const top = await make('top')
  const gone = await make('gone', top)
  const live = await make('live', gone)
  await make('leaf', live)
  const lost = await make('lost', gone)
  await make('found', lost)
  await user.api.delete('/boards', { board_ids: [gone.id, lost.id] })
  const workspace = `workspace=${user.workspaceId}`
  expect(await shape(user, workspace)).toEqual(['top 0 -', 'live 0 -', 'found 0 -', 'leaf 1 live'])
  expect(await shape(user, `${workspace}&deleted=0`)).toEqual(await shape(user, workspace))
  expect(await shape(user, `${workspace}&deleted=1`)).toEqual([
    'top 0 -',
    'live 0 -',
    'found 0 -',
    'gone 1 top',
    'leaf 1 live',
    'lost 2 gone',
  ])
  expect(await shape(user, `root=${top.id}`)).toEqual(['top 0 -'])
  expect(await shape(user, `root=${top.id}&deleted=1`)).toEqual(['top 0 -', 'gone 1 top', 'lost 2 gone'])
  expect(await shape(user, `root=${gone.id}`)).toEqual(['gone 0 -'])
  expect(await shape(user, `root=${gone.id}&deleted=1`)).toEqual(['gone 0 -', 'lost 1 gone'])
  expect((await tree(user, `root=${gone.id}`)).boards[0].deleted).toBe(true)
  const all = (await tree(user, `${workspace}&deleted=1`)).boards
  for (const board of all) {
    const { body } = await user.api.get(`/boards/${board.id}`)
    expect(board.parent_board_id).toBe(body.board.parent_board_id)
  }
  await user.api.delete('/boards', { board_ids: all.map(({ id }: Shown) => id) })
  expect((await tree(user, workspace)).count).toBe(0)
})

test('[BB32] a guest sees in a tree the boards that are shared, at top level where the parent is not', async () => {
  const owner = await service.user()
  const guest = await service.user()
  const top = await makeBoard(owner, { name: 'top' })
  const shared = await makeBoard(owner, { name: 'shared', parent_board_id: top.id })
  const hidden = await makeBoard(owner, { name: 'hidden', parent_board_id: shared.id })
  const below = await makeBoard(owner, { name: 'below', parent_board_id: shared.id })
  const deep = await makeBoard(owner, { name: 'deep', parent_board_id: hidden.id })
  for (const { id } of [shared, below, deep]) await service.share(id, guest, 'viewer')
  expect(await shape(guest, `workspace=${owner.workspaceId}`)).toEqual([
    'shared 0 -',
    'deep 0 -',
    'below 1 shared',
  ])
  expect(await shape(guest, `root=${shared.id}`)).toEqual(['shared 0 -', 'below 1 shared'])
  const unseen = [`root=${top.id}`, `root=${hidden.id}`, `root=${nowhere}`]
  for (const query of unseen) {
    const { status, body } = await guest.api.get(`/boards/tree?${query}`)
    expect([status, body]).toEqual([404, { error: 'No such board.', code: 'not_found' }])
  }
  const stranger = await service.user()
  for (const workspace of [owner.workspaceId, nowhere]) {
    const { status, body } = await stranger.api.get(`/boards/tree?workspace=${workspace}`)
    expect([status, body]).toEqual([404, { error: 'No such workspace.', code: 'not_found' }])
  }
})

test('[BB29] times of a tree are those of its boards, to the millisecond', async () => {
  const user = await service.user()
  const ids = await plant(
    user.workspaceId,
    Array.from({ length: 5 }, () => null),
  )
  const times = ['.000', '.100', '.120', '.123', '.003'].map((ms) => `2030-01-02T03:04:05${ms}Z`)
  await service.admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    for (const [n, id] of ids.entries())
      await tx`update boards set updated_at = ${times[n]!} where id = ${id}`
  })
  const { boards } = await tree(user, `workspace=${user.workspaceId}`)
  expect(boards.map((board: Shown) => board['updated_at'])).toEqual(times)
})

test('[BB33] a tree without exactly one start, or with a bad parameter, is 400', async () => {
  const user = await service.user()
  const board = await makeBoard(user)
  const root = `root=${board.id}`
  const cases: [query: string, says: string][] = [
    ['', 'Exactly one of root and workspace'],
    ['depth=3', 'Exactly one of root and workspace'],
    [`${root}&workspace=${user.workspaceId}`, 'Exactly one of root and workspace'],
    ['root=x', 'root must be a valid uuid'],
    ['root=root', 'root must be a valid uuid'],
    ['workspace=', 'workspace must be a valid uuid'],
    [`${root}&depth=0`, 'depth must be >= 1'],
    [`${root}&depth=21`, 'depth must be <= 20'],
    [`${root}&depth=1.5`, 'depth must be an integer'],
    [`${root}&depth=all`, 'depth must be an integer'],
    [`${root}&deleted=yes`, 'deleted must be one of: 1, 0'],
  ]
  for (const [query, says] of cases) {
    const { status, body } = await user.api.get(`/boards/tree?${query}`)
    expect([query, status, body.error]).toEqual([query, 400, expect.stringContaining(says)])
  }
})

/** Boards made past the API, `parents[n]` being the number of the parent of the n-th. */
async function plant(
  workspaceId: string,
  parents: (number | null)[],
  trashed: boolean[] = [],
): Promise<string[]> {
  const ids = parents.map(() => crypto.randomUUID())
  const rows = parents.map((parent, at) => ({
    at,
    id: ids[at],
    parent: parent === null ? null : ids[parent],
    trashed: trashed[at] === true,
  }))
  // Past the triggers: a check of each parent would take longer than what is tested.
  await service.admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`
      insert into boards (id, workspace_id, name, parent_board_id, created_at, updated_at, deleted_at)
      select id, ${workspaceId}, at, parent, '2026-01-01'::timestamptz + at * interval '1 ms', now(), case when trashed then now() end
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as p(at integer, id uuid, parent uuid, trashed boolean)`
    await tx`
      insert into board_documents (board_id, workspace_id, api_client, changed_at)
      select id, workspace_id, 4294967297, now() from boards where id = any (${ids}::uuid[])`
  })
  return ids
}

test('[BB34] a forest of any shape, with any part of it in the trash, reads as the rules say', async () => {
  const user = await service.user()
  const forests = fc.array(fc.record({ parent: fc.nat(), top: fc.boolean(), trashed: fc.boolean() }), {
    minLength: 1,
    maxLength: 40,
  })
  await fc.assert(
    fc.asyncProperty(
      forests,
      fc.integer({ min: 1, max: 20 }),
      fc.boolean(),
      fc.nat(),
      async (forest, depth, withTrash, start) => {
        const workspaceId = (await service.user()).workspaceId
        await service.member(workspaceId, user, 'viewer')
        // Each below an earlier one.
        const parents = forest.map(({ parent, top }, n) => (top || n === 0 ? null : parent % n))
        const trashed = forest.map((board) => board.trashed)
        const ids = await plant(workspaceId, parents, trashed)
        const shownParent = (n: number) => {
          const parent = parents[n]!
          return parent !== null && (!trashed[parent] || trashed[n]) ? parent : null
        }
        const expected = (from: number | null) => {
          const listed = forest.flatMap((_, n) => (withTrash || !trashed[n] || n === from ? [n] : []))
          const depths = new Map<number, number>()
          for (const n of listed) {
            const parent = shownParent(n)
            if (from === null ? parent === null : n === from) depths.set(n, 0)
            else if (parent !== null && depths.has(parent)) depths.set(n, depths.get(parent)! + 1)
          }
          return [...depths]
            .filter(([, level]) => level <= depth)
            .toSorted(([a, one], [b, two]) => one - two || a - b)
            .map(([n, level]) => ({
              id: ids[n]!,
              depth: level,
              parent_board_id: shownParent(n) === null ? null : ids[shownParent(n)!]!,
              deleted: trashed[n]!,
            }))
        }
        const bare = ({ boards }: { boards: Shown[] }) =>
          boards.map((board) => ({
            id: board.id,
            depth: board['depth'],
            parent_board_id: board['parent_board_id'],
            deleted: board['deleted'],
          }))
        const more = `&depth=${depth}${withTrash ? '&deleted=1' : ''}`
        expect(bare(await tree(user, `workspace=${workspaceId}${more}`))).toEqual(expected(null))
        const from = start % forest.length
        expect(bare(await tree(user, `root=${ids[from]}${more}`))).toEqual(expected(from))
      },
    ),
    { numRuns: 40 },
  )
})

const count = 20_000
/** The comb: a chain of twenty, from each of which hang a thousand. Of the deep chain a tree shows what is within its depth. */
const shapes: [name: string, parents: (number | null)[], shown: number][] = [
  ['a chain', Array.from({ length: count }, (_, n) => (n === 0 ? null : n - 1)), 21],
  ['a star', Array.from({ length: count }, (_, n) => (n === 0 ? null : 0)), count],
  ['tops', Array.from({ length: count }, () => null), count],
  ['a comb', Array.from({ length: count }, (_, n) => (n === 0 ? null : n < 20 ? n - 1 : n % 20)), count],
  [
    'a binary tree',
    Array.from({ length: count }, (_, n) => (n === 0 ? null : Math.floor((n - 1) / 2))),
    count,
  ],
]

test.each(shapes)(
  '[BB35] 20,000 boards in %s come in one answer, whole and soon',
  async (_name, parents, shown) => {
    const user = await service.user()
    const ids = await plant(user.workspaceId, parents)
    const startMs = performance.now()
    const whole = await tree(user, `workspace=${user.workspaceId}&depth=20`)
    expect(performance.now() - startMs).toBeLessThan(5000)
    expect(whole.count).toBe(shown)
    expect(new Set(whole.boards.map(({ id }: Shown) => id)).size).toBe(shown)
    const place = new Map(whole.boards.map(({ id }: Shown, n: number) => [id, n]))
    for (const board of whole.boards) {
      if (board.parent_board_id !== null)
        expect(place.get(board.parent_board_id)! < place.get(board.id)!).toBe(true)
    }
    const [top] = whole.boards
    const below = await tree(user, `root=${top.id}&depth=20`)
    if (parents[1] === null) expect(below.boards).toEqual([top])
    else expect(below.boards).toEqual(whole.boards)
    const middle = await tree(user, `root=${ids[count / 2]}`)
    expect(middle.boards[0]).toMatchObject({ id: ids[count / 2], depth: 0 })
  },
)

test('[BB36] a tree of more than 50,000 boards is 400, and can be read in parts', async () => {
  const user = await service.user()
  const parents = Array.from({ length: 50_002 }, (_, n) => (n < 2 ? null : n % 2 === 0 ? 0 : n - 2))
  const ids = await plant(user.workspaceId, parents)
  const workspace = `workspace=${user.workspaceId}`
  expect((await tree(user, workspace)).count).toBe(2 + 25_000 + 10)
  expect((await tree(user, `root=${ids[0]}`)).count).toBe(25_001)
  await service.admin`update boards set parent_board_id = null where workspace_id = ${user.workspaceId}`
  const { status, body } = await user.api.get(`/boards/tree?${workspace}`)
  expect([status, body.error]).toEqual([400, expect.stringContaining('more than 50000 boards')])
})

test('[BB38] 50,000 boards are arranged in short steps, below each other, beside each other and at random', () => {
  const parentOf = {
    line: (n: number) => n - 1,
    reversed: (n: number) => n + 1,
    star: () => 0,
    random: (n: number) => (n * 7919) % n,
  }
  for (const [shape, of] of Object.entries(parentOf)) {
    const idOf = (n: number) => (n >= 0 && n < 50_000 ? `board ${n}` : null)
    const boards = Array.from({ length: 50_000 }, (_, n) => ({
      ...{ id: idOf(n)!, parent_board_id: n === 0 && shape !== 'reversed' ? null : idOf(of(n)) },
      ...{ name: 'Board', depth: 0, card_count: 0, updated_at: null, deleted: false },
    }))
    expect(
      longestStepMs(() => arrange(structuredClone(boards), 20)),
      shape,
    ).toBeLessThan(50)
  }
})
