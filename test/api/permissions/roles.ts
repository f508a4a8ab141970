/** Who there is, what an operation works on, and what usually comes of it. */
import type { ApiClient } from '../../support/http.ts'
import { routes } from '../../../api/routes.ts'

/**
 * *owner*, *editor*, *viewer* of the workspace; *shared …* have the one board alone; *removed* was an editor once.
 * The revoked and the expired token belong to the owner. *guest …* came by a link of the board: they may what the shared
 * ones may, if the scopes of their tokens allow it. Those *with history* are editors of the board, and see its past since
 * they have access.
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
  'guest editor',
  'guest viewer',
  'guest with history',
] as const
export type Role = (typeof roles)[number]

/**
 * Sessions that a service account mints: of the board alone, and of the workspace. Editors have all scopes, viewers only
 * `read`. The one with history is minted by the owner.
 */
export const sessionRoles = [
  'editor session of the board',
  'viewer session of the board',
  'editor session of the workspace',
  'viewer session of the workspace',
  'session with history',
] as const
export type SessionRole = (typeof sessionRoles)[number]

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
  /** A named version of the board; there when the operation asks for it. */
  versionId: string
  /** A viewer of the workspace, with whom the board is shared too; there when the operation asks for people. */
  memberId: string
  invitationId: string
  /** A guest link of the board, and its token. */
  linkId: string
  linkToken: string
  /** Somebody who comes by a link of the board; there when asked for. */
  guest(role: 'editor' | 'viewer', history?: boolean): Promise<Caller>
}

export interface Caller {
  token: string
  api: ApiClient
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
  /** It works on a named version. */
  version?: true
  /** It works on who has access. `workspace`: the path's `:id` names the workspace, not the board. */
  people?: 'workspace' | 'board'
  /** The board lies in the trash. */
  trashed?: true
  expect: Record<Role, number>
  /** What guests of links get, where it is not what those with a share get. */
  guest?: { 'guest editor'?: number; 'guest viewer'?: number }
  /** What those get who see the past since they have access, where it is not what others get on the board. */
  past?: number
  /** Where a session gets something else than the role that it is like (permissions.ts). */
  sessions?: Partial<Record<SessionRole, number>>
  /** Of a list: whether what it holds of the scene is what the role may see. */
  holds?: (body: any, scene: Scene) => unknown
  sees?: Partial<Record<Role | SessionRole, unknown>>
}

const tokenless = { 'revoked token': 401, 'expired token': 401 } as const
export const table = (
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
  'guest editor': sharedEditor,
  'guest viewer': sharedViewer,
  'guest with history': sharedEditor,
})

export const anyone = table([200, 200, 200, 200, 200], [200, 200])
export const readers = table([200, 200, 200, 200, 200])
/** The past of a board, unless it is shared with the guests. */
export const membersOnly = table([200, 200, 200, 403, 403])
export const writersOfTheBoard = (status = 200) => table([status, status, 403, status, 403])
export const writersOfTheWorkspace = (status = 200) => table([status, status, 403, 403, 403])

/** Guests of a board don't see its workspace. */
export const managersOfWebhooks = table([200, 200, 403, 404, 404])

/** Its tokens are the owner's to give away; guests of a board don't see its workspace. */
export const ownerOfTheWorkspace = table([200, 403, 403, 404, 404])
export const ownerCreates = { ...ownerOfTheWorkspace, owner: 201 }

/** Who has access to a board is told to those who see it, but only its owner manages it. */
export const ownerOfTheBoard = (status = 200) => table([status, 403, 403, 403, 403])

export const members: Role[] = ['owner', 'editor', 'viewer']
export const guests: Role[] = ['shared editor', 'shared viewer']
export const others: Role[] = ['stranger', 'removed']
export const toAll = (...groups: [Role[], unknown][]) =>
  Object.fromEntries(groups.flatMap(([roles, value]) => roles.map((role) => [role, value])))

/** What sessions get that don't see the past. */
export const withoutPast: Partial<Record<SessionRole, number>> = Object.fromEntries(
  sessionRoles.filter((role) => role !== 'session with history').map((role) => [role, 403]),
)

const likeRole: Record<SessionRole, Role> = {
  'editor session of the board': 'shared editor',
  'viewer session of the board': 'shared viewer',
  'editor session of the workspace': 'editor',
  'viewer session of the workspace': 'viewer',
  'session with history': 'shared editor',
}

/** Fills in what sessions get: what a role like theirs gets, without the past, and the scopes and routes that they lack. */
export function withSessions(route: string, operation: Operation): FullOperation {
  const { scope, notInSessions } = routes.find(({ method, path }) => route === `${method} ${path}`)!
  const isClosed = notInSessions || operation.expect === membersOnly
  const lacksScope = (role: SessionRole) => role.startsWith('viewer') && scope !== 'read'
  const expect: FullOperation['expect'] = { ...operation.expect } as FullOperation['expect']
  const sees = { ...operation.sees }
  for (const role of sessionRoles) {
    const like = likeRole[role]
    const given = role === 'session with history' ? operation.past : operation.sessions?.[role]
    expect[role] = given ?? (isClosed || lacksScope(role) ? 403 : operation.expect[like])
    if (!(role in sees) && like in sees) sees[role] = sees[like]
  }
  return { ...operation, expect, sees }
}

export type FullOperation = Omit<Operation, 'expect'> & { expect: Record<Role | SessionRole, number> }
