/**
 * Who may do what, as data: one row for each operation of the API and of the socket. A route without a row fails the
 * test.
 */

/**
 * *owner*, *editor*, *viewer* of the workspace; *shared …* have the one board alone; *removed* was an editor once.
 * The tokens of the last two belong to the owner.
 */
export const roles = [
  'owner',
  'editor',
  'viewer',
  'shared editor',
  'shared viewer',
  'stranger',
  'removed',
  'revoked token',
  'expired token',
] as const
export type Role = (typeof roles)[number]

/** What the operation works on; made anew for each attempt. */
export interface Scene {
  workspaceId: string
  /** The board that is shared; it has a child and two cards. */
  boardId: string
  childId: string
  cardIds: string[]
  /** Of the workspace, with one delivery; there when the operation asks for it. */
  webhookId: string
  deliveryId: string
}

export interface Operation {
  /** Of the path parameters and the query; parameters that are not named are the board and its first card. */
  query?: (scene: Scene) => string
  body?: (scene: Scene) => unknown
  /** It works on a webhook: that is what the path's `:id` names. */
  webhook?: true
  /** The board lies in the trash. */
  trashed?: true
  expect: Record<Role, number>
  /** Of a list: whether what it holds of the scene is what the role may see. */
  holds?: (body: any, scene: Scene) => unknown
  sees?: Partial<Record<Role, unknown>>
}

const tokenless = { 'revoked token': 401, 'expired token': 401 } as const
const table = (
  [owner, editor, viewer, sharedEditor, sharedViewer]: [number, number, number, number, number],
  [stranger, removed]: [number, number] = [404, 404],
): Record<Role, number> => ({
  owner,
  editor,
  viewer,
  'shared editor': sharedEditor,
  'shared viewer': sharedViewer,
  stranger,
  removed,
  ...tokenless,
})

const anyone = table([200, 200, 200, 200, 200], [200, 200])
const readers = table([200, 200, 200, 200, 200])
const writersOfTheBoard = (status = 200) => table([status, status, 403, status, 403])
const writersOfTheWorkspace = (status = 200) => table([status, status, 403, 403, 403])

/** Guests of a board don't see its workspace. */
const managersOfWebhooks = table([200, 200, 403, 404, 404])

const members: Role[] = ['owner', 'editor', 'viewer']
const guests: Role[] = ['shared editor', 'shared viewer']
const others: Role[] = ['stranger', 'removed']
const toAll = (...groups: [Role[], unknown][]) =>
  Object.fromEntries(groups.flatMap(([roles, value]) => roles.map((role) => [role, value])))

