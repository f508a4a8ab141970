/**
 * The gateway: sockets at /collab and /collab/{boardId} that speak the Hocuspocus protocol. The document name is the
 * board's id. The token is an access token, or empty for a user whose cookie on the upgrade request holds a session. The
 * hooks run in the order of the list `extensions` in `openGateway`.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Hocuspocus, type Connection } from '@hocuspocus/server'
import { WebSocketServer, type ServerOptions } from 'ws'
import type { BytesByTier } from '../../core/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { QueryBatch } from '../../platform/work/query-batch.ts'
import type { WorkerPool } from '../../platform/work/worker-pool.ts'
import type { Database } from '../../sql/database.ts'
import type { TokenVerifier } from '../../sql/accounts/tokens.ts'
import type { RelayOptions } from '../awareness/relay.ts'
import { boardAccess, type AccessQuestion } from '../access.ts'
import { authentication } from './authenticate.ts'
import { closeSpread } from './close-spread.ts'
import { closeDocument, type EditorContext } from './connection.ts'
import type { DocumentQuota } from '../commit/document-quota.ts'
import { broadcastWindowMs } from '../documents/document.ts'
import type { Documents } from '../documents/documents.ts'
import { follow } from './follow.ts'
import { defaultBounds, type GatewayBounds } from './gateway-bounds.ts'
import type { Nodes } from '../documents/nodes.ts'
import { OpenSockets, type FindSession, type SocketState } from './open-sockets.ts'
import { Presence } from './presence.ts'
import { Receiver } from './receive.ts'
import { roomNotice } from './room-notice.ts'
import { Seating } from './seating.ts'
import { DocumentStore } from './store.ts'
import { boardOfPath, refuseUpgrade } from './upgrade.ts'
import { welcome } from './welcome.ts'

export interface GatewayOptions {
  database: Database
  tokens: TokenVerifier
  /** Returns a function that finds the session in the upgrade request's cookie. Each call looks it up again. */
  sessionOf(headers: IncomingHttpHeaders): FindSession
  /** The client's address in an upgrade request, or the network that counts as one address. */
  addressOf(request: IncomingMessage): string
  documents: Documents
  documentBytes: BytesByTier
  quota: DocumentQuota
  nodes: Nodes
  /** Sends awareness to the other nodes. */
  others: RelayOptions
  pool: WorkerPool
  log: Logger
  bounds?: Partial<GatewayBounds>
  /** Longest time between an edit and its index update. */
  debounceMs?: number
  /** Called when a socket is gone, with the code that the service or else the client closed it with. */
  onSocketClosed?(code: number): void
}

export interface Gateway {
  hocuspocus: Hocuspocus<EditorContext>
  /** Handles an upgrade request to a path of the gateway, and refuses others. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void
  /**
   * Checks all open sockets now. Closes those that lost their access, and makes read-only those that may no longer
   * write.
   */
  checkAccess(): Promise<void>
  /** Checks within 50 ms. Calls in the meantime share that check. */
  checkAccessSoon(): void
  closeBoard(boardId: string, reason: { code: number; reason: string }): void
  /** Closes all canvases (1013), also those that are about to open. Resolves when their sockets are gone. */
  closeCanvases(): Promise<void>
  /** Whether the account has an open socket here. */
  isPresent(account: string): boolean
  /** Sends a stateless message once to each open socket of the account, however many boards it has open. */
  tell(account: string, text: string): void
  /** Handles the awareness of another node. */
  heard(message: { from: string; board: string; bytes: Uint8Array }): void
  /** Removes the awareness of a node that has left or died. */
  nodeGone(node: string): void
  counts(): GatewayCounts
  /** Figures that cost the same however many sockets are open. */
  figures(): GatewayFigures
  /** Refuses new sockets and closes all others (1012), many of them over some seconds. No edit is accepted afterwards. */
  close(): Promise<void>
}

export interface GatewayCounts {
  sockets: number
  /** Sockets on which nobody has authenticated yet. */
  strangers: number
  /** Open boards, counted once for each socket. */
  connections: number
  /** Accounts with at least one open board. */
  accounts: number
  /** Bytes that were sent but that clients have not read yet. */
  unreadBytes: number
  /** Awareness states in memory. */
  states: number
}

export interface GatewayFigures {
  sockets: number
  /** Sockets on which nobody has authenticated yet. */
  strangers: number
  /** Awareness frames since the start. */
  awareness: { received: number; sent: number }
  /** Bytes of updates that wait to be applied. */
  updateBytes: number
}

