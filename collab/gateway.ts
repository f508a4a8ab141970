/**
 * The gateway: sockets at /collab, spoken to in the Hocuspocus protocol. Document name = board id, token = an access
 * token, or none for who is signed in by the socket's cookie. The hooks, in the order in which they run, are the list
 * `extensions` in `openGateway`.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Hocuspocus, OutgoingMessage, type Connection, type Extension } from '@hocuspocus/server'
import { WebSocket, WebSocketServer, type RawData, type ServerOptions } from 'ws'
import * as Y from 'yjs'
import { closeCodes } from '../core/errors.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import type { TokenVerifier } from '../sql/tokens.ts'
import { boardAccess } from './access.ts'
import { holdsUpdate } from './admit.ts'
import { applyUpdate, type ApplyBounds } from './apply.ts'
import type { CommitQueue } from './commit.ts'
import { closeConnection, type EditorContext, type Seat } from './connection.ts'
import { broadcastWindowMs, type BoardDocument } from './document.ts'
import { unavailable, type Documents } from './documents.ts'
import { follow } from './follow.ts'
import {
  boardOf,
  frameType,
  isBoardAddress,
  readFrame,
  syncStep,
  type Frame,
  type FrameBounds,
} from './frame.ts'
import { Inbox } from './inbox.ts'
import { Intake } from './intake.ts'
import type { Nodes } from './nodes.ts'
import { presence, type PresenceBounds } from './presence.ts'
import { EditorSocket, type Acknowledge, type SocketBounds } from './socket.ts'
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

export interface GatewayBounds extends ApplyBounds, FrameBounds, PresenceBounds, SocketBounds {
  maxFrameBytes: number
  /** Updates of one board that wait for what they build on. */
  maxPendingBytes: number
  maxSockets: number
  /** Sockets on which nobody has authenticated yet, and how long they have for it. */
  maxStrangers: number
  authenticationMs: number
  maxSocketsPerBoard: number
  maxSocketsPerAccount: number
  maxBoardsPerSocket: number
  /** Refused attempts to open a board before the socket is closed. */
  maxRefusals: number
}

