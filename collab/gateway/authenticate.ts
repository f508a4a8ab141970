/** Authenticates editors: decides who may open a board on a socket, and whether it has room for them. */
import type { Extension } from '@hocuspocus/server'
import { closeCodes } from '../../core/errors.ts'
import { ownClientId } from '../../sql/oauth/oauth-grants.ts'
import type { Principal, TokenVerifier } from '../../sql/accounts/tokens.ts'
import type { QueryBatch } from '../../platform/work/query-batch.ts'
import { questionKey, type AccessQuestion, type BoardAccess } from '../access.ts'
import { Stamp } from '../awareness/stamp.ts'
import type { EditorContext, Seat } from './connection.ts'
import type { Documents } from '../documents/documents.ts'
import { temporaryRefusal } from '../documents/refusals.ts'
import type { DocumentQuota } from '../commit/document-quota.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import type { Nodes } from '../documents/nodes.ts'
import { closeSocket, type FindSession, type OpenSockets, type SocketState } from './open-sockets.ts'
import type { Seating } from './seating.ts'

export interface AuthenticationOptions {
  access: QueryBatch<AccessQuestion, BoardAccess>
  tokens: TokenVerifier
  documents: Documents
  quota: DocumentQuota
  nodes: Nodes
  sockets: OpenSockets
  seating: Seating
  bounds: GatewayBounds
  isClosing(): boolean
}

/** Access that was asked for longer ago is asked for again, when the board has been loaded. */
const askAgainMs = 500

interface Attempt {
  boardId: string
  token: string
  state: SocketState
}

/**
 * Admits an editor to a board.
 *
 * @throws Denied to refuse for good; any other error is a fault that may pass
 */
async function admitTo(
  options: AuthenticationOptions,
  { boardId, token, state }: Attempt,
): Promise<EditorContext & { readOnly: boolean }> {
  const { tokens, documents, nodes, sockets, seating, isClosing } = options
  if (isClosing() || !nodes.isSeating) throw denied(temporaryRefusal)
  const identity = await identify(tokens, token, state.findSession)
  if (!identity) throw denied(refusals.token)
  const { account, tokenId, isAgent, session } = identity
  const question = { account, tokenId, boardId, session: session?.claims }
  const askedAt = performance.now()
  const access = await options.access.ask(question)
  if (access.may === 'none') throw denied(refusals.board)
  const board = documents.find(boardId)
  if (board && (board.queue.edits.isStalled || board.isDistrusted)) throw denied(temporaryRefusal)
  const { may, isGuest, linkId, linkOwner, name, sessionUser } = access
  const countedAs = linkId ?? account
  const payer = session?.ownerId ?? linkOwner
  if (!seating.hasRoom(board?.document, { account, countedAs, payer, readOnly: may === 'read' }))
    throw denied(refusals.room)
  if (!nodes.isSeating || sockets.find(state.socket) !== state) throw denied(temporaryRefusal)
  // Before the board is loaded, which may take longer than a stranger may wait.
  const rates = sockets.rates.of(account, payer, linkId)
  if (!sockets.known(state, { account, payer }, rates)) throw denied(refusals.room)
  const hold = nodes.hold(boardId)
  state.holds.add(hold)
  try {
    const isFull = (await open(options, boardId, may)) || may === 'full'
    // The access may have ended while the board was loaded.
    if (performance.now() - askedAt > askAgainMs && (await options.access.ask(question)).may === 'none')
      throw denied(refusals.board)
    const room = isFull ? 'waits' : 'ok'
    const readOnly = may === 'read' || isFull
    const stamp = new Stamp({ id: account, name, isGuest: linkId !== null, sessionUser, isAgent, readOnly })
    const seat: Seat = {
      account,
      isApiClient: false,
      payer,
      rates,
      hold,
      connection: null,
      clients: new Set(),
      stamp,
      refused: 0,
      owed: 0,
      room,
    }
    return {
      account,
      countedAs,
      question,
      questionKey: questionKey(question),
      isGuest,
      isAgent,
      seat,
      readOnly,
    }
  } catch (error) {
    hold.end()
    state.holds.delete(hold)
    throw error
  }
}

interface Identity {
  account: string
  /** The id of the token or session. */
  tokenId: string
  isAgent: boolean
  session: Principal['session']
}

export async function identify(
  tokens: TokenVerifier,
  token: string,
  findSession: FindSession,
): Promise<Identity | null> {
  if (token === '') {
    const session = await findSession()
    return session && { account: session.userId, tokenId: session.sessionId, isAgent: false, session: null }
  }
  const principal = await tokens.verify(token)
  if (!principal) return null
  const { userId: account, tokenId, serviceAccountId, clientId, session } = principal
  const isAgent = session
    ? session.claims.agent
    : serviceAccountId !== null || (clientId !== null && clientId !== ownClientId)
  return { account, tokenId, isAgent, session }
}

/**
 * Registers the board as open here, and brings its document up to date. A failure to load it later could not be told
 * from a refusal.
 *
 * @returns whether no storage is left for an account that may write
 */
async function open(
  { nodes, documents, quota }: AuthenticationOptions,
  boardId: string,
  may: BoardAccess['may'],
): Promise<boolean> {
  const seq = await nodes.register(boardId)
  await documents.show(boardId, seq ?? 0)
  return may === 'write' && (await quota.isFull(boardId))
}

export function authentication(options: AuthenticationOptions): Extension<EditorContext> {
  const { bounds } = options
  return {
    extensionName: 'authenticate',
    async onAuthenticate({ token, documentName, connectionConfig, context }) {
      const { state } = context as unknown as { state?: SocketState }
      if (!state) throw denied(refusals.board)
      state.attempts += 1
      try {
        const { readOnly, ...admitted } = await admitTo(options, { boardId: documentName, token, state })
        connectionConfig.readOnly = readOnly
        return admitted
      } catch (error) {
        if (!(error instanceof Denied)) throw Object.assign(error as Error, { reason: temporaryRefusal })
        state.refusals += 1
        if (state.refusals > bounds.maxRefusals) closeSocket(state, closeCodes.unauthorized)
        throw error
      } finally {
        state.attempts -= 1
        // Wait until Hocuspocus has recorded the result.
        setImmediate(() => state.attempted?.())
      }
    },
  }
}

/** The reasons that a provider's `onAuthenticationFailed` receives. */
export const refusals = {
  /** The token is wrong, revoked or expired; or there is no token and no session. */
  token: 'token-invalid',
  /** The board does not exist, or the account may not see it. The client does not learn which. */
  board: 'permission-denied',
  /** The board or the account has too many sockets. */
  room: 'try-later',
  /** With `as_of`: the moment is not kept, or is no moment. */
  moment: 'no-such-moment',
} as const

/** Hocuspocus sends `reason` to the client. It prints only errors that have a message. */
class Denied extends Error {
  readonly reason: string

  constructor(reason: string) {
    super('')
    this.reason = reason
  }
}

const denied = (reason: string) => new Denied(reason)