/** By method and path of the route; several where its body makes a difference. */
export const permissions: Record<string, Operation[]> = {
  'GET /': [{ expect: anyone }],
  'GET /me': [{ expect: anyone }],
  'GET /workspaces': [
    {
      expect: anyone,
      holds: ({ workspaces }, { workspaceId }) => workspaces.some((one: any) => one.id === workspaceId),
      sees: toAll([members, true], [[...guests, ...others], false]),
    },
  ],
  'GET /boards': [
    {
      query: ({ workspaceId }) => `?workspace=${workspaceId}&limit=500`,
      expect: anyone,
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
    { body: () => ({ name: 'Own' }), expect: table([201, 201, 201, 201, 201], [201, 201]) },
  ],
  'GET /boards/:id': [{ expect: readers }, { trashed: true, expect: readers }],
  'PATCH /boards/:id': [
    { body: () => ({ name: 'New', view: 'list', day_label: 'a' }), expect: writersOfTheBoard() },
    { body: () => ({ scheduled_date: '2030-01-01' }), expect: writersOfTheBoard() },
    {
      body: ({ childId }) => ({ parent_board_id: childId }),
      expect: { ...table([409, 409, 403, 404, 403]) }, // a cycle; for the guest the child is not there
    },
    { body: () => ({ name: 'New' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'DELETE /boards/:id': [
    { expect: writersOfTheWorkspace() },
    { trashed: true, expect: writersOfTheWorkspace() },
  ],
  'POST /boards/:id/restore': [
    { expect: writersOfTheWorkspace() },
    { trashed: true, expect: writersOfTheWorkspace() },
  ],
  'GET /boards/:id/cards': [
    { expect: readers, holds: ({ total }) => total, sees: toAll([[...members, ...guests], 2]) },
    {
      query: () => '?source=index',
      expect: readers,
      holds: ({ cards }) => cards.length,
      sees: toAll([[...members, ...guests], 2]),
    },
    { trashed: true, expect: readers },
  ],
  'POST /boards/:id/cards': [
    { body: () => ({ kind: 'note', x: 0, y: 0 }), expect: writersOfTheBoard(201) },
    { body: () => ({ kind: 'note' }), expect: writersOfTheBoard(201) },
    { body: () => ({ kind: 'note', x: 0, y: 0 }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
    { body: () => ({ kind: 'note' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'PATCH /boards/:id/cards': [
    { body: ({ cardIds }) => ({ cards: [{ id: cardIds[0], title: 'New' }] }), expect: writersOfTheBoard() },
  ],
  'DELETE /boards/:id/cards': [
    { body: ({ cardIds }) => ({ card_ids: cardIds }), expect: writersOfTheBoard() },
  ],
  'PATCH /boards/:id/cards/:cardId': [
    { body: () => ({ title: 'New' }), expect: writersOfTheBoard() },
    { body: () => ({ title: 'New' }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'DELETE /boards/:id/cards/:cardId': [{ expect: writersOfTheBoard() }],
  'GET /webhooks': [
    { expect: anyone },
    {
      query: ({ workspaceId }) => `?workspace=${workspaceId}`,
      expect: table([200, 200, 403, 404, 404]),
    },
  ],
  'POST /webhooks': [
    {
      body: ({ workspaceId }) => ({
        workspace_id: workspaceId,
        url: 'https://93.184.215.14/',
        events: ['board.created'],
      }),
      expect: managersOfWebhooks,
    },
  ],
  'PATCH /webhooks/:id': [{ webhook: true, body: () => ({ name: 'New' }), expect: managersOfWebhooks }],
  'DELETE /webhooks/:id': [{ webhook: true, expect: managersOfWebhooks }],
  'POST /webhooks/:id/test': [{ webhook: true, expect: managersOfWebhooks }],
  'POST /webhooks/:id/rotate-secret': [{ webhook: true, expect: managersOfWebhooks }],
  'GET /webhooks/:id/deliveries': [
    {
      webhook: true,
      expect: managersOfWebhooks,
      holds: ({ deliveries }, { deliveryId }) => deliveries.some((one: any) => one.id === deliveryId),
      sees: toAll([['owner', 'editor'], true]),
    },
  ],
  'POST /webhooks/:id/deliveries/:deliveryId/redeliver': [{ webhook: true, expect: managersOfWebhooks }],
}

/** At the socket: what a connection to the board may do. */
export type SocketAccess = 'edit' | 'read' | 'refused'

const refused = {
  stranger: 'refused',
  removed: 'refused',
  'revoked token': 'refused',
  'expired token': 'refused',
} as const

export const socketPermissions: { board: 'shared' | 'child' | 'trashed'; expect: Record<Role, SocketAccess> }[] = [
  {
    board: 'shared',
    expect: { owner: 'edit', editor: 'edit', viewer: 'read', 'shared editor': 'edit', 'shared viewer': 'read', ...refused },
  },
  {
    board: 'child',
    expect: { owner: 'edit', editor: 'edit', viewer: 'read', 'shared editor': 'refused', 'shared viewer': 'refused', ...refused },
  },
  {
    board: 'trashed',
    expect: { owner: 'refused', editor: 'refused', viewer: 'refused', 'shared editor': 'refused', 'shared viewer': 'refused', ...refused },
  },
] // prettier-ignore
