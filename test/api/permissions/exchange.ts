import { guests, members, readers, table, toAll, writersOfTheBoard, type Operation } from './roles.ts'

export const exchange: Record<string, Operation[]> = {
  'GET /boards/:id/export': [
    {
      expect: readers,
      holds: ({ board, groups, cards }, { boardId, groupId, cardIds }) => [
        board.id === boardId,
        groups.map(({ id }: any) => id === groupId),
        cards.map(({ id }: any) => cardIds.includes(id)),
      ],
      sees: toAll([
        [...members, ...guests],
        [true, [true], [true, true]],
      ]),
    },
    {
      // Guests see no board below theirs.
      query: () => '?format=omc',
      expect: readers,
      holds: ([board]) => board.includes.Collection.length,
      sees: toAll([members, 1], [guests, 0]),
    },
    { trashed: true, expect: readers },
  ],
  'POST /boards/:id/import': [
    { body: () => ({ items: [{ url: 'https://127.0.0.1/' }] }), expect: writersOfTheBoard() },
    { body: () => ({ items: [{ url: 'https://127.0.0.1/' }], dry_run: true }), expect: writersOfTheBoard() },
    {
      body: () => ({ items: [{ url: 'https://127.0.0.1/' }] }),
      trashed: true,
      expect: table([409, 409, 403, 409, 403]),
    },
  ],
}
