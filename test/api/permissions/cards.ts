import {
  guests,
  members,
  membersOnly,
  readers,
  table,
  toAll,
  writersOfTheBoard,
  type Operation,
} from './roles.ts'

export const cards: Record<string, Operation[]> = {
  'GET /boards/:id/cards': [
    { expect: readers, holds: ({ total }) => total, sees: toAll([[...members, ...guests], 2]) },
    {
      query: () => '?source=index',
      expect: readers,
      holds: ({ cards }) => cards.length,
      sees: toAll([[...members, ...guests], 2]),
    },
    { query: () => '?source=index&since=2026-01-01T00:00:00Z&deleted=1', expect: readers },
    { trashed: true, expect: readers },
    { query: () => '?as_of=0', expect: membersOnly, past: 404 },
  ],
  'DELETE /boards/:id/cards/:cardId/history': [
    { expect: table([200, 403, 403, 403, 403]) },
    { trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'GET /boards/:id/cards/:cardId/history': [
    { expect: membersOnly, past: 200 },
    { trashed: true, expect: membersOnly, past: 200 },
  ],
  'POST /boards/:id/cards': [
    { body: () => ({ kind: 'note', x: 0, y: 0 }), expect: writersOfTheBoard(201) },
    { body: () => ({ kind: 'note' }), expect: writersOfTheBoard(201) },
    { body: () => ({ kind: 'note', x: 0, y: 0 }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
    { body: () => ({ kind: 'note' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
    {
      body: () => ({ kind: 'note', on_conflict: 'identifier', identifiers: [{ scope: 's', value: 'v' }] }),
      expect: writersOfTheBoard(201),
    },
    {
      body: () => ({ kind: 'note', on_conflict: 'identifier', identifiers: [{ scope: 's', value: 'v' }] }),
      trashed: true,
      expect: table([409, 409, 403, 409, 403]),
    },
  ],
  'POST /boards/:id/cards/move': [
    // Guests have the one board, and the child is not there for them.
    {
      body: ({ cardIds, childId }) => ({ to_board_id: childId, card_ids: cardIds }),
      expect: table([200, 200, 403, 404, 403]),
      holds: ({ moved }) => moved,
      sees: toAll([['owner', 'editor'], 2]),
    },
    {
      from: 'child',
      body: ({ boardId }) => ({ to_board_id: boardId, card_ids: ['missing'] }),
      expect: table([200, 200, 403, 404, 404]),
    },
    {
      body: ({ cardIds, childId }) => ({ to_board_id: childId, card_ids: cardIds }),
      trashed: true,
      expect: table([409, 409, 403, 409, 403]),
    },
    {
      from: 'child',
      body: ({ boardId }) => ({ to_board_id: boardId, card_ids: ['missing'] }),
      trashed: true,
      expect: table([409, 409, 403, 404, 404]),
    },
  ],
  'PATCH /boards/:id/cards': [
    { body: ({ cardIds }) => ({ cards: [{ id: cardIds[0], title: 'New' }] }), expect: writersOfTheBoard() },
  ],
  'DELETE /boards/:id/cards': [
    { body: ({ cardIds }) => ({ card_ids: cardIds }), expect: writersOfTheBoard() },
  ],
  'GET /boards/:id/cards/:cardId': [
    {
      expect: readers,
      holds: ({ card }) => card.title,
      sees: toAll([[...members, ...guests], 'scene']),
    },
    { trashed: true, expect: readers },
  ],
  'PATCH /boards/:id/cards/:cardId': [
    { body: () => ({ title: 'New' }), expect: writersOfTheBoard() },
    { body: () => ({ title: 'New' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'DELETE /boards/:id/cards/:cardId': [{ expect: writersOfTheBoard() }],
  'POST /boards/:id/arrange': [
    { body: () => ({ layout: 'column' }), expect: writersOfTheBoard() },
    { body: () => ({ dry_run: true }), expect: writersOfTheBoard() },
    { body: () => ({ layout: 'column' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'GET /boards/:id/groups': [
    {
      expect: readers,
      holds: ({ groups }, { groupId }) =>
        groups.map(({ id, card_count }: any) => [id === groupId, card_count]),
      sees: toAll([[...members, ...guests], [[true, 1]]]),
    },
    { trashed: true, expect: readers },
  ],
  'POST /boards/:id/groups': [
    { body: () => ({ name: 'New' }), expect: writersOfTheBoard() },
    { body: () => ({ name: 'New' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'PATCH /boards/:id/groups/:groupId': [
    { body: () => ({ name: 'New' }), expect: writersOfTheBoard() },
    { body: () => ({ name: 'New' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'DELETE /boards/:id/groups/:groupId': [
    { expect: writersOfTheBoard() },
    { trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
}
