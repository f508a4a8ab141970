/**
 * Who may do what, as data: one row for each operation of the API and of the socket. A route without a row fails the
 * test.
 */
import { randomUUID } from 'node:crypto'

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

/** What the operation works on; made anew for each attempt that is to change something. */
export interface Scene {
  workspaceId: string
  /** The board that is shared; it has a child and two cards. */
  boardId: string
  childId: string
  cardIds: string[]
  /** Of the workspace, with one delivery; there when the operation asks for it. */
  webhookId: string
  deliveryId: string
  /** On the board; there when the operation asks for them. */
  imageKey: string
  upload: { board_id: string; key: string; upload_id: string }
  /** The value of an identifier in the scope `scene`, which the board and its first card carry. */
  identifier: string
  /** A service account of the workspace, with a token; there when the operation asks for it. */
  serviceAccountId: string
  serviceTokenId: string
  /** A group with the first card in it. */
  groupId: string
}

export interface Operation {
  /** Of the path parameters and the query; parameters that are not named are the board, its first card and its group. */
  query?: (scene: Scene) => string
  body?: (scene: Scene) => unknown
  /** What is sent besides the body, which is then no JSON. */
  headers?: Record<string, string>
  /** It works on an upload in parts that its owner began, or on a file on the board. */
  file?: true
  /** The path's `:id` names the child. */
  from?: 'child'
  /** It works on a webhook: that is what the path's `:id` names. */
  webhook?: true
  /** It works on a service account: that is what the path's `:id` names. */
  serviceAccount?: true
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

/** Its tokens are the owner's to give away; guests of a board don't see its workspace. */
const ownerOfTheWorkspace = table([200, 403, 403, 404, 404])

const members: Role[] = ['owner', 'editor', 'viewer']
const guests: Role[] = ['shared editor', 'shared viewer']
const others: Role[] = ['stranger', 'removed']
const toAll = (...groups: [Role[], unknown][]) =>
  Object.fromEntries(groups.flatMap(([roles, value]) => roles.map((role) => [role, value])))

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

/** The smallest of GIFs. */
const gif = 'GIF89a\x01\0\x01\0\0\0\0;'
/** What the tool says comes with the error's code; of what was done, the text begins with something else. */
const calls = (name: string, given: (scene: Scene) => object) => (scene: Scene) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given(scene) },
})
const told = ({ result }: any) => (result.isError ? result.content[0].text.split(':', 1)[0] : 'done')
const onBoard = ({ boardId }: Scene) => `?board=${boardId}`

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
  'GET /notifications': [{ expect: anyone }, { query: () => '?since=2026-01-01T00:00:00Z', expect: anyone }],
  'POST /uploads': [
    {
      query: onBoard,
      body: () => gif,
      headers: { 'content-type': 'image/gif' },
      expect: writersOfTheBoard(201),
    },
    {
      query: onBoard,
      body: () => gif,
      headers: { 'content-type': 'image/gif' },
      trashed: true,
      expect: table([409, 409, 403, 409, 403]),
    },
  ],
  'POST /uploads/multipart': [
    { query: onBoard, body: () => ({ bytes: 10 }), expect: writersOfTheBoard(201) },
    { query: onBoard, body: () => ({ bytes: 10 }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'POST /uploads/multipart/parts': [
    { file: true, body: ({ upload }) => ({ ...upload, part_numbers: [1] }), expect: writersOfTheBoard() },
  ],
  'POST /uploads/multipart/complete': [
    {
      file: true, // nothing was sent
      body: ({ upload }) => ({ ...upload, parts: [{ part_number: 1, etag: 'x' }] }),
      expect: table([400, 400, 403, 400, 403]),
    },
  ],
  'POST /uploads/multipart/abort': [
    { file: true, body: ({ upload }) => upload, expect: writersOfTheBoard() },
  ],
  'GET /images': [
    {
      file: true,
      query: () => '?limit=500',
      expect: anyone,
      holds: ({ images }, { imageKey }) => images.some((one: any) => one.image_key === imageKey),
      sees: toAll([[...members, ...guests], true], [others, false]),
    },
    { file: true, query: () => '?since=2026-01-01T00:00:00Z', expect: anyone },
  ],
  'GET /images/:key': [
    { file: true, expect: readers },
    { file: true, query: () => '?w=160', expect: table([415, 415, 415, 415, 415]) }, // no decoder takes it
    { file: true, trashed: true, expect: readers },
  ],
  'GET /boards': [
    { query: ({ workspaceId }) => `?workspace=${workspaceId}&since=2026-01-01T00:00:00Z`, expect: anyone },
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
  'GET /search': [
    {
      query: ({ workspaceId }) => `?q=board&kind=board&workspace=${workspaceId}&limit=500`,
      expect: anyone,
      holds: ({ boards }, { boardId, childId }) =>
        [boardId, childId].map((id) => boards.items.some((board: any) => board.id === id)),
      sees: toAll([members, [true, true]], [guests, [true, false]], [others, [false, false]]),
    },
    {
      query: ({ workspaceId }) => `?q=scene&kind=card&workspace=${workspaceId}&limit=500`,
      expect: anyone,
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
      holds: told,
      sees: toAll([['owner', 'editor'], 'done'], [['viewer', ...guests], 'forbidden'], [others, 'not_found']),
    },
  ],
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
