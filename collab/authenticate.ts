/** Who may open a board on a socket, and whether there is a place. */
import type { Extension } from '@hocuspocus/server'
import { closeCodes } from '../core/errors.ts'
import type { Database } from '../sql/database.ts'
import type { TokenVerifier } from '../sql/tokens.ts'
import { boardAccess } from './access.ts'
import type { EditorContext, Seat } from './connection.ts'
import { unavailable, type Documents } from './documents.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import type { Nodes } from './nodes.ts'
import { closeSocket, type FindSession, type OpenSockets, type SocketState } from './open-sockets.ts'
import type { Seating } from './seating.ts'

export interface AuthenticationOptions {
  database: Database
  tokens: TokenVerifier
  documents: Documents
  nodes: Nodes | null
  sockets: OpenSockets
  seating: Seating
  bounds: GatewayBounds
  isClosing(): boolean
}

/** Throws what `denied` makes to refuse for good; anything else is a fault that may pass. */
async function admitTo(
  { database, tokens, documents, nodes, seating, bounds, isClosing }: AuthenticationOptions,
  boardId: string,
  token: string,
  findSession: FindSession,
): Promise<EditorContext & { readOnly: boolean }> {
  if (isClosing()) throw denied(unavailable)
  const session = token === '' ? await findSession() : null
  const principal = session ? { ...session, tokenId: session.sessionId } : await tokens.verify(token)
  if (!principal) throw denied('permission-denied')
  const { userId: account, tokenId } = principal
  const [access] = await boardAccess(database, [{ account, tokenId, boardId }])
  if (access === undefined || access === 'none') throw denied('permission-denied')
  const board = documents.find(boardId)
  if (board && (board.queue.stalled || board.isDistrusted)) throw denied(unavailable)
  if ((board?.editors ?? 0) >= bounds.maxSocketsPerBoard) throw denied('too many sockets on this board')
  if (seating.count(account) >= bounds.maxSocketsPerAccount) throw denied('too many sockets of this account')
  await nodes?.opening(boardId)
  // Loaded here and not a moment later, where a failure could no longer be told from a refusal.
  await documents.withDocument(boardId, () => undefined)
  const seat: Seat = { account, connection: null, clients: new Set(), refused: 0, owed: 0 }
  return { account, tokenId, seat, readOnly: access === 'read' }
}

export function authentication(options: AuthenticationOptions): Extension<EditorContext> {
  const { sockets, bounds } = options
  return {
    extensionName: 'authenticate',
    async onAuthenticate({ token, documentName, connectionConfig, context }) {
      const { state } = context as unknown as { state?: SocketState }
      if (!state) throw denied('permission-denied')
      state.attempts += 1
      try {
        const { readOnly, ...admitted } = await admitTo(options, documentName, token, state.findSession)
        connectionConfig.readOnly = readOnly
        sockets.known(state)
        return admitted
      } catch (error) {
        if (!(error instanceof Denied)) throw Object.assign(error as Error, { reason: unavailable })
        state.refusals += 1
        if (state.refusals > bounds.maxRefusals) closeSocket(state, closeCodes.unauthorized)
        throw error
      } finally {
        state.attempts -= 1
      }
    },
  }
}

/** Hocuspocus tells the client the reason; an error without a message is not printed. */
class Denied extends Error {
  readonly reason: string

  constructor(reason: string) {
    super('')
    this.reason = reason
  }
}

const denied = (reason: string) => new Denied(reason)
