import { randomUUID } from 'node:crypto'
import {
  anyone,
  guests,
  members,
  membersOnly,
  others,
  readers,
  table,
  toAll,
  withoutPast,
  writersOfTheBoard,
  writersOfTheWorkspace,
  type Operation,
  type Scene,
} from './roles.ts'

/** What became of the board and its child: done, or the reason why not. */
const outcomes =
  (list: 'deleted' | 'moved') =>
  (body: any, { boardId, childId }: Scene): string[] =>
    [boardId, childId].map((id) =>
      body[list].includes(id) ? 'done' : body.skipped.find((one: any) => one.board_id === id).reason,
    )
const outcomesTo = (done: string) =>
  toAll(
    [
      ['owner', 'editor'],
      [done, done],
    ],
    [['viewer'], ['no-write', 'no-write']],
    [guests, ['no-write', 'missing']],
    [others, ['missing', 'missing']],
  )

export const boards: Record<string, Operation[]> = {
  'GET /boards': [
    { query: ({ workspaceId }) => `?workspace=${workspaceId}&since=2026-01-01T00:00:00Z`, expect: readers },
    {
      query: ({ workspaceId }) => `?workspace=${workspaceId}&limit=500`,
      expect: readers,
      holds: ({ boards }, { boardId, childId }) =>
        [boardId, childId].map((id) => boards.some((board: any) => board.id === id)),
      sees: toAll([members, [true, true]], [guests, [true, false]], [others, [false, false]]),
    },
    {
      query: () => '?deleted=1&limit=500',
      trashed: true,
      expect: anyone,
      holds: ({ boards }, { boardId }) => boards.some((board: any) => board.id === boardId),
      sees: toAll([[...members, ...guests], true], [others, false]),
    },
  ],
  'POST /boards': [
    {
      body: ({ workspaceId }) => ({ name: 'New', workspace_id: workspaceId }),
      expect: table([201, 201, 403, 404, 404]),
    },
    {
      body: ({ boardId }) => ({ name: 'New', parent_board_id: boardId }),
      expect: writersOfTheWorkspace(201),
    },
    {
      body: () => ({ name: 'Own' }),
      expect: table([201, 201, 201, 201, 201], [201, 201]),
      guest: { 'guest editor': 403 }, // it has no workspace of its own
      sessions: { 'editor session of the board': 403 }, // it has no workspace of its own
      past: 403,
    },
    {
      body: ({ workspaceId, boardId }) => ({
        workspace_id: workspaceId,
        boards: [{ name: 'New' }, { name: 'Below', parent_board_id: boardId }],
      }),
      expect: table([201, 201, 403, 404, 404]),
    },
    {
      body: ({ boardId }) => ({ boards: [{ name: 'Own' }, { name: 'Below', parent_board_id: boardId }] }),
      expect: writersOfTheWorkspace(201),
    },
    {
      body: ({ workspaceId, identifier }) => ({
        workspace_id: workspaceId,
        on_conflict: 'identifier',
        boards: [{ name: 'Known', identifiers: [{ scope: 'scene', value: identifier }] }],
      }),
      expect: table([201, 201, 403, 404, 404]),
      holds: ({ boards }, { boardId }) => boards[0].id === boardId,
      sees: toAll([['owner', 'editor'], true]),
    },
    {
      body: ({ workspaceId, identifier }) => ({
        workspace_id: workspaceId,
        name: 'Known',
        identifiers: [{ scope: 'scene', value: identifier }],
      }),
      expect: table([409, 409, 403, 404, 404]),
    },
  ],
  'DELETE /boards': [
    {
      body: ({ boardId, childId }) => ({ board_ids: [boardId, childId] }),
      expect: anyone,
      holds: outcomes('deleted'),
      sees: outcomesTo('done'),
    },
    {
      body: ({ boardId, childId }) => ({ board_ids: [boardId, childId] }),
      trashed: true,
      expect: anyone,
      holds: outcomes('deleted'),
      sees: outcomesTo('done'),
    },
  ],
  'POST /boards/move': [
    {
      body: ({ boardId, childId }) => ({ board_ids: [boardId, childId], parent_board_id: null }),
      expect: anyone,
      holds: outcomes('moved'),
      sees: {
        ...outcomesTo('done'),
        ...toAll([
          ['owner', 'editor'],
          ['same-parent', 'done'],
        ]),
      },
    },
    {
      body: ({ boardId, childId }) => ({ board_ids: [boardId], parent_board_id: childId }),
      expect: table([200, 200, 403, 404, 404]),
      holds: ({ skipped }) => skipped[0].reason,
      sees: toAll([['owner', 'editor'], 'cycle']),
    },
    {
      body: ({ boardId, childId }) => ({ board_ids: [childId], parent_board_id: boardId }),
      expect: writersOfTheWorkspace(),
    },
    {
      body: ({ boardId, childId }) => ({ board_ids: [childId], parent_board_id: boardId }),
      trashed: true,
      expect: table([409, 409, 403, 403, 403]),
    },
  ],
  'GET /boards/tree': [
    {
      query: ({ boardId }) => `?root=${boardId}`,
      expect: readers,
      holds: ({ boards }) => boards.length,
      sees: toAll([members, 2], [guests, 1]),
    },
    {
      query: ({ workspaceId }) => `?workspace=${workspaceId}`,
      expect: readers,
      holds: ({ boards }, { boardId, childId }) =>
        [boardId, childId].map((id) => boards.some((board: any) => board.id === id)),
      sees: toAll([members, [true, true]], [guests, [true, false]]),
    },
    { query: ({ boardId }) => `?root=${boardId}`, trashed: true, expect: readers },
  ],
  'GET /boards/:id': [{ expect: readers }, { trashed: true, expect: readers }],
  'GET /boards/:id/history': [
    { expect: membersOnly, past: 200 },
    { trashed: true, expect: membersOnly, past: 200 },
  ],
  'GET /boards/:id/presence': [{ expect: readers }, { trashed: true, expect: readers }],
  'PUT /boards/:id/presence': [
    { body: () => ({ state: { at: 'a card' } }), expect: readers },
    { body: () => ({}), trashed: true, expect: table([409, 409, 409, 409, 409]) },
  ],
  'DELETE /boards/:id/presence': [{ expect: readers }],
  'GET /boards/:id/diff': [{ query: () => '?from=0', expect: membersOnly, past: 404 }],
  // A guest writes on the board, but does not see its past.
  'POST /boards/:id/restore-to': [
    { sessions: withoutPast, body: () => ({ as_of: '1' }), expect: writersOfTheWorkspace(), past: 404 },
    {
      sessions: withoutPast,
      body: ({ cardIds }) => ({ as_of: '0', card_ids: cardIds }),
      expect: writersOfTheWorkspace(),
      past: 404,
    },
    {
      sessions: withoutPast,
      body: () => ({ as_of: '1' }),
      trashed: true,
      expect: table([409, 409, 403, 403, 403]),
      past: 409,
    },
  ],
  'POST /boards/:id/undo': [
    {
      sessions: withoutPast,
      body: () => ({ actor: 'me', since: '2020-01-01T00:00:00Z' }),
      expect: writersOfTheWorkspace(),
      past: 200,
    },
    {
      sessions: withoutPast,
      body: () => ({ actor: 'me', since: '2020-01-01T00:00:00Z' }),
      trashed: true,
      expect: table([409, 409, 403, 403, 403]),
      past: 409,
    },
  ],
  'GET /boards/:id/versions': [
    {
      version: true,
      expect: membersOnly,
      past: 200,
      holds: ({ versions }) => versions.length,
      sees: { ...toAll([members, 1]), 'guest with history': 0, 'session with history': 0 },
    },
    { trashed: true, expect: membersOnly, past: 200 },
  ],
  'POST /boards/:id/versions': [
    { sessions: withoutPast, body: () => ({ name: 'New' }), expect: writersOfTheWorkspace(201), past: 201 },
    {
      body: () => ({ name: 'New' }),
      trashed: true,
      expect: table([409, 409, 403, 409, 403]),
    },
  ],
  'PATCH /boards/:id/versions/:versionId': [
    {
      sessions: withoutPast,
      version: true,
      body: () => ({ name: 'New' }),
      expect: writersOfTheWorkspace(),
      past: 404,
    },
    {
      sessions: withoutPast,
      version: true,
      body: () => ({ name: 'New' }),
      trashed: true,
      expect: writersOfTheWorkspace(409),
      past: 404,
    },
  ],
  'DELETE /boards/:id/versions/:versionId': [
    { sessions: withoutPast, version: true, expect: writersOfTheWorkspace(), past: 404 },
    { sessions: withoutPast, version: true, trashed: true, expect: writersOfTheWorkspace(409), past: 404 },
  ],
  'PATCH /boards/:id': [
    { body: () => ({ name: 'New', view: 'list', day_label: 'a' }), expect: writersOfTheBoard() },
    { body: () => ({ scheduled_date: '2030-01-01' }), expect: writersOfTheBoard() },
    {
      body: ({ childId }) => ({ parent_board_id: childId }),
      expect: { ...table([409, 409, 403, 404, 403]) }, // a cycle; for the guest the child is not there
    },
    { body: () => ({ name: 'New' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
    {
      // They are the workspace's: a guest could learn from a refusal what is on boards that they don't see.
      body: () => ({ identifiers: [{ scope: 'scene', value: randomUUID() }] }),
      expect: writersOfTheWorkspace(),
    },
    {
      body: ({ identifier }) => ({ identifiers: [{ scope: 'scene', value: identifier }] }),
      expect: writersOfTheBoard(),
    },
  ],
  'DELETE /boards/:id': [
    { expect: writersOfTheWorkspace() },
    { trashed: true, expect: writersOfTheWorkspace() },
  ],
  'POST /boards/:id/restore': [
    { expect: writersOfTheWorkspace() },
    { trashed: true, expect: writersOfTheWorkspace() },
  ],
}
