import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../api/mcp/tools.ts'
import { openEgress } from '../../platform/egress.ts'
import { listCards, makeBoard, makeCards, nowhere, type Shown } from '../api/board.ts'
import { openAgent, type Agent } from '../support/mcp.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { openSite, serves, type Site } from '../support/site.ts'

let service: TestService
let site: Site
let user: TestUser
let stranger: TestUser

beforeAll(async () => {
  site = await openSite()
  service = await startService({ workers: false, egress: openEgress({ allow: ['127.0.0.1'] }) })
  user = await service.user()
  stranger = await service.user()
})
afterAll(async () => {
  await service.stop()
  await site.close()
})

interface Scene {
  agent: Agent
  board: Shown
  other: Shown
  cards: Shown[]
  groupId: string
  identifier: { scope: string; value: string }
}

async function makeScene(): Promise<Scene> {
  const identifier = { scope: 'scene', value: randomUUID() }
  const [board, other] = await Promise.all([makeBoard(user, { name: 'Wall' }), makeBoard(user)])
  const cards = await makeCards(user, board.id, [
    { title: 'First', body: 'one', identifiers: [identifier] },
    { title: 'Second', props: { a: 1 } },
  ])
  const { body } = await user.api.post(`/boards/${board.id}/groups`, { name: 'Group' })
  const agent = await openAgent(service.url, user.token)
  return { agent, board, other, cards, groupId: body.group.id, identifier }
}

const titles = async (boardId: string) => (await listCards(user, boardId)).map(({ title }) => title)
const ids = (list: { id: string }[]) => list.map(({ id }) => id)

