/**
 * The gateway: sockets at /collab, spoken to in the Hocuspocus protocol. Document name = board id, token = an access
 * token, or none for who is signed in by the socket's cookie. The hooks, in the order in which they run, are the list
 * `extensions` in `openGateway`.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Hocuspocus, type Connection } from '@hocuspocus/server'
import { WebSocketServer, type ServerOptions } from 'ws'
import { closeCodes } from '../../core/errors.ts'
import type { BytesByTier } from '../../core/limits.ts'
import type { Logger } from '../../platform/log.ts'
import type { WorkerPool } from '../../platform/work/worker-pool.ts'
import type { Database } from '../../sql/database.ts'
import type { TokenVerifier } from '../../sql/accounts/tokens.ts'
import { authentication } from './authenticate.ts'
import type { CommitQueue } from '../commit/commit.ts'
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
import { refuseUpgrade } from './upgrade.ts'
import { welcome } from './welcome.ts'

export interface GatewayOptions {
  database: Database
  tokens: TokenVerifier
  /** Of the request for a socket: finds who is signed in by its cookie, each time anew. */
  sessionOf(headers: IncomingHttpHeaders): FindSession
  /** Of the request for a socket: the address that it comes from, or the network of it that counts as one. */
  addressOf(request: IncomingMessage): string
  documents: Documents
  documentBytes: BytesByTier
  quota: DocumentQuota
  queue: CommitQueue
  nodes: Nodes | null
  pool: WorkerPool
  log: Logger
  bounds?: Partial<GatewayBounds>
  /** Time after an edit until the index is told, at the latest. */
  debounceMs?: number
  /** How often open sockets are held against what their accounts may do. */
  accessCheckMs?: number
}

export interface Gateway {
  hocuspocus: Hocuspocus<EditorContext>
  /** Takes over an upgrade request. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void
  /** Looks at all open sockets now: closes or turns read-only those whose access has changed. */
  checkAccess(): Promise<void>
  /** The same within 50 ms, once for all who ask meanwhile. */
  checkAccessSoon(): void
  closeBoard(boardId: string, reason: { code: number; reason: string }): void
  /** Whether the account has an open socket here. */
  isPresent(account: string): boolean
  /** Sends a stateless message to each open socket of the account, once, whichever boards are open on it. */
  tell(account: string, text: string): void
  counts(): GatewayCounts
  /** Closes all sockets (1012), after which no edit comes in. */
  close(): Promise<void>
}

export interface GatewayCounts {
  sockets: number
  /** Those on which nobody has authenticated yet. */
  strangers: number
  /** Boards open on sockets. */
  connections: number
  /** Accounts that have any. */
  accounts: number
  /** Sent, and not read by the other side yet. */
  unreadBytes: number
  /** Awareness states that are kept. */
  states: number
}

export function openGateway(options: GatewayOptions): Gateway {
  const { database, documents, documentBytes, quota, queue, pool, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const sockets = new OpenSockets(bounds)
  const receiver = new Receiver({ documents, sockets, bounds, pool, log })
  const presence = new Presence(bounds)
  const joined = (connection: Connection<EditorContext>, { early }: SocketState) => {
    presence.sendAll(connection)
    const payload = early.get(connection.messageAddress)
    early.delete(connection.messageAddress)
    if (payload) presence.receive(connection, payload)
  }
  const seating = new Seating({ sockets, bounds, joined, left: (connection) => receiver.leave(connection) })
  let closing = false
  const isClosing = () => closing

  const hocuspocus = new Hocuspocus<EditorContext>({
    extensions: [
      authentication({ ...options, sockets, seating, bounds, isClosing }),
      seating.extension,
      roomNotice,
      receiver.extension,
      presence.extension,
      new DocumentStore(documents, queue),
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
  // The last extension is made of the configuration's empty default hooks; they would only be awaited, for each frame.
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
    intervalMs: options.accessCheckMs ?? 750,
  })

  const welcoming = { hocuspocus, sockets, receiver, presence, documents, bounds, log }
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
      if (closing || !sockets.makeRoom(address))
        refuseUpgrade(stream, '503 Service Unavailable', 'Retry-After: 5\r\n')
      else {
        const findSession = options.sessionOf(request.headers)
        server.handleUpgrade(request, stream, head, (webSocket) =>
          welcome({ webSocket, stream, address, findSession }, welcoming),
        )
      }
    },
    checkAccess: following.checkAccess,
    checkAccessSoon: following.soon,
    closeBoard: (boardId, reason) => closeDocument(documents.find(boardId)?.document, reason),
    isPresent: (account) => seating.isPresent(account),
    tell: (account, text) => seating.tell(account, text),
    counts: () => ({ ...sockets.counts(), ...seating.counts(), states: presence.states }),
    async close() {
      closing = true
      following.stop()
      clearInterval(upkeep)
      for (const webSocket of server.clients)
        webSocket.close(closeCodes.restart.code, closeCodes.restart.reason)
      const deadline = Date.now() + 2000
      while (server.clients.size > 0 && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 10))
      for (const webSocket of server.clients) webSocket.terminate()
    },
  }
}