export function openGateway(options: GatewayOptions): Gateway {
  const { database, documents, documentBytes, quota, pool, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const sockets = new OpenSockets(bounds)
  const receiver = new Receiver({ documents, sockets, bounds, pool, log })
  const presence = new Presence(bounds, options.others)
  const joined = (connection: Connection<EditorContext>, state: SocketState) => {
    const { messageAddress: address } = connection
    presence.joined(connection)
    const payload = state.early.get(address)
    state.early.delete(address)
    if (payload) presence.receive(connection, payload)
    const vector = state.earlyVectors.get(address)
    state.earlyVectors.delete(address)
    if (vector) void receiver.answer(state, connection, vector)
  }
  const seating = new Seating({ sockets, bounds, joined, left: (connection) => receiver.leave(connection) })
  const access = new QueryBatch({
    query: (questions: AccessQuestion[]) => boardAccess(database, documentBytes, questions),
    keyOf: ({ account, tokenId, boardId }) => `${account} ${tokenId} ${boardId}`,
    accountOf: ({ account }) => account,
  })
  let closing = false
  const isClosing = () => closing

  const hocuspocus = new Hocuspocus<EditorContext>({
    extensions: [
      authentication({ ...options, access, sockets, seating, bounds, isClosing }),
      seating.extension,
      roomNotice,
      receiver.extension,
      presence.extension,
      new DocumentStore(documents),
      documents.extension,
    ],
    debounce: Math.min(options.debounceMs ?? 1000, 2000),
    maxDebounce: options.debounceMs ?? 2000,
    unloadImmediately: true,
    flushDelay: broadcastWindowMs,
    quiet: true,
    maxUnauthenticatedQueueSize: 1024 * 1024,
    maxPendingDocuments: bounds.maxBoardsPerSocket,
  })
  // Remove the last extension. It holds the configuration's empty default hooks, which Hocuspocus would await for each
  // frame.
  hocuspocus.configuration.extensions.pop()
  documents.attach(hocuspocus)

  const serverOptions: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    maxPayload: bounds.maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: true,
    autoPong: false,
    closeTimeout: 5000,
  }
  const server = new WebSocketServer(serverOptions)
  const following = follow({
    ...{ hocuspocus, database, documents, documentBytes, quota, log },
    rightsChanged: (connection) => presence.rightsChanged(connection),
  })

  const { onSocketClosed } = options
  const welcoming = { hocuspocus, sockets, receiver, presence, documents, bounds, log, onSocketClosed }
  const upkeep = setInterval(() => {
    const now = Date.now()
    for (const state of sockets.all()) state.keepAlive(now)
    presence.sweep()
    sockets.sweepRates()
  }, bounds.keepAliveMs / 3)

  return {
    hocuspocus,
    upgrade(request, stream, head) {
      const address = options.addressOf(request)
      const board = boardOfPath(request.url)
      if (board === undefined) refuseUpgrade(stream, '404 Not Found')
      else if (closing || !sockets.makeRoom(address))
        refuseUpgrade(stream, '503 Service Unavailable', 'Retry-After: 5\r\n')
      else {
        const findSession = options.sessionOf(request.headers)
        server.handleUpgrade(request, stream, head, (webSocket) =>
          welcome({ webSocket, stream, address, board, findSession }, welcoming),
        )
      }
    },
    checkAccess: following.checkAccess,
    checkAccessSoon: following.soon,
    closeBoard: (boardId, reason) => closeDocument(documents.find(boardId)?.document, reason),
    closeCanvases: () => sockets.closeCanvases(),
    isPresent: (account) => seating.isPresent(account),
    tell: (account, text) => seating.tell(account, text),
    heard: (message) => presence.heard(message),
    nodeGone: (node) => presence.nodeGone(node),
    figures: () => ({
      ...sockets.figures(),
      awareness: { ...presence.frames },
      updateBytes: receiver.queuedBytes,
    }),
    counts: () => ({ ...sockets.counts(), ...seating.counts(), states: presence.states }),
    async close() {
      closing = true
      await closeSpread(server.clients, bounds.closing)
      following.stop()
      clearInterval(upkeep)
      const deadline = Date.now() + 2000
      while (server.clients.size > 0 && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 10))
      for (const webSocket of server.clients) webSocket.terminate()
      presence.stop()
    },
  }
}
