import {
  anyone,
  guests,
  members,
  others,
  toAll,
  type Operation,
  type Scene,
  type SessionRole,
} from './roles.ts'

/** They lack the scope of the tool. */
const noViewers: Partial<Record<SessionRole, number>> = {
  'viewer session of the board': 403,
  'viewer session of the workspace': 403,
}

/** What the tool says comes with the error's code; of what was done, the text begins with something else. */
const calls = (name: string, given: (scene: Scene) => object) => (scene: Scene) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given(scene) },
})
const told = ({ result }: any) => (result.isError ? result.content[0].text.split(':', 1)[0] : 'done')
export const agents: Record<string, Operation[]> = {
  'POST /mcp': [
    {
      body: calls('read_cards', ({ boardId }) => ({ board_id: boardId })),
      expect: anyone,
      holds: told,
      sees: toAll([[...members, ...guests], 'done'], [others, 'not_found']),
    },
    {
      body: calls('create_cards', ({ boardId }) => ({ board_id: boardId, cards: [{ kind: 'note' }] })),
      expect: anyone,
      guest: { 'guest viewer': 403 }, // its token lacks the scope of the tool
      sessions: noViewers,
      holds: told,
      sees: toAll(
        [['owner', 'editor', 'shared editor'], 'done'],
        [['viewer', 'shared viewer'], 'forbidden'],
        [others, 'not_found'],
      ),
    },
    {
      body: calls('delete_board', ({ boardId }) => ({ board_id: boardId })),
      expect: anyone,
      guest: { 'guest editor': 403, 'guest viewer': 403 },
      sessions: noViewers,
      holds: told,
      sees: toAll([['owner', 'editor'], 'done'], [['viewer', ...guests], 'forbidden'], [others, 'not_found']),
    },
  ],
}
