import { table, type Operation } from './roles.ts'

const user = { id: 'someone', name: 'Someone' }
/** A guest of the board sees it, but may not mint; without the board a caller learns nothing. */
const minters = table([200, 403, 403, 403, 403])

export const sessions: Record<string, Operation[]> = {
  'POST /sessions': [
    { body: ({ boardId }) => ({ board_ids: [boardId], role: 'viewer', user }), expect: minters },
    {
      body: ({ workspaceId }) => ({ workspace_id: workspaceId, role: 'editor', user }),
      expect: table([200, 403, 403, 404, 404]),
    },
  ],
  'DELETE /sessions': [
    {
      body: ({ workspaceId }) => ({ workspace_id: workspaceId, user_id: 'nobody' }),
      expect: table([200, 403, 403, 404, 404]),
    },
    {
      body: ({ childId }) => ({ board_id: childId, user_id: 'nobody' }),
      expect: table([200, 403, 403, 404, 404]),
    },
  ],
}
