import { ownerCreates, ownerOfTheBoard, ownerOfTheWorkspace, roles, table, type Operation } from './roles.ts'

export const people: Record<string, Operation[]> = {
  'GET /workspaces/:id/members': [
    {
      people: 'workspace',
      query: () => '?limit=500',
      expect: ownerOfTheWorkspace,
      holds: ({ members }, { memberId }) => members.some((one: any) => one.user_id === memberId),
      sees: { owner: true },
    },
  ],
  'PATCH /workspaces/:id/members/:userId': [
    { people: 'workspace', body: () => ({ role: 'editor' }), expect: ownerOfTheWorkspace },
  ],
  'DELETE /workspaces/:id/members/:userId': [{ people: 'workspace', expect: ownerOfTheWorkspace }],
  'GET /workspaces/:id/invitations': [
    {
      people: 'workspace',
      query: () => '?limit=500',
      expect: ownerOfTheWorkspace,
      holds: ({ invitations }, { invitationId }) => invitations.some(({ id }: any) => id === invitationId),
      sees: { owner: true },
    },
  ],
  'POST /workspaces/:id/invitations': [
    {
      people: 'workspace',
      body: () => ({ email: 'new@example.test', role: 'editor' }),
      expect: ownerCreates,
    },
    {
      people: 'workspace',
      body: ({ boardId }) => ({ role: 'viewer', board_id: boardId }),
      expect: ownerCreates,
    },
  ],
  'DELETE /workspaces/:id/invitations/:invitationId': [{ people: 'workspace', expect: ownerOfTheWorkspace }],
  // Nobody has the code of an invitation by a role.
  'POST /invitations/accept': [
    {
      people: 'workspace',
      body: () => ({ code: 'none' }),
      expect: table([404, 404, 404, 404, 404]),
      guest: { 'guest editor': 403, 'guest viewer': 403 },
    },
  ],
  'GET /boards/:id/shares': [
    {
      people: 'board',
      expect: ownerOfTheBoard(),
      holds: ({ shares }, { memberId }) => shares.some((one: any) => one.user_id === memberId),
      sees: { owner: true },
    },
  ],
  'POST /boards/:id/shares': [
    {
      people: 'board',
      body: ({ memberId }) => ({ user_id: memberId, role: 'editor' }),
      expect: ownerOfTheBoard(201),
    },
    {
      people: 'board',
      trashed: true,
      body: ({ memberId }) => ({ user_id: memberId, role: 'editor' }),
      expect: ownerOfTheBoard(409),
    },
  ],
  'PATCH /boards/:id/shares/:userId': [
    { people: 'board', body: () => ({ role: 'editor' }), expect: ownerOfTheBoard() },
    { people: 'board', trashed: true, body: () => ({ role: 'editor' }), expect: ownerOfTheBoard(409) },
  ],
  'GET /boards/:id/links': [
    {
      people: 'board',
      expect: ownerOfTheBoard(),
      holds: ({ links }, { linkId }) => links.some(({ id }: any) => id === linkId),
      sees: { owner: true },
    },
  ],
  'POST /boards/:id/links': [
    { people: 'board', body: () => ({ role: 'viewer' }), expect: ownerOfTheBoard(201) },
    { people: 'board', trashed: true, body: () => ({ role: 'viewer' }), expect: ownerOfTheBoard(409) },
  ],
  'DELETE /boards/:id/links/:linkId': [{ people: 'board', expect: ownerOfTheBoard() }],
  // Without a token, or with any, whatever it may do.
  'POST /links/open': [
    {
      people: 'board',
      body: ({ linkToken }) => ({ token: linkToken, name: 'Guest' }),
      expect: Object.fromEntries(roles.map((role) => [role, 201])) as Operation['expect'],
    },
  ],
  'DELETE /boards/:id/shares/:userId': [{ people: 'board', expect: ownerOfTheBoard() }],
}
