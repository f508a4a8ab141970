import { anyone, readers, guests, members, others, toAll, type Operation } from './roles.ts'

export const search: Record<string, Operation[]> = {
  'GET /search': [
    {
      query: ({ workspaceId }) => `?q=board&kind=board&workspace=${workspaceId}&limit=500`,
      expect: readers,
      holds: ({ boards }, { boardId, childId }) =>
        [boardId, childId].map((id) => boards.items.some((board: any) => board.id === id)),
      sees: toAll([members, [true, true]], [guests, [true, false]], [others, [false, false]]),
    },
    {
      query: ({ workspaceId }) => `?q=scene&kind=card&workspace=${workspaceId}&limit=500`,
      expect: readers,
      holds: ({ cards }, { cardIds }) => cardIds.map((id) => cards.items.some((card: any) => card.id === id)),
      sees: toAll(
        [
          [...members, ...guests],
          [true, true],
        ],
        [others, [false, false]],
      ),
    },
    {
      query: () => '?q=scene&limit=500',
      trashed: true,
      expect: anyone,
      holds: ({ boards, cards }, { boardId }) => [
        boards.items.some((board: any) => board.id === boardId),
        cards.items.some((card: any) => card.board_id === boardId),
      ],
      sees: toAll([
        [...members, ...guests, ...others],
        [false, false],
      ]),
    },
  ],
  'GET /resolve': [
    {
      query: ({ identifier }) => `?scope=scene&value=${identifier}`,
      expect: anyone,
      holds: ({ matches }) => matches.map((match: any) => match.type),
      sees: toAll(
        [
          [...members, ...guests],
          ['board', 'card'],
        ],
        [others, []],
      ),
    },
    {
      query: ({ identifier }) => `?scope=scene&value=${identifier}`,
      trashed: true,
      expect: anyone,
      holds: ({ matches }) => matches,
      sees: toAll([[...members, ...guests, ...others], []]),
    },
  ],
}