const defaultBounds: GatewayBounds = {
  maxFrameBytes: 8 * 1024 * 1024,
  maxAwarenessBytes: 256 * 1024,
  maxStatelessBytes: 64 * 1024,
  maxUnreadBytes: 16 * 1024 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxDocumentBytes: 256 * 1024 * 1024,
  maxPendingBytes: 4 * 1024 * 1024,
  maxNesting: 200,
  maxStatesPerConnection: 4,
  maxStateBytes: 16 * 1024,
  maxSockets: 20_000,
  maxStrangers: 1000,
  authenticationMs: 15_000,
  maxSocketsPerBoard: 1000,
  maxSocketsPerAccount: 2000,
  maxBoardsPerSocket: 100,
  maxRefusals: 20,
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

/** Null when nobody is, or not any more. */
type FindSession = () => Promise<{ userId: string; sessionId: string } | null>

interface SocketState {
  socket: EditorSocket
  findSession: FindSession
  /** By address; only those that are established. */
  connections: Map<string, Connection<EditorContext>>
  /** Attempts to open a board that are under way, and those that were refused. */
  attempts: number
  refusals: number
  /** Addresses whose next acknowledgement by Hocuspocus is not true. */
  withheld: Set<string>
}

export function openGateway(options: GatewayOptions): Gateway {
  const { database, tokens, documents, queue, nodes, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const sockets = new Map<EditorSocket, SocketState>()
  const strangers = new Set<SocketState>()
  /** Who has a place, by account. Counted from what is there, so that no odd end of a connection leaves a count behind. */
  const seats = new Map<string, Set<Seat>>()
  let closing = false

  /** Throws what `denied` makes to refuse for good; anything else is a fault that may pass. */
  async function admitTo(
    boardId: string,
    token: string,
    findSession: FindSession,
  ): Promise<EditorContext & { readOnly: boolean }> {
    if (closing) throw denied(unavailable)
    const session = token === '' ? await findSession() : null
    const principal = session ? { ...session, tokenId: session.sessionId } : await tokens.verify(token)
    if (!principal) throw denied('permission-denied')
    const { userId: account, tokenId } = principal
    const [access] = await boardAccess(database, [{ account, tokenId, boardId }])
    if (access === undefined || access === 'none') throw denied('permission-denied')
    const board = documents.find(boardId)
    if (board && (board.queue.stalled || board.isDistrusted)) throw denied(unavailable)
    if ((board?.editors ?? 0) >= bounds.maxSocketsPerBoard) throw denied('too many sockets on this board')
    if ((seats.get(account)?.size ?? 0) >= bounds.maxSocketsPerAccount)
      throw denied('too many sockets of this account')
    await nodes?.opening(boardId)
    // Loaded here and not a moment later, where a failure could no longer be told from a refusal.
    await documents.withDocument(boardId, () => undefined)
    const seat: Seat = { account, connection: null, clients: new Set(), refused: 0, owed: 0 }
    return { account, tokenId, seat, readOnly: access === 'read' }
  }

  const authenticate: Extension<EditorContext> = {
    extensionName: 'authenticate',
    async onAuthenticate({ token, documentName, connectionConfig, context }) {
      const { state } = context as unknown as { state?: SocketState }
      if (!state) throw denied('permission-denied')
      state.attempts += 1
      try {
        const { readOnly, ...admitted } = await admitTo(documentName, token, state.findSession)
        connectionConfig.readOnly = readOnly
        strangers.delete(state)
        return admitted
      } catch (error) {
        if (!(error instanceof Denied)) throw Object.assign(error as Error, { reason: unavailable })
        state.refusals += 1
        if (state.refusals > bounds.maxRefusals) close(state, closeCodes.unauthorized)
        throw error
      } finally {
        state.attempts -= 1
      }
    },
  }

  const seating: Extension<EditorContext> = {
    extensionName: 'seating',
    async connected({ connection, context: { seat } }) {
      const state = stateOf(connection)
      if (!state || !connection.document.hasConnection(connection)) return // it ended before it began
      seat.connection = connection
      state.connections.set(connection.messageAddress, connection)
      const ofAccount = seats.get(seat.account) ?? new Set()
      seats.set(seat.account, ofAccount.add(seat))
      // Many may have been let in at the same moment. Each is judged by its own place in the order, whose turn it is here
      // first, or those who leave for the ones behind them would be more than came too many.
      const isTooMany =
        isBeyond(connection, connection.document.connections.keys(), bounds.maxSocketsPerBoard) ||
        isBeyond(seat, ofAccount, bounds.maxSocketsPerAccount) ||
        state.connections.size > bounds.maxBoardsPerSocket
      if (!isTooMany) return
      ofAccount.delete(seat)
      closeConnection(connection, closeCodes.tooMany)
    },
    async onDisconnect({ context: { seat } }) {
      const { connection } = seat
      if (!connection) return
      seat.connection = null
      inbox.leave(connection)
      const ofAccount = seats.get(seat.account)
      ofAccount?.delete(seat)
      if (ofAccount?.size === 0) seats.delete(seat.account)
      const state = stateOf(connection)
      const address = connection.messageAddress
      if (state?.connections.get(address) !== connection) return
      state.connections.delete(address)
      state.socket.forget(address)
    },
  }

  const inbox = new Inbox({
    apply: (board, update, account, origin) => applyUpdate(board, update, { account, origin, bounds, log }),
    maxPendingBytes: bounds.maxPendingBytes,
    broken(board, error) {
      log.error({ err: error, boardId: board.boardId }, 'a document broke; it is loaded anew from its log')
      board.distrust()
      closeBoard(board.boardId, closeCodes.tryLater)
    },
  })

  const admit: Extension<EditorContext> = {
    extensionName: 'admit',
    /** Sync frames that came before the connection was established, and state vectors. */
    async beforeSync({ type, payload, documentName, connection }) {
      if (type === syncStep.stateVector) {
        if (!isStateVector(payload)) throw cutOff(connection, closeCodes.badFrame)
        return
      }
      const state = stateOf(connection)
      if (!state) return
      if (connection.readOnly) {
        if (type === syncStep.update) connection.context.seat.refused += 1
        return
      }
      const board = documents.find(documentName)
      if (board?.document !== connection.document) throw cutOff(connection, closeCodes.tryLater)
      const frame = { connection, update: payload.slice(), socket: state.socket, counts: 1 }
      if (!inbox.receiveNow(board, frame)) state.withheld.add(connection.messageAddress)
      payload.fill(0) // an update of nothing: what Hocuspocus applies after us, it would apply unguarded
    },
  }

  /** After an update was applied, and before its acknowledgement may go out. */
  const acknowledge: Acknowledge = (socket, address) => {
    if (sockets.get(socket)?.withheld.delete(address)) return null
    const board = documents.find(boardOf(address))
    return board && !board.isDistrusted ? { queue: board.queue, mark: board.queue.queuedMark } : null
  }

  function receiveUpdate(state: SocketState, frame: Frame, connection: Connection<EditorContext>): void {
    const { socket } = state
    const { document } = connection
    const board = documents.find(document.name)
    if (board?.document !== document) close(state, closeCodes.tryLater)
    else if (connection.readOnly) answerViewer(state, frame, board, connection)
    else
      inbox.receive(board, {
        update: frame.payload,
        connection,
        socket,
        counts: countsFor(frame, connection),
      })
  }

  /** Once, but for the update that brings again what was refused before. */
  function countsFor({ step }: Frame, { context: { seat } }: Connection<EditorContext>): number {
    if (step !== syncStep.missing || seat.owed === 0) return 1
    const { owed } = seat
    seat.owed = 0
    return owed
  }

  /** A viewer's update is never applied; what the document holds already is acknowledged all the same. */
  function answerViewer(
    state: SocketState,
    { address, step, payload }: Frame,
    board: BoardDocument,
    connection: Connection<EditorContext>,
  ): void {
    let isHeld = false
    try {
      isHeld = step === syncStep.missing && holdsUpdate(board.document, payload)
    } catch {
      close(state, closeCodes.badFrame)
      return
    }
    if (step === syncStep.update) connection.context.seat.refused += 1
    state.socket.send(new OutgoingMessage(address).writeSyncStatus(isHeld).toUint8Array())
  }

  const stateOf = (connection: Connection) => sockets.get(connection.webSocket as unknown as EditorSocket)
  const close = ({ socket }: SocketState, { code, reason }: { code: number; reason: string }) =>
    socket.close(code, reason)

  function closeBoard(boardId: string, reason: { code: number; reason: string }): void {
    for (const connection of documents.find(boardId)?.document.getConnections() ?? [])
      closeConnection(connection, reason)
  }

  const hocuspocus = new Hocuspocus<EditorContext>({
    extensions: [
      authenticate,
      seating,
      admit,
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

  /** Makes room for a newcomer by sending away a stranger that keeps silent; false when there is none. */
  function makeRoom(): boolean {
    if (sockets.size < bounds.maxSockets && strangers.size < bounds.maxStrangers) return true
    for (const state of strangers) {
      if (state.attempts > 0) continue
      strangers.delete(state)
      close(state, closeCodes.tryLater)
      return true
    }
    return false
  }

  function welcome(webSocket: WebSocket, stream: Duplex, findSession: FindSession): void {
    const socket = new EditorSocket(webSocket, stream, bounds, acknowledge)
    const state: SocketState = {
      socket,
      findSession,
      connections: new Map(),
      attempts: 0,
      refusals: 0,
      withheld: new Set(),
    }
    sockets.set(socket, state)
    strangers.add(state)
    const deadline = setTimeout(() => {
      if (strangers.has(state)) close(state, closeCodes.unauthorized)
    }, bounds.authenticationMs)
    const client = hocuspocus.handleConnection(socket as never, upgradeRequest, { state } as never)

    /** Looks at a frame, and hands it to whom it concerns. */
    const take = (bytes: Uint8Array): Promise<void> | null => {
      const frame = readFrame(bytes, bounds)
      if (!frame) {
        close(state, closeCodes.badFrame)
        return null
      }
      const connection = state.connections.get(frame.address)
      const isUpdate = frame.step === syncStep.missing || frame.step === syncStep.update
      if (connection?.document.hasConnection(connection)) {
        if (isUpdate) {
          client.lastMessageReceivedAt = Date.now()
          receiveUpdate(state, frame, connection)
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
          close(state, closeCodes.badFrame)
      } else if (frame.step === syncStep.missing) {
        close(state, closeCodes.badFrame) // an answer to a question that nobody has asked
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
      else close(state, closeCodes.badFrame)
    })
    webSocket.on('ping', (data) => socket.pong(data))
    webSocket.on('close', (code, reason) => {
      clearTimeout(deadline)
      strangers.delete(state)
      sockets.delete(socket)
      client.handleClose({ code, reason: reason.toString() })
    })
    webSocket.on('error', (error) => log.debug({ err: error }, 'a socket failed'))
  }

  return {
    hocuspocus,
    upgrade(request, stream, head) {
      if (closing || !makeRoom()) refuseUpgrade(stream, '503 Service Unavailable', 'Retry-After: 5\r\n')
      else {
        const findSession = options.sessionOf(request.headers)
        server.handleUpgrade(request, stream, head, (webSocket) => welcome(webSocket, stream, findSession))
      }
    },
    checkAccess: following.checkAccess,
    closeBoard,
    isPresent: (account) => seats.has(account),
    tell(account, text) {
      const told = new Set<unknown>()
      for (const { connection } of seats.get(account) ?? []) {
        if (!connection || told.has(connection.webSocket)) continue
        told.add(connection.webSocket)
        connection.sendStateless(text)
      }
    },
    counts: () => ({
      sockets: sockets.size,
      strangers: strangers.size,
      connections: [...seats.values()].reduce((sum, ofAccount) => sum + ofAccount.size, 0),
      accounts: seats.size,
      unreadBytes: [...sockets.keys()].reduce((sum, socket) => sum + socket.unreadBytes, 0),
    }),
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

/** Whether `count` others come before it. */
function isBeyond<T>(one: T, all: Iterable<T>, count: number): boolean {
  let before = 0
  for (const other of all) {
    if (other === one) return false
    before += 1
    if (before >= count) return true
  }
  return false
}

/** Nothing else of the request matters after the upgrade. */
const upgradeRequest = new Request('http://localhost/collab')

function isStateVector(bytes: Uint8Array): boolean {
  try {
    Y.decodeStateVector(bytes)
    return true
  } catch {
    return false
  }
}

/** To be thrown out of a hook: Hocuspocus then leaves the frame alone, and prints nothing. */
function cutOff(connection: Connection, reason: { code: number; reason: string }): Error {
  closeConnection(connection, reason)
  return Object.assign(new Error(''), reason)
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