/** What each tool does, seen by its answer and by REST. */
const successes: Record<string, (scene: Scene) => Promise<void>> = {
  async list_workspaces({ agent }) {
    const { workspaces, has_more } = await agent.does('list_workspaces')
    expect(ids(workspaces)).toEqual([user.workspaceId])
    expect(has_more).toBe(false)
  },
  async search({ agent, board, cards }) {
    const name = `Needle ${randomUUID()}`
    await user.api.patch(`/boards/${board.id}`, { name })
    await user.api.patch(`/boards/${board.id}/cards/${cards[0]!.id}`, { body: `x ${name} y` })
    const found = await agent.does('search', { query: name })
    expect(ids(found.boards.items)).toEqual([board.id])
    expect(found.cards.items).toMatchObject([{ id: cards[0]!.id, excerpt: `x ${name} y` }])
    expect((await agent.does('search', { query: name, kind: 'card' })).boards.items).toEqual([])
  },
  async resolve({ agent, board, cards, identifier }) {
    const { matches } = await agent.does('resolve', identifier)
    expect(matches).toMatchObject([{ type: 'card', id: cards[0]!.id, board_id: board.id }])
  },
  async list_boards({ agent, board, other }) {
    await user.api.patch(`/boards/${other.id}`, { parent_board_id: board.id })
    const { boards } = await agent.does('list_boards', { parent_board_id: board.id })
    expect(ids(boards)).toEqual([other.id])
    await user.api.delete(`/boards/${other.id}`)
    expect(ids((await agent.does('list_boards', { trash: true, limit: 100 })).boards)).toContain(other.id)
  },
  async read_board({ agent, board }) {
    expect(await agent.does('read_board', { board_id: board.id })).toMatchObject({
      board: { id: board.id, name: 'Wall', workspace_id: user.workspaceId },
      capacity: null,
    })
  },
  async read_board_tree({ agent, board, other }) {
    await user.api.patch(`/boards/${other.id}`, { parent_board_id: board.id })
    const { boards, total } = await agent.does('read_board_tree', { board_id: board.id })
    expect(boards).toMatchObject([
      { id: board.id, depth: 0, card_count: 2 },
      { id: other.id, depth: 1, parent_board_id: board.id },
    ])
    expect(total).toBe(2)
  },
  async read_cards({ agent, board, cards }) {
    const page = await agent.does('read_cards', { board_id: board.id, include: ['props', 'identifiers'] })
    expect(ids(page.cards)).toEqual(ids(cards))
    expect(page).toMatchObject({ total: 2, cards: [{ title: 'First', body: 'one' }, { props: { a: 1 } }] })
  },
  async read_card({ agent, board, cards, identifier }) {
    const { card } = await agent.does('read_card', { board_id: board.id, card_id: cards[0]!.id })
    expect(card).toMatchObject({ title: 'First', body: 'one', identifiers: [identifier], x: 0, y: 0 })
  },
  async list_groups({ agent, board, groupId }) {
    const { groups } = await agent.does('list_groups', { board_id: board.id })
    expect(groups).toMatchObject([{ id: groupId, name: 'Group', card_count: 0 }])
  },
  async create_board({ agent, board }) {
    const made = await agent.does('create_board', { name: 'Made', parent_board_id: board.id })
    const { body } = await user.api.get(`/boards/${made.board.id}`)
    expect(body.board).toMatchObject({ name: 'Made', parent_board_id: board.id })
  },
  async update_board({ agent, board }) {
    await agent.does('update_board', { board_id: board.id, name: 'Changed', scheduled_date: '2030-01-02' })
    const { body } = await user.api.get(`/boards/${board.id}`)
    expect(body.board).toMatchObject({ name: 'Changed', scheduled_date: '2030-01-02', view: 'canvas' })
  },
  async move_boards({ agent, board, other }) {
    const asked = { board_ids: [other.id, nowhere], parent_board_id: board.id }
    expect(await agent.does('move_boards', asked)).toMatchObject({
      moved: [other.id],
      skipped: [{ board_id: nowhere, reason: 'missing' }],
    })
    expect((await user.api.get(`/boards/${other.id}`)).body.board.parent_board_id).toBe(board.id)
  },
  async restore_board({ agent, board }) {
    await user.api.delete(`/boards/${board.id}`)
    expect(await agent.does('restore_board', { board_id: board.id })).toMatchObject({ restored: true })
    expect(await agent.does('restore_board', { board_id: board.id })).toMatchObject({ restored: false })
    expect(await titles(board.id)).toEqual(['First', 'Second'])
  },
  async create_cards({ agent, board, identifier }) {
    const made = await agent.does('create_cards', {
      board_id: board.id,
      cards: [
        {
          kind: 'link',
          url: 'https://example.test/',
          title: 'Link',
          identifiers: [{ scope: 's', value: 'v' }],
        },
        { kind: 'note', title: 'Changed', identifiers: [identifier] },
      ],
      update_existing: true,
    })
    expect(made).toMatchObject({ created: 1, updated: 1, live: true })
    expect(await titles(board.id)).toEqual(['Changed', 'Second', 'Link'])
  },
  async update_cards({ agent, board, cards, groupId }) {
    const changes = [
      { id: cards[0]!.id, title: 'New', group_id: groupId },
      { id: 'nobody', title: 'x' },
    ]
    const done = await agent.does('update_cards', { board_id: board.id, cards: changes })
    expect(done).toMatchObject({ updated: 1, not_found: ['nobody'] })
    expect((await listCards(user, board.id))[0]).toMatchObject({
      title: 'New',
      body: 'one',
      group_id: groupId,
    })
  },
  async move_cards({ agent, board, other, cards }) {
    const asked = { board_id: board.id, to_board_id: other.id, card_ids: [cards[0]!.id, 'nobody'] }
    expect(await agent.does('move_cards', asked)).toMatchObject({ moved: 1, not_found: ['nobody'] })
    expect([await titles(board.id), await titles(other.id)]).toEqual([['Second'], ['First']])
  },
  async arrange_cards({ agent, board, cards }) {
    const asked = { board_id: board.id, layout: 'column' }
    const dry = await agent.does('arrange_cards', { ...asked, dry_run: true })
    expect(await listCards(user, board.id)).toMatchObject([{ x: 0 }, { x: 300 }])
    const done = await agent.does('arrange_cards', asked)
    expect(done.cards).toEqual(dry.cards)
    const shown = await listCards(user, board.id)
    expect(shown.map(({ id, x, y, w, h }) => ({ id, x, y, w, h }))).toEqual(done.cards)
    expect(shown.map(({ x }) => x)).toEqual([shown[0]!['x'], shown[0]!['x']])
    expect(ids(shown)).toEqual(ids(cards))
  },
  async restore_cards({ agent, board, cards, identifier }) {
    const gone = await agent.does('delete_cards', { board_id: board.id, card_ids: [cards[0]!.id] })
    await agent.does('restore_cards', { board_id: board.id, cards: gone.cards })
    const shown = await listCards(user, board.id, '&include=identifiers')
    const back = shown.find(({ title }) => title === 'First')!
    expect(back).toMatchObject({ body: 'one', x: 0, y: 0, w: 280, identifiers: [identifier] })
  },
  async create_group({ agent, board }) {
    const { group } = await agent.does('create_group', { board_id: board.id, name: 'Made', shape: 'hug' })
    const { body } = await user.api.get(`/boards/${board.id}/groups`)
    expect(body.groups).toContainEqual(group)
    expect(group).toMatchObject({ name: 'Made', shape: 'hug' })
  },
  async update_group({ agent, board, groupId }) {
    await agent.does('update_group', { board_id: board.id, group_id: groupId, name: 'New' })
    expect((await user.api.get(`/boards/${board.id}/groups`)).body.groups).toMatchObject([{ name: 'New' }])
  },
  async ungroup({ agent, board, cards, groupId }) {
    await user.api.patch(`/boards/${board.id}/cards/${cards[0]!.id}`, { group_id: groupId })
    expect(await agent.does('ungroup', { board_id: board.id, group_id: groupId })).toMatchObject({
      ungrouped: 1,
    })
    expect(await titles(board.id)).toEqual(['First', 'Second'])
    expect((await user.api.get(`/boards/${board.id}/groups`)).body.groups).toEqual([])
  },
  async import_urls({ agent, board }) {
    site.pages.set('/page', serves('<title>Far away</title>', 'text/html'))
    const items = [{ url: `${site.url}/page` }, { url: `${site.url}/gone` }]
    const done = await agent.does('import_urls', { board_id: board.id, items })
    expect(done).toMatchObject({ created: 1, failed: 1, results: [{}, { code: 'upstream_rejected' }] })
    expect(await titles(board.id)).toContain('Far away')
  },
  async delete_board({ agent, board }) {
    await agent.does('delete_board', { board_id: board.id })
    expect((await user.api.get(`/boards/${board.id}`)).body.board.deleted).toBe(true)
  },
  async delete_cards({ agent, board, cards }) {
    const asked = { board_id: board.id, card_ids: [cards[0]!.id, 'nobody'] }
    const done = await agent.does('delete_cards', asked)
    expect(done).toMatchObject({ deleted: 1, not_found: ['nobody'] })
    expect(done.cards).toEqual([
      { id: cards[0]!.id, kind: 'note', title: 'First', x: 0, y: 0, restore_token: expect.any(String) },
    ])
    expect(await titles(board.id)).toEqual(['Second'])
  },
}

