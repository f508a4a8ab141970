/**
 * Sockets at `/collab?as_of=`, which show boards as they were, read-only. A past state does not change. So the service
 * sends it once and forgets it, and no document stays in memory. What the client sends is not applied, and nobody else is
 * shown.
 */
import { WebSocket, type RawData } from 'ws'
import { closeCodes, ServiceError } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import type { TokenVerifier } from '../../sql/accounts/tokens.ts'
import { identify, refusals } from '../gateway/authenticate.ts'
import { defaultBounds, type GatewayBounds } from '../gateway/gateway-bounds.ts'
import type { PastView } from '../gateway/gateway.ts'
import type { FindSession } from '../gateway/open-sockets.ts'
import {
  accessFrame,
  boardOf,
  emptyAwareness,
  frameType,
  isBoardAddress,
  readFrame,
  refusalFrame,
  syncHead,
  syncStatusFrame,
  syncStep,
  tokenIn,
  type Frame,
} from '../gateway/protocol.ts'

/** Reads a board as it was. The rights are those of `as_of` in the API. */
export interface PastBoards {
  /**
   * Returns a function that reads the state, as a Yjs update (V1).
   *
   * @throws ServiceError when the account may not see the past of the board
   */
  admit(account: string, boardId: string): Promise<(asOf: string) => Promise<Uint8Array>>
}

export interface PastSocketsOptions {
  past: PastBoards
  tokens: TokenVerifier
  log: Logger
}

interface PastSocket {
  webSocket: WebSocket
  asOf: string
  /** The only board that may be opened; null for any. */
  board: string | null
  findSession: FindSession
  openedAt: number
  /** When the last state was sent. */
  sentAt: number
  account: string | null
  /** Tokens of the boards that are open, by address. */
  tokens: Map<string, string>
  /** States that were read and not asked for yet, by address. */
  states: Map<string, Uint8Array>
  /** Frames are handled one after the other. */
  queue: Promise<void>
  queued: number
}

/** Sockets in all, of one account, and of one process that have not authenticated. */
const most = { sockets: 500, ofAccount: 20, strangers: 100, boards: 10, queued: 100 }
/** Time within which a client has to read a state. */
const readWithinMs = 60_000

export class PastSockets implements PastView {
  readonly #options: PastSocketsOptions
  readonly #bounds: GatewayBounds
  readonly #sockets = new Set<PastSocket>()

  constructor(options: PastSocketsOptions, bounds: Partial<GatewayBounds> = {}) {
    this.#options = options
    this.#bounds = { ...defaultBounds, ...bounds }
  }

