/** Reads one socket from its opening to its end: parses its frames, meters them, and passes them on. */
import type { Duplex } from 'node:stream'
import type { Connection, Hocuspocus } from '@hocuspocus/server'
import { WebSocket, type RawData } from 'ws'
import { closeCodes } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import { IncomingOfSocket } from '../../platform/work/incoming.ts'
import { refusals } from './authenticate.ts'
import type { EditorContext } from './connection.ts'
import type { Documents } from '../documents/documents.ts'
import {
  boardOf,
  emptyAwareness,
  frameType,
  isBoardAddress,
  isListAddress,
  readFrame,
  refusalFrame,
  syncStep,
  type Frame,
} from './protocol.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import { Intake } from './intake.ts'
import { closeSocket, type FindSession, type OpenSockets, type SocketState } from './open-sockets.ts'
import type { Presence } from './presence.ts'
import type { Receiver } from './receive.ts'
import type { Seating } from './seating.ts'
import { EditorSocket } from './socket.ts'
import { ownBytes } from '../updates/own-bytes.ts'

/** Serves the live lists, which are open on sockets beside boards. */
export interface ListView {
  /** Handles a frame for a list. Returns a promise when the next frame of the socket has to wait for it. */
  take(gateway: ListHost, state: SocketState, frame: Frame): Promise<void> | null
}

/** Serves the boards as they were, on sockets of their own. */
export interface PastView {
  /** Handles a frame for a board. Returns a promise when the next frame of the socket has to wait for it. */
  take(sockets: OpenSockets, state: SocketState, frame: Frame): Promise<void> | null
}

export interface ListHost {
  sockets: OpenSockets
  seating: Seating
}

export interface SocketReaderOptions {
  hocuspocus: Hocuspocus<EditorContext>
  sockets: OpenSockets
  receiver: Receiver
  presence: Presence
  seating: Seating
  lists: ListView
  past: PastView
  documents: Documents
  bounds: GatewayBounds
  log: Logger
  /** Called when a socket is gone. The code may be any that a client sent. */
  onSocketClosed?: ((code: number) => void) | undefined
}

export interface Newcomer {
  webSocket: WebSocket
  stream: Duplex
  address: string
  /** The only board that may be opened on the socket; null for any. */
  board: string | null
  /** The moment at which the socket shows boards; null for a socket that shows them as they are. */
  asOf: string | null
  findSession: FindSession
}

/** Sending this many bytes of awareness costs as much as one more question. */
const bytesPerQuestion = 64 * 1024
/** Reading this many bytes costs as much as one more frame. */
const bytesPerFrame = 4096
/** The cost of a ping in frames: its answer is a separate write. */
const controlFrameCost = 5
/** Bytes of awareness, and of state vectors, that one socket may keep until its boards are open. */
const maxEarlyBytes = 64 * 1024

export class SocketReader {
  readonly #options: SocketReaderOptions
  readonly #newcomer: Newcomer
  readonly #socket: EditorSocket
  readonly #state: SocketState
  readonly #client: ReturnType<Hocuspocus<EditorContext>['handleConnection']>
  readonly #intake: Intake<Frame | null>
  /** Closes the socket when nobody authenticates in time. Null when somebody has. */
  #deadline: NodeJS.Timeout | null
  /** Bytes that the socket sent since it was opened, or since its last attempt to authenticate ended. */
  #strangerBytes = 0
  readonly #incoming = new IncomingOfSocket()
  /** When something came for what is open on the socket, or a token. Other frames would keep a useless socket open. */
  #heardAt = Date.now()

