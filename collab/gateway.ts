/**
 * The gateway: sockets at /collab, spoken to in the Hocuspocus protocol. Document name = board id, token = an access
 * token. The hooks, in the order in which they run, are the list `extensions` in `openGateway`.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Hocuspocus, type Connection, type Extension } from '@hocuspocus/server'
import { WebSocketServer, type RawData } from 'ws'
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
} from './admit.ts'
import type { CommitQueue } from './commit.ts'
import type { Documents } from './documents.ts'
import { closeConnection, type EditorContext } from './connection.ts'
import { EditorSocket, type Acknowledge } from './socket.ts'
import { DocumentStore } from './store.ts'
import { follow } from './follow.ts'

export interface GatewayOptions {
  database: Database
  tokens: TokenVerifier
  documents: Documents
  queue: CommitQueue
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

interface ExpectedFrame {
  update: Uint8Array
  before: Pending
}

export function openGateway(options: GatewayOptions): Gateway {
  const { database, tokens, documents, queue, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const sockets = new Map<EditorSocket, Map<string, ExpectedFrame>>()
  const perAccount = new Map<string, number>()
  let closing = false

  const authenticate: Extension<EditorContext> = {
    extensionName: 'authenticate',
    async onAuthenticate({ token, documentName, connectionConfig }) {
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
      if (documents.find(documentName)?.queue.stalled) throw denied('service unavailable')
      connectionConfig.readOnly = access === 'read'
      return { account: principal.userId, tokenId: principal.tokenId }
    },
    async connected({ context }) {
      perAccount.set(context.account, (perAccount.get(context.account) ?? 0) + 1)
    },
    async onDisconnect({ context }) {
      const left = (perAccount.get(context.account) ?? 1) - 1
      if (left > 0) perAccount.set(context.account, left)
      else perAccount.delete(context.account)
    },
  }

  const admit: Extension<EditorContext> = {
    extensionName: 'admit',
    async beforeSync({ type, payload, document, documentName, connection }) {
      if (type === 0 || connection.readOnly) return
      const board = documents.find(documentName)
      const refused =
        !board || board.queue.editBytes > bounds.maxQueuedBytes
          ? closeCodes.tryLater
          : refuseUpdate(document, board.sizeBytes, payload, bounds)
      if (refused) {
        log.warn(
          { boardId: documentName, account: connection.context.account, code: refused.code },
          'an editor’s update was refused',
        )
        throw cutOff(connection, refused)
      }
      framesOf(connection)?.set(connection.messageAddress, { update: payload, before: pendingOf(document) })
    },
  }

  /** After an update was applied, and before its acknowledgement may go out. */
  const acknowledge: Acknowledge = (socket, address) => {
    const boardId = address.slice(0, 36)
    const board = documents.find(boardId)
    if (!board) return null
    const frames = sockets.get(socket)
    const expected = frames?.get(address)
    if (expected) {
      frames?.delete(address)
      const after = pendingOf(board.document)
      if (!samePending(expected.before, after)) {
        if (pendingBytes(after) > bounds.maxPendingBytes) {
          restorePending(board.document, expected.before) // it is not in the log, so it must not be in memory
          socket.close(closeCodes.tooBig.code, closeCodes.tooBig.reason)
          return null
        }
        const connection = board.document
          .getConnections()
          .find((open) => (open.webSocket as unknown) === socket) as Connection<EditorContext> | undefined
        queue.edit(board.queue, expected.update, connection?.context.account ?? noAccount)
      }
    }
    return { queue: board.queue, mark: board.queue.queuedMark }
  }

  const framesOf = (connection: Connection) => sockets.get(connection.webSocket as unknown as EditorSocket)

  const hocuspocus = new Hocuspocus<EditorContext>({
    extensions: [authenticate, admit, new DocumentStore(documents, queue), documents.extension],
    debounce: Math.min(options.debounceMs ?? 1000, 2000),
    maxDebounce: options.debounceMs ?? 2000,
    unloadImmediately: true,
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
        sockets.set(socket, new Map())
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
          client.handleMessage(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
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

const noAccount = '00000000-0000-0000-0000-000000000000'

function cutOff(connection: Connection, reason: { code: number; reason: string }): Error {
  connection.webSocket.close(reason.code, reason.reason)
  return Object.assign(new Error(''), reason)
}

/** Hocuspocus tells the client the reason; an error without a message is not printed. */
function denied(reason: string): Error {
  return Object.assign(new ServiceError('forbidden', ''), { reason })
}
