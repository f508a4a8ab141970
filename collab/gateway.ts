/**
 * The gateway: sockets at /collab, spoken to in the Hocuspocus protocol. Document name = board id, token = an access
 * token, or none for who is signed in by the socket's cookie. The hooks, in the order in which they run, are the list
 * `extensions` in `openGateway`.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Hocuspocus, OutgoingMessage } from '@hocuspocus/server'
import { WebSocket, WebSocketServer, type RawData, type ServerOptions } from 'ws'
import { closeCodes } from '../core/errors.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import type { TokenVerifier } from '../sql/tokens.ts'
import { authentication } from './authenticate.ts'
import type { CommitQueue } from './commit.ts'
import { closeDocument, type EditorContext } from './connection.ts'
import { broadcastWindowMs } from './document.ts'
import type { Documents } from './documents.ts'
import { follow } from './follow.ts'
import { frameType, isBoardAddress, readFrame, syncStep } from './frame.ts'
import { defaultBounds, type GatewayBounds } from './gateway-bounds.ts'
import { Intake } from './intake.ts'
import type { Nodes } from './nodes.ts'
import { closeSocket, OpenSockets, type FindSession } from './open-sockets.ts'
import { presence } from './presence.ts'
import { Receiver } from './receive.ts'
import { Seating } from './seating.ts'
import { EditorSocket } from './socket.ts'
import { DocumentStore } from './store.ts'
import { refuseUpgrade } from './upgrade.ts'

export interface GatewayOptions {
  database: Database
  tokens: TokenVerifier
  /** Of the request for a socket: finds who is signed in by its cookie, each time anew. */
  sessionOf(headers: IncomingHttpHeaders): FindSession
  documents: Documents
  queue: CommitQueue
  nodes: Nodes | null
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
}

export function openGateway(options: GatewayOptions): Gateway {
  const { database, tokens, documents, queue, nodes, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const sockets = new OpenSockets(bounds)
  const receiver = new Receiver({ documents, sockets, bounds, log })
  const seating = new Seating({ sockets, bounds, left: (connection) => receiver.leave(connection) })
  let closing = false
  const isClosing = () => closing

  const hocuspocus = new Hocuspocus<EditorContext>({
    extensions: [
      authentication({ database, tokens, documents, nodes, sockets, seating, bounds, isClosing }),
      seating.extension,
      receiver.extension,
      presence(bounds),
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
  const following = follow({ hocuspocus, database, documents, log, intervalMs: options.accessCheckMs ?? 750 })

  function welcome(webSocket: WebSocket, stream: Duplex, findSession: FindSession): void {
    const socket = new EditorSocket(webSocket, stream, bounds, receiver.acknowledge)
    const state = sockets.add(socket, findSession)
    const deadline = setTimeout(() => {
      if (sockets.isStranger(state)) closeSocket(state, closeCodes.unauthorized)
    }, bounds.authenticationMs)
    const client = hocuspocus.handleConnection(socket as never, upgradeRequest, { state } as never)

    /** Looks at a frame, and hands it to whom it concerns. */
    const take = (bytes: Uint8Array): Promise<void> | null => {
      const frame = readFrame(bytes, bounds)
      if (!frame) {
        closeSocket(state, closeCodes.badFrame)
        return null
      }
      const connection = state.connections.get(frame.address)
      const isUpdate = frame.step === syncStep.missing || frame.step === syncStep.update
      if (connection?.document.hasConnection(connection)) {
        if (isUpdate) {
          client.lastMessageReceivedAt = Date.now()
          receiver.receive(state, frame, connection)
          return null
        }
        client.handleMessage(bytes)
        return connection.waitForPendingMessages()
      }
      if (!isBoardAddress(frame.address)) {
        // As for a board that is not there or not to be seen.
        if (frame.type === frameType.auth) {
          socket.send(
            new OutgoingMessage(frame.address).writePermissionDenied('permission-denied').toUint8Array(),
          )
          state.refusals += 1
        }
        if (frame.type !== frameType.auth || state.refusals > bounds.maxRefusals)
          closeSocket(state, closeCodes.badFrame)
      } else if (frame.step === syncStep.missing) {
        closeSocket(state, closeCodes.badFrame) // an answer to a question that nobody has asked
      } else client.handleMessage(bytes)
      return null
    }
    const intake = new Intake({
      take,
      isOpen: () => webSocket.readyState === WebSocket.OPEN,
      pause: () => webSocket.pause(),
      resume: () => webSocket.resume(),
    })
    webSocket.on('message', (data: RawData, isBinary: boolean) => {
      const bytes = data as Buffer
      if (isBinary) intake.receive(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      else closeSocket(state, closeCodes.badFrame)
    })
    webSocket.on('ping', (data) => socket.pong(data))
    webSocket.on('close', (code, reason) => {
      clearTimeout(deadline)
      sockets.remove(state)
      client.handleClose({ code, reason: reason.toString() })
    })
    webSocket.on('error', (error) => log.debug({ err: error }, 'a socket failed'))
  }

  return {
    hocuspocus,
    upgrade(request, stream, head) {
      if (closing || !sockets.makeRoom())
        refuseUpgrade(stream, '503 Service Unavailable', 'Retry-After: 5\r\n')
      else {
        const findSession = options.sessionOf(request.headers)
        server.handleUpgrade(request, stream, head, (webSocket) => welcome(webSocket, stream, findSession))
      }
    },
    checkAccess: following.checkAccess,
    closeBoard: (boardId, reason) => closeDocument(documents.find(boardId)?.document, reason),
    isPresent: (account) => seating.isPresent(account),
    tell: (account, text) => seating.tell(account, text),
    counts: () => ({ ...sockets.counts(), ...seating.counts() }),
    async close() {
      closing = true
      following.stop()
      for (const webSocket of server.clients)
        webSocket.close(closeCodes.restart.code, closeCodes.restart.reason)
      const deadline = Date.now() + 2000
      while (server.clients.size > 0 && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 10))
      for (const webSocket of server.clients) webSocket.terminate()
    },
  }
}

/** Nothing else of the request matters after the upgrade. */
const upgradeRequest = new Request('http://localhost/collab')