describe('[MC2] each tool does what its operation does, and answers by its output schema', () => {
  test('[MC2] every tool is here', () => {
    expect(Object.keys(successes).sort()).toEqual(tools.map(({ name }) => name).sort())
  })
  test.each(Object.entries(successes))('[MC2] %s', async (_name, succeeds) => {
    await succeeds(await makeScene())
  })
})

/** Arguments that are right in form, on a board. */
const onBoard: Record<string, (boardId: string, scene: Scene) => Record<string, unknown>> = {
  read_board: (board_id) => ({ board_id }),
  read_board_tree: (board_id) => ({ board_id }),
  read_cards: (board_id) => ({ board_id }),
  read_card: (board_id, { cards }) => ({ board_id, card_id: cards[0]!.id }),
  list_groups: (board_id) => ({ board_id }),
  create_board: (board_id) => ({ name: 'x', parent_board_id: board_id }),
  update_board: (board_id) => ({ board_id, name: 'x' }),
  restore_board: (board_id) => ({ board_id }),
  create_cards: (board_id) => ({ board_id, cards: [{ kind: 'note' }] }),
  update_cards: (board_id, { cards }) => ({ board_id, cards: [{ id: cards[0]!.id, title: 'x' }] }),
  move_cards: (board_id, { cards, other }) => ({
    board_id,
    to_board_id: other.id,
    card_ids: [cards[0]!.id],
  }),
  arrange_cards: (board_id) => ({ board_id }),
  restore_cards: (board_id) => ({
    board_id,
    cards: [{ id: 'x', kind: 'note', x: 0, y: 0, restore_token: nowhere }],
  }),
  create_group: (board_id) => ({ board_id, name: 'x' }),
  update_group: (board_id, { groupId }) => ({ board_id, group_id: groupId, name: 'x' }),
  ungroup: (board_id, { groupId }) => ({ board_id, group_id: groupId }),
  import_urls: (board_id) => ({ board_id, items: [{ url: 'https://example.test/' }] }),
  delete_board: (board_id) => ({ board_id }),
  delete_cards: (board_id, { cards }) => ({ board_id, card_ids: [cards[0]!.id] }),
}

