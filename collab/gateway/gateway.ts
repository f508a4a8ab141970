/**
 * The gateway: sockets at /collab and /collab/{boardId} that speak the Hocuspocus protocol. The document name is the
 * board's id. The token is an access token, or empty for a user whose cookie on the upgrade request holds a session. The
 * hooks run in the order of the list `extensions`.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Hocuspocus, type Connection } from '@hocuspocus/server'
import { WebSocketServer, type ServerOptions } from 'ws'
import type { BytesByTier } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Pace } from '../../platform/work/pace.ts'
import { payerOf } from '../../platform/work/payers.ts'
import { QueryBatch } from '../../platform/work/query-batch.ts'
import type { WorkerPool } from '../../platform/work/worker-pool.ts'
import type { Database } from '../../sql/database.ts'
import type { TokenVerifier } from '../../sql/accounts/tokens.ts'
import type { RelayOptions } from '../awareness/relay.ts'
import { boardAccess, questionKey, type AccessQuestion } from '../access.ts'
import { authentication } from './authenticate.ts'
import { closeSpread } from './close-spread.ts'
import { closeDocument, type EditorContext } from './connection.ts'
import type { DocumentQuota } from '../commit/document-quota.ts'
import { broadcastWindowMs } from '../documents/fan-out.ts'
import type { Documents } from '../documents/documents.ts'
import { Following } from './follow.ts'
import { defaultBounds, type GatewayBounds } from './gateway-bounds.ts'
import type { Nodes } from '../documents/nodes.ts'
import { OpenSockets, type FindSession, type SocketState } from './open-sockets.ts'
import { ApiPresence } from './api-presence.ts'
import { Presence } from './presence.ts'
import { Receiver } from './receive.ts'
import { roomNotice } from './room-notice.ts'
import { Seating } from './seating.ts'
import { SocketReader, type ListView, type PastView, type SocketReaderOptions } from './socket-reader.ts'
import { DocumentStore } from './store.ts'
import { asOfIn, boardOfPath, refuseUpgrade } from './upgrade.ts'

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
  past: PastView
  lists: ListView
  clock: Clock
  nodes: Nodes
  /** The time of the main thread that accounts have for changes of documents. */
  pace: Pace
  /** Sends awareness to the other nodes. */
  others: RelayOptions
  pool: WorkerPool
  log: Logger
  bounds?: Partial<GatewayBounds>
  /** Longest time between an edit and its index update. */
  debounceMs?: number
  /** Interval of the checks of open sockets. Tests set it. */
  accessCheckMs?: number
  /** Called when a socket is gone, with the code that the service or else the client closed it with. */
  onSocketClosed?(code: number): void
}

export type GatewayCounts = ReturnType<Gateway['counts']>

export class Gateway {
  readonly #options: GatewayOptions
  readonly #bounds: GatewayBounds
  readonly #sockets: OpenSockets
  readonly #receiver: Receiver
  readonly #following: Following
  readonly #server: WebSocketServer
  readonly #reading: SocketReaderOptions
  readonly #upkeep: NodeJS.Timeout
  #closing = false
  readonly hocuspocus: Hocuspocus<EditorContext>
  /** The accounts with open sockets here. */
  readonly seating: Seating
  /** Awareness of the open boards, with that of other nodes. */
  readonly presence: Presence
  /** The same for API clients. */
  readonly apiPresence: ApiPresence

  constructor(options: GatewayOptions) {
    const { documents } = options
    const bounds = { ...defaultBounds, ...options.bounds }
    this.#options = options
    this.#bounds = bounds
    this.#sockets = new OpenSockets(bounds)
    this.#receiver = new Receiver({ ...options, sockets: this.#sockets, bounds })
    this.presence = new Presence(bounds, options.others)
    this.apiPresence = new ApiPresence(this.presence, options.others, options.clock)
    this.seating = new Seating({
      ...{ sockets: this.#sockets, bounds, people: options.nodes.people },
      joined: (connection, state) => this.#joined(connection, state),
      left: (connection) => this.#receiver.leave(connection),
    })
    this.hocuspocus = this.#openHocuspocus()
    documents.attach(this.hocuspocus)
    this.#server = openSocketServer(bounds)
    this.#following = new Following({
      ...{ ...options, hocuspocus: this.hocuspocus },
      shown: () => this.apiPresence.shown(),
      rightsChanged: (connection) => this.presence.rightsChanged(connection),
    })
    this.#reading = {
      ...{ ...options, bounds, hocuspocus: this.hocuspocus, sockets: this.#sockets },
      ...{ receiver: this.#receiver, presence: this.presence, seating: this.seating },
    }
    this.#upkeep = setInterval(() => this.#keepUp(), bounds.keepAliveMs / 3)
  }

