import { randomUUID } from 'node:crypto'
import {
  anyone,
  guests,
  members,
  others,
  ownerOfTheWorkspace,
  readers,
  toAll,
  type Operation,
} from './roles.ts'

export const accounts: Record<string, Operation[]> = {
  'GET /': [{ expect: anyone }],
  'GET /me': [{ expect: anyone }],
  'GET /workspaces': [
    {
      expect: anyone,
      holds: ({ workspaces }, { workspaceId }) => workspaces.some((one: any) => one.id === workspaceId),
      sees: toAll([members, true], [[...guests, ...others], false]),
    },
  ],
  'GET /events': [
    { expect: anyone },
    { query: ({ boardId }) => `?board=${boardId}`, expect: readers },
    { query: ({ boardId }) => `?board=${boardId}`, trashed: true, expect: readers },
    { query: ({ workspaceId }) => `?workspace=${workspaceId}`, expect: readers },
  ],
  'GET /notifications': [{ expect: anyone }, { query: () => '?since=2026-01-01T00:00:00Z', expect: anyone }],
  'POST /notifications/read': [
    { body: () => ({ before: '2030-01-01T00:00:00Z' }), expect: anyone },
    { body: () => ({ ids: [randomUUID()] }), expect: anyone },
  ],
  'GET /audit': [{ expect: anyone }, { query: () => '?since=2026-01-01T00:00:00Z', expect: anyone }],
  'GET /service-accounts': [
    {
      serviceAccount: true,
      query: ({ workspaceId }) => `?workspace=${workspaceId}&limit=500`,
      expect: ownerOfTheWorkspace,
      holds: ({ service_accounts }, { serviceAccountId }) =>
        service_accounts.some(({ id }: any) => id === serviceAccountId),
      sees: { owner: true },
    },
  ],
  'POST /service-accounts': [
    { body: ({ workspaceId }) => ({ workspace_id: workspaceId, name: 'New' }), expect: ownerOfTheWorkspace },
  ],
  'DELETE /service-accounts/:id': [{ serviceAccount: true, expect: ownerOfTheWorkspace }],
  'GET /service-accounts/:id/tokens': [{ serviceAccount: true, expect: ownerOfTheWorkspace }],
  'POST /service-accounts/:id/tokens': [
    { serviceAccount: true, body: () => ({ name: 'New' }), expect: ownerOfTheWorkspace },
  ],
  'DELETE /service-accounts/:id/tokens/:tokenId': [{ serviceAccount: true, expect: ownerOfTheWorkspace }],
}
