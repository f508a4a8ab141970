/**
 * The gateway: sockets at /collab, spoken to in the Hocuspocus protocol. Document name = board id, token = an access
 * token. The hooks, in the order in which they run, are the list `extensions` in `openGateway`.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Hocuspocus, type Connection, type Extension, type onAuthenticatePayload } from '@hocuspocus/server'
import { WebSocketServer, type RawData } from 'ws'
import * as Y from 'yjs'
import { closeCodes, ServiceError } from '../core/errors.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import type { TokenVerifier } from '../sql/tokens.ts'
import { boardAccess } from './access.ts'
import {
  pendingBytes,
  pendingOf,
  refuseUpdate,
  restorePending,
  samePending,
  type AdmitBounds,
  type Pending,
  type Refused,
} from './admit.ts'
import type { CommitQueue } from './commit.ts'
import type { Documents } from './documents.ts'
import type { Nodes } from './nodes.ts'
import { closeConnection, comeAgain, comeAgainReason, type EditorContext } from './connection.ts'
import { broadcastWindowMs, type BoardDocument } from './document.ts'
import { Inbox, readUpdateFrame } from './inbox.ts'
import { EditorSocket, type Acknowledge } from './socket.ts'
import { DocumentStore } from './store.ts'
import { follow } from './follow.ts'

export interface GatewayOptions {
  database: Database
  tokens: TokenVerifier
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

export interface GatewayBounds extends AdmitBounds {
  maxFrameBytes: number
  maxUnreadBytes: number
  /** Edits of one board that wait for their commit. */
  maxQueuedBytes: number
  maxSocketsPerBoard: number
  maxSocketsPerAccount: number
  maxSockets: number
}

const defaultBounds: GatewayBounds = {
  maxFrameBytes: 8 * 1024 * 1024,
  maxUnreadBytes: 16 * 1024 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxDocumentBytes: 256 * 1024 * 1024,
  maxPendingBytes: 4 * 1024 * 1024,
  maxSocketsPerBoard: 1000,
  maxSocketsPerAccount: 2000,
  maxSockets: 20_000,
}

export interface Gateway {
  hocuspocus: Hocuspocus<EditorContext>
  /** Takes over an upgrade request. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void
  /** Looks at all open sockets now: closes or turns read-only those whose access has changed. */
  checkAccess(): Promise<void>
  closeBoard(boardId: string, reason: { code: number; reason: string }): void
  /** Closes all sockets (1012), after which no edit comes in. */
  close(): Promise<void>
}

const boardIdPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

interface SocketState {
  /** By address: the update that Hocuspocus is about to apply. */
  expected: Map<string, ExpectedFrame>
  connections: Map<string, Connection<EditorContext>>
}

interface ExpectedFrame {
  update: Uint8Array
  before: Pending
}