  /** Handles an upgrade request to a path of the gateway, and refuses others. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const address = this.#options.addressOf(request)
    const board = boardOfPath(request.url)
    const asOf = asOfIn(request.url)
    if (board === undefined) refuseUpgrade(stream, '404 Not Found')
    else if (this.#closing || !this.#sockets.makeRoom(address))
      refuseUpgrade(stream, '503 Service Unavailable', 'Retry-After: 5\r\n')
    else {
      const findSession = this.#options.sessionOf(request.headers)
      this.#server.handleUpgrade(request, stream, head, (webSocket) => {
        const newcomer = { webSocket, stream, address, board, asOf, findSession }
        new SocketReader(newcomer, this.#reading).start()
      })
    }
  }

  /**
   * Checks all open sockets now. Closes those that lost their access, and makes read-only those that may no longer
   * write.
   */
  checkAccess(): Promise<void> {
    return this.#following.checkAccess()
  }

  /** Checks within 50 ms. Calls in the meantime share that check. */
  checkAccessSoon(): void {
    this.#following.soon()
  }

  closeBoard(boardId: string, reason: { code: number; reason: string }): void {
    closeDocument(this.#options.documents.find(boardId)?.document, reason)
  }

  /** Closes all canvases (1013), also those that are about to open. Resolves when their sockets are gone. */
  closeCanvases(): Promise<void> {
    return this.#sockets.closeCanvases()
  }

  /** `strangers`: sockets on which nobody has authenticated. `states`: awareness in memory. `accounts` have a board open. */
  counts() {
    return { ...this.#sockets.counts(), ...this.seating.counts(), states: this.presence.states }
  }

  /** Figures that cost the same however many sockets are open. */
  figures() {
    const { frames: awareness } = this.presence
    return {
      ...this.#sockets.figures(),
      awareness: { ...awareness },
      updateBytes: this.#receiver.queuedBytes,
    }
  }

  /** Refuses new sockets and closes all others (1012), many of them over some seconds. No edit is accepted afterwards. */
  async close(): Promise<void> {
    const { clients } = this.#server
    this.#closing = true
    await closeSpread(clients, this.#bounds.closing)
    this.#following.stop()
    clearInterval(this.#upkeep)
    const deadline = Date.now() + 2000
    while (clients.size > 0 && Date.now() < deadline) await delay(10)
    for (const webSocket of clients) webSocket.terminate()
    this.presence.stop()
  }

  #openHocuspocus(): Hocuspocus<EditorContext> {
    const { database, documents, documentBytes, debounceMs } = this.#options
    const access = new QueryBatch({
      query: (questions: AccessQuestion[]) => boardAccess(database, documentBytes, questions),
      keyOf: questionKey,
      accountOf: ({ account }) => payerOf(account),
    })
    const hocuspocus = new Hocuspocus<EditorContext>({
      extensions: [
        authentication({
          ...{
            ...this.#options,
            access,
            sockets: this.#sockets,
            seating: this.seating,
            bounds: this.#bounds,
          },
          isClosing: () => this.#closing,
        }),
        this.seating.extension,
        roomNotice,
        this.#receiver.extension,
        this.presence.extension,
        new DocumentStore(documents),
        documents.extension,
      ],
      debounce: Math.min(debounceMs ?? 1000, 2000),
      maxDebounce: debounceMs ?? 2000,
      unloadImmediately: true,
      timeout: this.#bounds.silentMs,
      flushDelay: broadcastWindowMs,
      quiet: true,
      maxUnauthenticatedQueueSize: 1024 * 1024,
      // Beyond its own bound Hocuspocus closes with a code that tells clients nothing. So ours is reached first.
      maxPendingDocuments: 2 * this.#bounds.maxBoardsPerSocket,
    })
    // Remove the last extension. It holds the configuration's empty default hooks, which Hocuspocus would await for each
    // frame.
    hocuspocus.configuration.extensions.pop()
    return hocuspocus
  }

  /** Handles also what the connection's client sent before its board was open. */
  #joined(connection: Connection<EditorContext>, state: SocketState): void {
    const { messageAddress: address } = connection
    this.presence.joined(connection)
    const { early } = state
    if (!early) return
    const payload = early.awareness.get(address)
    const vector = early.vectors.get(address)
    early.awareness.delete(address)
    early.vectors.delete(address)
    if (early.awareness.size === 0 && early.vectors.size === 0) state.early = null
    if (payload) this.presence.receive(connection, payload)
    if (vector) void this.#receiver.answer(state, connection, vector)
  }

  #keepUp(): void {
    const now = Date.now()
    for (const state of this.#sockets.all()) state.keepAlive(now)
    this.presence.sweep()
    this.apiPresence.sweep()
    this.#sockets.sweepRates()
  }
}

function openSocketServer({ maxFrameBytes }: GatewayBounds): WebSocketServer {
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: true,
    autoPong: false,
    closeTimeout: 5000,
  }
  return new WebSocketServer(options)
}