  constructor(newcomer: Newcomer, options: SocketReaderOptions) {
    this.#newcomer = newcomer
    this.#options = options
    const { webSocket, stream, address, asOf, findSession } = newcomer
    const { hocuspocus, sockets, receiver, documents, bounds } = options
    const tooSlow = () => {
      for (const { document } of this.#state.connections.values()) documents.find(document.name)?.missed()
    }
    const closing = () => this.#state.holds.forEach((hold) => hold.closing())
    const { acknowledge } = receiver
    this.#socket = new EditorSocket(webSocket, stream, bounds, { acknowledge, closing, tooSlow })
    this.#state = sockets.add({ socket: this.#socket, address, asOf, findSession })
    this.#state.keepAlive = (now) => this.#keepAlive(now)
    const context = { state: this.#state } as never
    this.#client = hocuspocus.handleConnection(this.#socket as never, upgradeRequest, context)
    this.#deadline = setTimeout(() => {
      if (sockets.isStranger(this.#state)) closeSocket(this.#state, closeCodes.unauthorized)
    }, bounds.authenticationMs)
    this.#intake = new Intake<Frame | null>({
      take: (frame) => this.#takeWhole(frame),
      waitMs: (frame) => (frame ? waitMs(this.#state, frame) : 0),
      socket: webSocket,
    })
  }

  start(): void {
    const { webSocket } = this.#newcomer
    const { sockets, bounds, log, onSocketClosed } = this.#options
    this.#countBytes()
    webSocket.on('message', (data: RawData, isBinary: boolean) => {
      const bytes = data as Buffer
      this.#incoming.isWhole(bytes.byteLength)
      if (isBinary)
        this.#intake.receive(
          readFrame(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), bounds),
        )
      else closeSocket(this.#state, closeCodes.badFrame)
    })
    webSocket.on('ping', (data) => {
      if (this.#takeControlFrame()) this.#socket.pong(data)
    })
    webSocket.on('pong', () => {
      if (this.#takeControlFrame() && this.#openAddress !== undefined) this.#heard()
    })
    webSocket.on('close', (code, reason) => {
      this.#stopDeadline()
      this.#incoming.payFor(null)
      sockets.remove(this.#state)
      onSocketClosed?.(this.#socket.closedWith ?? code)
      this.#client.handleClose({ code, reason: reason.toString() })
    })
    webSocket.on('error', (error) => log.debug({ err: error }, 'a socket had an error'))
  }

  /**
   * Counts every byte that the socket sends, whether in complete frames or not, because ws has one size limit for all
   * sockets. An unauthenticated one may send little, and all sockets of an account may have so much in memory.
   */
  #countBytes(): void {
    const { sockets, bounds } = this.#options
    const { webSocket, stream } = this.#newcomer
    stream.on('data', ({ byteLength }: Buffer) => {
      if (sockets.isStranger(this.#state)) {
        this.#strangerBytes += byteLength
        if (this.#strangerBytes > bounds.maxStrangerBytes && !this.#intake.isHeld)
          this.#endReading(closeCodes.tooBig)
      } else if (webSocket.readyState === WebSocket.OPEN) {
        this.#incoming.payFor(this.#state.rates.incoming)
        if (!this.#incoming.came(byteLength)) this.#refuseMore()
      }
    })
  }

  #endReading(code: { code: number; reason: string }): void {
    closeSocket(this.#state, code)
    this.#intake.hold()
    this.#newcomer.stream.end()
  }

  /** Meters a ping or pong. Above the rate the socket is not read for a while. */
  #takeControlFrame(): boolean {
    const { frames } = this.#state.rates
    if (frames.take(controlFrameCost)) return true
    if (!this.#intake.isHeld) this.#intake.rest(spread(frames.waitMs))
    return false
  }

  #takeWhole(frame: Frame | null): Promise<unknown> | null {
    const taken = this.#take(frame)
    const isDone = () => this.#incoming.done(frame?.bytes.byteLength ?? 0)
    if (taken) void taken.catch(() => undefined).then(isDone)
    else isDone()
    if (frame && (this.#incoming.hasQueued || !this.#state.connections.has(frame.address)))
      this.#countQueued()
    return taken
  }

  #take(frame: Frame | null): Promise<unknown> | null {
    const { board } = this.#newcomer
    const state = this.#state
    if (!frame) {
      closeSocket(state, closeCodes.badFrame)
      return null
    }
    if (isMetered(frame, state)) state.rates.frames.spend(1 + frame.bytes.byteLength / bytesPerFrame)
    const connection = state.connections.get(frame.address)
    if (connection?.document.hasConnection(connection)) return this.#takeFor(connection, frame)
    if (board !== null && boardOf(frame.address) !== board) closeSocket(state, closeCodes.otherBoard)
    else if (state.asOf !== null && isBoardAddress(frame.address)) return this.#takeForPast(frame)
    else if (state.asOf === null && isListAddress(frame.address)) return this.#takeForList(frame)
    else if (isBoardAddress(frame.address)) this.#takeEarly(frame)
    else this.#refuse(frame)
    return null
  }

  /** Handles a frame for a board that is open on the socket. */
  #takeFor(connection: Connection<EditorContext>, frame: Frame): Promise<unknown> | null {
    const { receiver, presence } = this.#options
    const { document } = connection
    this.#heard()
    if (frame.step === syncStep.missing || frame.step === syncStep.update) {
      return receiver.receive(this.#state, frame, connection)
    }
    if (frame.type === frameType.awareness) {
      presence.receive(connection, frame.payload)
      return null
    }
    if (frame.step === syncStep.stateVector) return receiver.answer(this.#state, connection, frame.payload)
    const { queries } = this.#state.rates
    if (frame.type === frameType.queryAwareness) {
      queries.spend(1 + presence.bytesOf(document) / bytesPerQuestion)
      presence.sendAll(connection)
      return null
    }
    queries.spend(1)
    this.#client.handleMessage(frame.bytes)
    return connection.waitForPendingMessages()
  }

  #takeForList(frame: Frame): Promise<unknown> | null {
    const { lists, sockets, seating } = this.#options
    const state = this.#state
    if (frame.type !== frameType.awareness) state.rates.queries.spend(1)
    if (state.lists?.has(frame.address)) this.#heard()
    return lists.take({ sockets, seating }, state, frame)
  }

  #takeForPast(frame: Frame): Promise<unknown> | null {
    const { past, sockets } = this.#options
    const state = this.#state
    if (frame.type !== frameType.awareness) state.rates.queries.spend(1)
    const heard = () => {
      if (state.past?.tokens.has(frame.address)) this.#heard()
    }
    heard()
    return past.take(sockets, state, frame)?.then(heard) ?? null
  }

  /** Handles a frame for a board that is not open on the socket yet. Hocuspocus queues updates. */
  #takeEarly(frame: Frame): void {
    const { bounds, sockets } = this.#options
    const state = this.#state
    const early = () => (state.early ??= { awareness: new Map(), vectors: new Map() })
    if (frame.step === syncStep.missing) {
      closeSocket(state, closeCodes.badFrame) // an answer, but the service has not asked yet
    } else if (frame.step === syncStep.stateVector) {
      const isKept = keepEarly(early().vectors, frame)
      if (!isKept || early().vectors.size > bounds.maxBoardsPerSocket) closeSocket(state, closeCodes.tooEarly)
    } else if (frame.type === frameType.awareness) keepEarly(early().awareness, frame)
    else if (frame.type !== frameType.queryAwareness) {
      if (frame.type === frameType.auth) {
        this.#heardAt = Date.now()
        if (sockets.isStranger(state)) this.#waitForAttempt()
      }
      this.#client.handleMessage(ownBytes(frame.bytes))
    }
  }

  /** Counts what Hocuspocus keeps until a board is open. */
  #countQueued(): void {
    const { getQueuedBytes } = this.#client as unknown as { getQueuedBytes(): number }
    if (!this.#incoming.queued(getQueuedBytes.call(this.#client))) this.#refuseMore()
  }

  #refuseMore(): void {
    this.#endReading(closeCodes.tryLater)
    this.#incoming.payFor(null) // nothing comes any more, and other sockets need the room
  }

  /** Stops reading an unauthenticated socket until its attempt to authenticate has ended. */
  #waitForAttempt(): void {
    this.#intake.hold()
    this.#state.attempted = () => {
      this.#state.attempted = null
      this.#strangerBytes = 0
      if (!this.#options.sockets.isStranger(this.#state)) this.#stopDeadline()
      this.#intake.release()
    }
  }

  #stopDeadline(): void {
    if (this.#deadline) clearTimeout(this.#deadline)
    this.#deadline = null
  }

  /** Refuses a frame, as for a board that does not exist or that the account may not see. */
  #refuse(frame: Frame): void {
    if (frame.type === frameType.auth) {
      this.#socket.send(refusalFrame(frame.address, refusals.board))
      this.#state.refusals += 1
    }
    if (frame.type !== frameType.auth || this.#state.refusals > this.#options.bounds.maxRefusals)
      closeSocket(this.#state, closeCodes.badFrame)
  }

  #heard(): void {
    this.#heardAt = this.#client.lastMessageReceivedAt = Date.now()
  }

  #keepAlive(now: number): void {
    const { bounds, sockets } = this.#options
    const { keepAliveMs, silentMs } = bounds
    this.#socket.closeIfStalled(now)
    if (this.#incoming.hasQueued) this.#countQueued()
    // Hocuspocus would close a socket on which no board was ever open.
    if (this.#state.lists?.size || this.#state.past) clearInterval(this.#client.pingInterval)
    const quietMs = now - this.#heardAt
    const isWaiting = sockets.isStranger(this.#state) || this.#state.attempts > 0
    if (quietMs >= silentMs && !isWaiting) closeSocket(this.#state, closeCodes.silent)
    const open = this.#openAddress
    if (open === undefined) return
    if (now - this.#socket.sentAt >= keepAliveMs) this.#socket.send(emptyAwareness(open))
    if (quietMs >= silentMs / 2) this.#newcomer.webSocket.ping()
  }

  /** The address of a board or list that is open on the socket. */
  get #openAddress(): string | undefined {
    const { connections, lists, past } = this.#state
    return [connections, lists, past?.tokens]
      .find((open) => open?.size)
      ?.keys()
      .next().value
  }
}

/**
 * Whether a frame is metered. Updates of boards are not: they wait for their commits. A list and a past moment answer them
 * at once.
 */
const isMetered = ({ step, address }: Frame, { asOf }: SocketState): boolean =>
  (step !== syncStep.missing && step !== syncStep.update) || asOf !== null || isListAddress(address)

/** Whether a frame needs an answer, or passes through Hocuspocus' hooks. */
const isQuestion = (frame: Frame, state: SocketState): boolean =>
  isMetered(frame, state) && frame.type !== frameType.awareness

function waitMs(state: SocketState, frame: Frame): number {
  const { frames, queries } = state.rates
  const ms = isMetered(frame, state) ? frames.waitMs : 0
  const longest = isQuestion(frame, state) ? Math.max(ms, queries.waitMs) : ms
  return longest && spread(longest)
}

const spreadMs = 20

/**
 * Adds a random delay. Otherwise all sockets of an account would continue at the same moment, and the first one would
 * always win.
 */
const spread = (ms: number): number => ms + Math.random() * spreadMs

/**
 * Keeps the newest payload for each board until the board is open. Drops one that does not fit. For awareness that does
 * no harm: the provider renews its state.
 *
 * @returns whether the payload was kept
 */
function keepEarly(early: Map<string, Uint8Array>, { address, payload }: Frame): boolean {
  early.delete(address)
  const bytes = [...early.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (bytes + payload.byteLength > maxEarlyBytes) return false
  early.set(address, payload.slice())
  return true
}

/** The URL and headers are placeholders: nothing reads them after the upgrade. */
const upgradeRequest = new Request('http://localhost/collab')
