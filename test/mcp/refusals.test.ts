import { afterAll, beforeAll, expect, test } from 'vitest'
import { tools } from '../../api/mcp/tools.ts'
import { makeBoard, makeCards, nowhere } from '../api/board.ts'
import { openAgent } from '../support/mcp.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeScene, titlesOf, type Scene } from './scene.ts'

let service: TestService
let user: TestUser
let stranger: TestUser

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
  stranger = await service.user()
})
afterAll(() => service.stop())

/** Arguments that are right in form, on a board. */
const onBoard: Record<string, (boardId: string, scene: Scene) => Record<string, unknown>> = {
  read_board: (board_id) => ({ board_id }),
  read_board_tree: (board_id) => ({ board_id }),
  read_cards: (board_id) => ({ board_id }),
  read_card: (board_id, { cards }) => ({ board_id, card_id: cards[0]!.id }),
  list_groups: (board_id) => ({ board_id }),
  board_history: (board_id) => ({ board_id }),
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
  undo_my_changes: (board_id) => ({ board_id, since: '2020-01-01T00:00:00Z' }),
  create_group: (board_id) => ({ board_id, name: 'x' }),
  update_group: (board_id, { groupId }) => ({ board_id, group_id: groupId, name: 'x' }),
  ungroup: (board_id, { groupId }) => ({ board_id, group_id: groupId }),
  import_urls: (board_id) => ({ board_id, items: [{ url: 'https://example.test/' }] }),
  upload_from_url: (board_id) => ({ board_id, url: 'https://example.test/' }),
  delete_board: (board_id) => ({ board_id }),
  delete_cards: (board_id, { cards }) => ({ board_id, card_ids: [cards[0]!.id] }),
}

test(
  '[MC3] to a stranger a board is as one that there is not, by every tool, and stays as it is',
  { timeout: 120_000 },
  async () => {
    const scene = await makeScene(service.url, user)
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
  },
)

test.each([
  ['read_cards', {}, 'board_id is required'],
  ['read_cards', { board_id: 'x' }, 'board_id must be a valid uuid'],
  ['read_cards', { board_id: nowhere, limit: 101 }, 'limit must be'],
  [
    'read_cards',
    { board_id: nowhere, offsett: 3 },
    'read_cards has no argument offsett. Its arguments are board_id,',
  ],
  ['read_cards', { board_id: nowhere, include: ['raw'] }, 'include[0] must be one of: props, identifiers'],
  ['read_board_tree', {}, 'Exactly one of board_id and workspace_id'],
  ['create_cards', { board_id: nowhere, cards: [] }, 'cards must hold at least 1'],
  [
    'create_cards',
    { board_id: nowhere, cards: [{ kind: 'grid' }] },
    'cards[0].kind must be one of: note, image',
  ],
  [
    'create_cards',
    { board_id: nowhere, cards: [{ kind: 'note' }, { kind: 'note', titel: 'x' }] },
    'create_cards has no argument cards[1].titel. Did you mean cards[1].title?',
  ],
  ['create_cards', { board_id: nowhere, cards: [{ kind: 'note', x: '1' }] }, 'cards[0].x must be a number'],
  [
    'create_cards',
    { board_id: nowhere, cards: Array.from({ length: 101 }, () => ({ kind: 'note' })) },
    'at most 100 entries',
  ],
  ['search', { query: 'x' }, 'query must be at least 2 characters'],
])('[MC4] a wrong argument (%s %j) is told to the model by its name', async (tool, args, message) => {
  const agent = await openAgent(service.url, user.token)
  const text = await agent.fails(tool, args)
  expect(text).toMatch(/^bad_request: /)
  expect(text).toContain(message)
  expect(text).toMatch(/Correct the arguments and call again\.$/)
})

test(
  '[MC4] what a board refuses is told with what to do about it, and nothing is changed',
  { timeout: 120_000 },
  async () => {
    const { agent, board, cards, groupId } = await makeScene(service.url, user)
    const viewer = await service.user()
    await service.share(board.id, viewer, 'viewer')
    const guest = await openAgent(service.url, viewer.token)
    expect(await guest.fails('update_board', { board_id: board.id, name: 'x' })).toMatch(
      /^forbidden: .* Ask the user to grant it access/,
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
      /^conflict: .* Read the current state before you try again\.$/,
    )
    expect(await titlesOf(user, board.id)).toEqual(['First', 'Second'])
    const free = await service.user({ tier: 'free' })
    const full = await makeBoard(free)
    await makeCards(
      free,
      full.id,
      Array.from({ length: 100 }, () => ({})),
    )
    const poor = await openAgent(service.url, free.token)
    expect(await poor.fails('create_cards', { board_id: full.id, cards: [{ kind: 'note' }] })).toMatch(
      /^limit_reached: .* Tell the user/,
    )
  },
)