  get hasRoom(): boolean {
    const strangers = [...this.#sockets].filter(({ account }) => account === null)
    return this.#sockets.size < most.sockets && strangers.length < most.strangers
  }

  open(given: Pick<PastSocket, 'webSocket' | 'asOf' | 'board' | 'findSession'>): void {
    const socket: PastSocket = {
      ...given,
      ...{ openedAt: Date.now(), sentAt: 0, account: null, tokens: new Map(), states: new Map() },
      ...{ queue: Promise.resolve(), queued: 0 },
    }
    const { webSocket } = given
    this.#sockets.add(socket)
    webSocket.on('message', (data: RawData, isBinary: boolean) => {
      const bytes = data as Buffer
      const frame = isBinary
        ? readFrame(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), this.#bounds)
        : null
      if (!frame || !isBoardAddress(frame.address)) close(socket, closeCodes.badFrame)
      else if (socket.board !== null && boardOf(frame.address) !== socket.board)
        close(socket, closeCodes.otherBoard)
      else this.#receive(socket, frame)
    })
    webSocket.on('ping', (data) => webSocket.pong(data))
    webSocket.on('close', () => this.#sockets.delete(socket))
    webSocket.on('error', (error) => this.#options.log.debug({ err: error }, 'a socket had an error'))
  }

  /** Keeps quiet sockets open. Closes those that do not authenticate, and those that do not read. */
  sweep(now: number): void {
    const { authenticationMs, keepAliveMs } = this.#bounds
    for (const socket of this.#sockets) {
      const [open] = socket.tokens.keys()
      if (socket.account === null && now - socket.openedAt > authenticationMs)
        close(socket, closeCodes.unauthorized)
      else if (socket.webSocket.bufferedAmount > 0 && now - socket.sentAt > readWithinMs)
        socket.webSocket.terminate()
      else if (open !== undefined && now - socket.openedAt > keepAliveMs)
        socket.webSocket.send(emptyAwareness(open))
    }
  }

  #receive(socket: PastSocket, frame: Frame): void {
    const { type, step, address } = frame
    if (step === syncStep.missing || step === syncStep.update) {
      socket.webSocket.send(syncStatusFrame(address, false))
      return
    }
    const isQuestion = type === frameType.auth || step === syncStep.stateVector || type === frameType.close
    if (!isQuestion) return
    const token = type === frameType.auth ? tokenIn(frame) : null
    if (type === frameType.auth && token === null) close(socket, closeCodes.badFrame)
    if (socket.queued >= most.queued) close(socket, closeCodes.tooEarly)
    if (socket.webSocket.readyState !== WebSocket.OPEN) return
    socket.queued += 1
    socket.queue = socket.queue
      .then(() => this.#take(socket, address, type, token))
      .finally(() => (socket.queued -= 1))
  }

  async #take(socket: PastSocket, address: string, type: number, token: string | null): Promise<void> {
    const { webSocket, tokens, states } = socket
    if (webSocket.readyState !== WebSocket.OPEN) return
    try {
      if (type === frameType.close) {
        tokens.delete(address)
        states.delete(address)
      } else if (token !== null) {
        states.set(address, await this.#read(socket, address, token))
        tokens.set(address, token)
        webSocket.send(accessFrame(address, true))
      } else if (tokens.has(address)) {
        const state = states.get(address) ?? (await this.#read(socket, address, tokens.get(address)!))
        states.delete(address)
        webSocket.send(Buffer.concat([syncHead(address, syncStep.missing, state.byteLength), state]))
        socket.sentAt = Date.now()
      }
    } catch (error) {
      this.#refuse(socket, address, error)
    }
  }

  /** Reads the state of a board. The token and the rights are checked each time. */
  async #read(socket: PastSocket, address: string, token: string): Promise<Uint8Array> {
    const { past } = this.#options
    const identity = await identify(this.#options.tokens, token, socket.findSession)
    if (!identity) throw new Refused(refusals.token)
    const { account } = identity
    const others = [...this.#sockets].filter((one) => one !== socket && one.account === account)
    if (others.length >= most.ofAccount || socket.tokens.size >= most.boards) throw new Refused(refusals.room)
    socket.account = account
    const read = await past.admit(account, boardOf(address)).catch((error: unknown) => {
      throw isRefusal(error) ? new Refused(refusals.board) : error
    })
    return read(socket.asOf).catch((error: unknown) => {
      throw isRefusal(error) ? new Refused(refusals.moment) : error
    })
  }

  #refuse(socket: PastSocket, address: string, error: unknown): void {
    socket.tokens.delete(address)
    socket.states.delete(address)
    if (error instanceof Refused) socket.webSocket.send(refusalFrame(address, error.reason))
    else {
      this.#options.log.warn({ err: error }, 'the past of a board could not be shown on a socket')
      close(socket, closeCodes.tryLater) // a provider takes a refusal as final, and comes back after a close
    }
  }
}

class Refused extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

const isRefusal = (error: unknown) =>
  error instanceof ServiceError && ['bad_request', 'forbidden', 'not_found'].includes(error.code)

const close = ({ webSocket }: PastSocket, { code, reason }: { code: number; reason: string }) =>
  webSocket.close(code, reason)