test('[MC3] to a stranger a board is as one that there is not, by every tool, and stays as it is', async () => {
  const scene = await makeScene()
  const other = await openAgent(service.url, stranger.token)
  const before = await user.api.get(`/boards/${scene.board.id}/export`)
  for (const [tool, args] of Object.entries(onBoard)) {
    const [theirs, none] = [
      await other.fails(tool, args(scene.board.id, scene)),
      await other.fails(tool, args(nowhere, scene)),
    ]
    expect([tool, theirs]).toEqual([tool, none])
    // A restore token of somebody else's is refused before the board is looked for.
    expect([tool, theirs]).toEqual([
      tool,
      expect.stringMatching(tool === 'restore_cards' ? /^bad_request: / : /^not_found: /),
    ])
  }
  const after = await user.api.get(`/boards/${scene.board.id}/export`)
  expect([after.body.board, after.body.cards]).toEqual([before.body.board, before.body.cards])
  expect(Object.keys(onBoard).length + 5).toBe(tools.length)
  const found = await other.does('search', { query: 'First' })
  expect([found.boards.items, found.cards.items]).toEqual([[], []])
  expect((await other.does('list_boards')).boards).toEqual([])
  expect((await other.does('resolve', scene.identifier)).matches).toEqual([])
  expect(
    await other.does('move_boards', { board_ids: [scene.board.id], parent_board_id: null }),
  ).toMatchObject({
    moved: [],
    skipped: [{ reason: 'missing' }],
  })
})

test.each([
  ['read_cards', {}, 'board_id is required'],
  ['read_cards', { board_id: 'x' }, 'board_id must be a valid uuid'],
  ['read_cards', { board_id: nowhere, limit: 101 }, 'limit must be'],
  [
    'read_cards',
    { board_id: nowhere, offsett: 3 },
    'offsett is no argument of read_cards, which takes board_id,',
  ],
  ['read_cards', { board_id: nowhere, include: ['raw'] }, 'include[0] must be one of: props, identifiers'],
  ['read_board_tree', {}, 'Exactly one of board_id and workspace_id'],
  ['create_cards', { board_id: nowhere, cards: [] }, 'cards must hold at least 1'],
  [
    'create_cards',
    { board_id: nowhere, cards: [{ kind: 'grid' }] },
    'cards[0].kind must be one of: note, image',
  ],
  ['create_cards', { board_id: nowhere, cards: [{ kind: 'note', x: '1' }] }, 'cards[0].x must be a number'],
  ['create_cards', { board_id: nowhere, cards: Array(101).fill({ kind: 'note' }) }, 'at most 100 entries'],
  ['search', { query: 'x' }, 'query must be at least 2 characters'],
])('[MC4] a wrong argument (%s %j) is told to the model by its name', async (tool, args, message) => {
  const agent = await openAgent(service.url, user.token)
  const text = await agent.fails(tool, args)
  expect(text).toMatch(/^bad_request: /)
  expect(text).toContain(message)
  expect(text).toMatch(/Correct the arguments and call again\.$/)
})

test('[MC4] what a board refuses is told with what to do about it, and nothing is changed', async () => {
  const { agent, board, cards, groupId } = await makeScene()
  const viewer = await service.user()
  await service.share(board.id, viewer, 'viewer')
  const guest = await openAgent(service.url, viewer.token)
  expect(await guest.fails('update_board', { board_id: board.id, name: 'x' })).toMatch(
    /^forbidden: .* Ask the person to give it access/,
  )
  expect(await agent.fails('read_card', { board_id: board.id, card_id: 'nobody' })).toMatch(
    /^not_found: No such card on this board\. .*read_cards\.$/,
  )
  expect(
    await agent.fails('update_cards', {
      board_id: board.id,
      cards: [
        { id: cards[0]!.id, title: 'changed' },
        { id: cards[1]!.id, group_id: 'nowhere' },
      ],
    }),
  ).toMatch(/^bad_request: group_id/)
  await user.api.delete(`/boards/${board.id}`)
  expect(await agent.fails('ungroup', { board_id: board.id, group_id: groupId })).toMatch(
    /^conflict: .* Read the present state, then decide\.$/,
  )
  expect(await titles(board.id)).toEqual(['First', 'Second'])
  const free = await service.user({ tier: 'free' })
  const full = await makeBoard(free)
  await makeCards(
    free,
    full.id,
    Array.from({ length: 100 }, () => ({})),
  )
  const poor = await openAgent(service.url, free.token)
  expect(await poor.fails('create_cards', { board_id: full.id, cards: [{ kind: 'note' }] })).toMatch(
    /^limit_reached: .* Tell the person/,
  )
})