export function openGateway(options: GatewayOptions): Gateway {
  const { database, tokens, documents, queue, nodes, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const sockets = new Map<EditorSocket, SocketState>()
  const perAccount = new Map<string, number>()
  let closing = false

  const authenticate: Extension<EditorContext> = {
    extensionName: 'authenticate',
    onAuthenticate: (payload) => authenticateEditor(payload).catch(comeAgain),
    async connected({ context }) {
      perAccount.set(context.account, (perAccount.get(context.account) ?? 0) + 1)
    },
    async onDisconnect({ context }) {
      const left = (perAccount.get(context.account) ?? 1) - 1
      if (left > 0) perAccount.set(context.account, left)
      else perAccount.delete(context.account)
    },
  }

  async function authenticateEditor(payload: onAuthenticatePayload): Promise<EditorContext> {
    const { token, documentName, connectionConfig } = payload
    if (closing) throw denied('service restart')
    const principal = await tokens.verify(token)
    if (!principal || !boardIdPattern.test(documentName)) throw denied('permission-denied')
    const question = { account: principal.userId, tokenId: principal.tokenId, boardId: documentName }
    const [access] = await boardAccess(database, [question])
    if (access === undefined || access === 'none') throw denied('permission-denied')
    if ((documents.find(documentName)?.editors ?? 0) >= bounds.maxSocketsPerBoard)
      throw denied('too many sockets on this board')
    if ((perAccount.get(principal.userId) ?? 0) >= bounds.maxSocketsPerAccount)
      throw denied('too many sockets of this account')
    if (documents.find(documentName)?.queue.stalled) throw denied(comeAgainReason)
    await nodes?.opening(documentName)
    connectionConfig.readOnly = access === 'read'
    return { account: principal.userId, tokenId: principal.tokenId }
  }

  /** Whether an update may be applied; if not, who sent it is cut off. */
  function admitUpdate(
    boardId: string,
    connection: Connection<EditorContext>,
    update: Uint8Array,
  ): Refused | null {
    const board = documents.find(boardId)
    const refused =
      !board || board.queue.editBytes > bounds.maxQueuedBytes
        ? closeCodes.tryLater
        : refuseUpdate(board.document, board.sizeBytes, update, bounds)
    if (!refused) return null
    log.warn(
      { boardId, account: connection.context.account, code: refused.code },
      'an editor’s update was refused',
    )
    connection.webSocket.close(refused.code, refused.reason)
    return refused
  }

  /** What of an applied update waits for missing structs is in no 'update' event, and is queued here. False: too much. */
  function keepPending(board: BoardDocument, before: Pending, update: Uint8Array, account: string): boolean {
    const after = pendingOf(board.document)
    if (samePending(before, after)) return true
    if (pendingBytes(after) > bounds.maxPendingBytes) {
      restorePending(board.document, before) // it is not in the log, so it must not be in memory
      return false
    }
    queue.edit(board.queue, update, [account])
    return true
  }

  const inbox = new Inbox({
    admit: (board, { connection, update }) => admitUpdate(board.boardId, connection, update) === null,
    apply(board, { connection, socket, update }, origin) {
      const before = pendingOf(board.document)
      try {
        Y.applyUpdate(board.document, update, origin)
      } catch (error) {
        // What it had integrated by then is in memory, and so in the log.
        log.warn(
          { err: error, boardId: board.boardId, account: connection.context.account },
          'an editor’s update broke off',
        )
        socket.close(closeCodes.badFrame.code, closeCodes.badFrame.reason)
        return false
      }
      if (keepPending(board, before, update, connection.context.account)) return true
      socket.close(closeCodes.tooBig.code, closeCodes.tooBig.reason)
      return false
    },
  })

  const admit: Extension<EditorContext> = {
    extensionName: 'admit',
    async beforeSync({ type, payload, document, documentName, connection }) {
      if (type === 0 || connection.readOnly) return
      const refused = admitUpdate(documentName, connection, payload)
      if (refused) throw Object.assign(new Error(''), refused)
      stateOf(connection)?.expected.set(connection.messageAddress, {
        update: payload,
        before: pendingOf(document),
      })
    },
    async connected({ connection }) {
      stateOf(connection)?.connections.set(connection.messageAddress, connection)
    },
  }

  /** After Hocuspocus has applied an update, and before its acknowledgement may go out. */
  const acknowledge: Acknowledge = (socket, address) => {
    const board = documents.find(address.slice(0, 36))
    const state = sockets.get(socket)
    if (!board || !state) return null
    const expected = state.expected.get(address)
    state.expected.delete(address)
    const account = state.connections.get(address)?.context.account
    if (expected && account !== undefined && !keepPending(board, expected.before, expected.update, account)) {
      socket.close(closeCodes.tooBig.code, closeCodes.tooBig.reason)
      return null
    }
    return { queue: board.queue, mark: board.queue.queuedMark }
  }

  /** The short way for an update; false when it has to go through Hocuspocus. */
  function receiveUpdate(socket: EditorSocket, bytes: Uint8Array): boolean {
    const frame = readUpdateFrame(bytes)
    const connection = frame ? sockets.get(socket)?.connections.get(frame.address) : undefined
    if (!frame || !connection || connection.readOnly || isBusy(connection)) return false
    const board = documents.find(connection.document.name)
    if (board?.document !== connection.document || !board.document.hasConnection(connection)) return false
    inbox.receive(board, { update: frame.update, connection, socket })
    return true
  }

  const stateOf = (connection: Connection) => sockets.get(connection.webSocket as unknown as EditorSocket)

  const hocuspocus = new Hocuspocus<EditorContext>({
    extensions: [authenticate, admit, new DocumentStore(documents, queue), documents.extension],
    debounce: Math.min(options.debounceMs ?? 1000, 2000),
    maxDebounce: options.debounceMs ?? 2000,
    unloadImmediately: true,
    flushDelay: broadcastWindowMs,
    quiet: true,
  })
  // The last extension is made of the configuration's empty default hooks; they would only be awaited, for each frame.
  hocuspocus.configuration.extensions.pop()
  documents.attach(hocuspocus)

  const server = new WebSocketServer({
    noServer: true,
    maxPayload: bounds.maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: true,
  })
  const following = follow({ hocuspocus, database, documents, log, intervalMs: options.accessCheckMs ?? 750 })

  return {
    hocuspocus,
    upgrade(request, stream, head) {
      if (closing || sockets.size >= bounds.maxSockets) {
        stream.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n\r\n')
        return
      }
      server.handleUpgrade(request, stream, head, (webSocket) => {
        const socket = new EditorSocket(webSocket, stream, bounds, acknowledge)
        sockets.set(socket, { expected: new Map(), connections: new Map() })
        const headers = new Headers()
        for (const [name, value] of Object.entries(request.headers))
          if (typeof value === 'string') headers.set(name, value)
        const client = hocuspocus.handleConnection(
          socket as never,
          new Request('http://localhost/collab', { headers }),
        )
        webSocket.on('message', (data: RawData, isBinary: boolean) => {
          if (!isBinary) {
            socket.close(closeCodes.badFrame.code, closeCodes.badFrame.reason)
            return
          }
          const bytes = data as Buffer
          const frame = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
          if (receiveUpdate(socket, frame)) client.lastMessageReceivedAt = Date.now()
          else client.handleMessage(frame)
        })
        webSocket.on('close', (code, reason) => {
          sockets.delete(socket)
          client.handleClose({ code, reason: reason.toString() })
        })
        webSocket.on('error', (error) => log.debug({ err: error }, 'a socket failed'))
      })
    },
    checkAccess: following.checkAccess,
    closeBoard(boardId, reason) {
      for (const connection of documents.find(boardId)?.document.getConnections() ?? [])
        closeConnection(connection, reason)
    },
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

/** Frames of one connection are taken in order: while Hocuspocus is at work on earlier ones, the next goes there too. */
function isBusy(connection: Connection): boolean {
  return (connection as unknown as { messageQueue: unknown[] }).messageQueue.length > 0
}

/** Hocuspocus tells the client the reason; an error without a message is not printed. */
function denied(reason: string): Error {
  return Object.assign(new ServiceError('forbidden', ''), { reason })
}
