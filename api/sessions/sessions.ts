/** Mints and ends sessions for the users of a product that is built on this service. */
import Type from 'typebox'
import { noBoard } from '../../core/board.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { endSessions, mintingWorkspace, mintSession } from '../../sql/accounts/session-users.ts'
import { scopes, type Principal, type Scope } from '../../sql/accounts/tokens.ts'
import type { Transaction } from '../../sql/database.ts'
import { currentOperation } from '../../sql/operation.ts'
import { ScopeError } from '../http/authenticate.ts'
import { route } from '../http/route.ts'
import { flag, id, text, time } from '../http/vocabulary.ts'
import { newSession, presentSession, Session, sessionUserId, type NewSessionBody } from './session.ts'

export const mintSessionRoute = route('POST /sessions', 'write', {
  answersSecret: true,
  notInSessions: true,
  refuses: ['not_found', 'forbidden', 'limit_reached'],
  summary: 'Mint a session for a user of your product.',
  description:
    'The `access_token` opens the boards that you name, on the API and on sockets, and no others. Name boards or a workspace. It is for the token of a service account, in its workspace, or for a personal token of the workspace’s owner. The session may never do more than that token and its account may do at the moment, and ends with them. It cannot mint, share or invite, and it reaches no webhooks and no service accounts. Mint again before it expires, for example when the editor asks for a token.',
  schemas: { body: newSession },
  answers: {
    200: Type.Object({
      access_token: text('The token of the session. It is not shown again.'),
      expires_at: time('When it expires.'),
      session: Session,
    }),
  },
  async handle({ database, sessionTokens }, { principal, body }) {
    requireMinter(principal)
    const user = {
      id: body.user.id,
      name: nameOf(body.user.name),
      color: body.user.color || null,
      avatarUrl: avatarOf(body.user.avatar_url),
    }
    const claimed = {
      minter: principal.userId,
      token: principal.tokenId,
      boards:
        body.board_ids === undefined ? null : [...new Set(body.board_ids.map((id) => id.toLowerCase()))],
      role: body.role,
      scopes: scopesOf(body, principal),
      history: body.history ?? false,
      agent: body.user.agent ?? false,
    }
    const answer = await database.asUser(principal.userId, async (tx) => {
      const workspace = await workspaceOf(tx, body, claimed.boards)
      const minted = await mintSession(tx, {
        ...{ ...claimed, workspace, user },
        ttlSeconds: body.ttl_seconds ?? limits.sessions.ttlSeconds.default,
        live: limits.sessions.live,
      })
      if (!minted) throw notMinting()
      if ('live' in minted) throw tooManyLive(minted.live)
      const { claims } = minted
      const shown = presentSession(claims, user)
      const answer = { access_token: sessionTokens.make(claims), expires_at: claims.expires, session: shown }
      currentOperation()?.concerns({ type: 'session', ids: [claims.account], workspace })
      currentOperation()?.answers(answer)
      return answer
    })
    return { body: answer }
  },
})

export const endSessionsRoute = route('DELETE /sessions', 'write', {
  notInSessions: true,
  refuses: ['not_found', 'forbidden'],
  summary: 'End the sessions of a user, or those that open a board.',
  description:
    'Ends every session that was minted before, whoever minted it: on the API within a second, on open sockets within two. With `user_id` and `board_id`, those to which both applies. A session that opens several boards ends whole. A session that is minted later works.',
  schemas: {
    body: Type.Object({
      user_id: Type.Optional(sessionUserId),
      board_id: Type.Optional(id('A board: whoever opens it.')),
      workspace_id: Type.Optional(
        id('The workspace of the user. Required for a personal token that names no board.'),
      ),
    }),
  },
  answers: { 200: Type.Object({ deleted: flag('Always true.') }) },
  async handle({ database }, { principal, body }) {
    requireMinter(principal)
    const boardId = body.board_id?.toLowerCase() ?? null
    const userId = body.user_id ?? null
    if (userId === null && boardId === null)
      throw badRequest('Name user_id, board_id or both. It is their sessions that end.')
    await database.asUser(principal.userId, async (tx) => {
      const workspace = await workspaceOf(tx, body, boardId === null ? null : [boardId], 'board_id')
      if (!(await endSessions(tx, { workspace, userId, boardId }))) throw notMinting()
      currentOperation()?.concerns({ type: 'session', ids: [null], board: boardId, workspace })
    })
    return { body: { deleted: true } }
  },
})

/** @throws ServiceError `forbidden` for an application that acts for a person */
function requireMinter({ clientId }: Principal): void {
  if (clientId !== null)
    throw new ServiceError(
      'forbidden',
      'Connected applications cannot mint or end sessions. Use the token of a service account, or a personal token of the workspace’s owner.',
    )
}

/**
 * The workspace of the session: the one that is named, that of the boards, or that of the service account.
 *
 * @throws ServiceError `bad_request`, `not_found`, or `forbidden` when the caller may not mint in it
 */
async function workspaceOf(
  tx: Transaction,
  { workspace_id }: Pick<NewSessionBody, 'workspace_id'>,
  boards: string[] | null,
  field = 'board_ids',
): Promise<string> {
  if (field === 'board_ids' && (boards === null) === (workspace_id === undefined))
    throw badRequest('Name either board_ids or workspace_id.')
  const given = workspace_id?.toLowerCase()
  const rows = await tx<{ id: string; workspace_id: string }[]>`
    select id, workspace_id from boards where id = any (${boards ?? []}::uuid[])`
  if (rows.length < (boards?.length ?? 0)) throw noBoard(`${field}: `)
  const places = new Set([...(given === undefined ? [] : [given]), ...rows.map((row) => row.workspace_id)])
  if (places.size > 1) throw badRequest(`${field}: the boards must be in one workspace.`)
  const [place = null] = places
  const workspace = await mintingWorkspace(tx, place)
  if (workspace !== null) return workspace
  if (place === null) throw badRequest('workspace_id is required for the token of a person.')
  const visible = await tx`select from workspaces where id = ${place}`
  if (visible.length === 0 && boards === null) throw new ServiceError('not_found', 'No such workspace.')
  throw notMinting()
}

/** @throws ServiceError `insufficient_scope` for a scope that the request's own token lacks */
function scopesOf({ scopes: given, role }: NewSessionBody, principal: Principal): Scope[] {
  const wanted = scopes.filter(
    (scope) => scope === 'read' || (given ? given.includes(scope) : role === 'editor' && scope === 'write'),
  )
  if (role === 'viewer' && wanted.length > 1) throw badRequest('scopes: a viewer’s session has `read` only.')
  const lacking = wanted.find((scope) => !principal.scopes.includes(scope))
  if (lacking === undefined) return wanted
  throw new ScopeError(
    principal,
    lacking,
    `scopes: this token lacks \`${lacking}\`, so it cannot mint a session with it. Leave it out, or use a token that has it.`,
  )
}

function nameOf(given: string): string {
  const name = given.trim()
  if (name === '') throw badRequest(`user.name must have 1 to ${limits.name} characters.`)
  return name
}

function avatarOf(given: string | null | undefined): string | null {
  if (!given) return null
  const url = URL.parse(given)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href
  throw badRequest('user.avatar_url must be an http or https URL.')
}

const notMinting = () =>
  new ServiceError('forbidden', 'Only service accounts of the workspace and its owner mint and end sessions.')

const tooManyLive = (live: number) =>
  new ServiceError(
    'limit_reached',
    `${live} users have a live session in the workspaces of this owner, which is the most that its plan allows. End some, or wait until they expire.`,
  )
