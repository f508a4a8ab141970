/** The open sockets of this process, with the state of each. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '@hocuspocus/server'
import { closeCodes } from '../../core/errors.ts'
import { Shares, type Holder } from '../../platform/work/shares.ts'
import type { EditorContext } from './connection.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import { refusalFrame } from './protocol.ts'
import { RatesByOwner, type Rates } from './rates.ts'
import type { Hold } from '../documents/open-boards.ts'
import type { EditorSocket } from './socket.ts'

/** Looks up the session of the upgrade request's cookie. Null: the request has no session, or the session has ended. */
export type FindSession = () => Promise<{ userId: string; sessionId: string } | null>

/** A live list that is open on a socket. */
export interface OpenList {
  end(): void
}

/** The boards that are open on a socket as they were. */
export interface OpenPast {
  account: string
  /** The token with which each was opened, by frame address. */
  tokens: Map<string, string>
  end(): void
}

/** What was received before its board was open: the newest payload of each kind, by frame address. */
export interface EarlyFrames {
  awareness: Map<string, Uint8Array>
  vectors: Map<string, Uint8Array>
}

export interface SocketState {
  socket: EditorSocket
  /** The moment at which the socket shows boards; null for a socket that shows them as they are. */
  asOf: string | null
  /** The client's address. */
  address: string
  /** The account that authenticated last; null before that. */
  holder: Holder | null
  /** The rate limits of the account that authenticated last; before that, those of the address. */
  rates: Rates
  findSession: FindSession
  /** Established connections, by frame address. */
  connections: Map<string, Connection<EditorContext>>
  /** Live lists, by frame address. Null before the first: an empty map takes 200 bytes. */
  lists: Map<string, OpenList> | null
  /** Null when nobody has authenticated, and on sockets without `asOf`. */
  past: OpenPast | null
  /** The boards that are open on the socket, or about to be. They end when the socket is gone. */
  holds: Set<Hold>
  /** Attempts to open a board that are in progress. */
  attempts: number
  /** Refused attempts. */
  refusals: number
  /** Called when an attempt on an unauthenticated socket has ended. */
  attempted: (() => void) | null
  /** Null while nothing waits. */
  early: EarlyFrames | null
  /** Sends a keep-alive frame or a ping when the socket has been quiet. */
  keepAlive(now: number): void
  /**
   * Frame addresses whose next acknowledgement by Hocuspocus must not be sent, because their update is not applied. Null
   * for none.
   */
  withheld: Set<string> | null
}

type Opened = Pick<SocketState, 'socket' | 'address' | 'asOf' | 'findSession'>

/** How long clients may take to answer when all canvases are closed. */
const closeWithinMs = 1000

export class OpenSockets {
  readonly #bounds: GatewayBounds
  readonly #states = new Map<EditorSocket, SocketState>()
  /** Sockets on which nobody has authenticated yet. */
  readonly #strangers = new Set<SocketState>()
  /** The other sockets, with a board or without one. */
  readonly #known: Shares<Holder>
  readonly rates: RatesByOwner

  constructor(bounds: GatewayBounds) {
    this.#bounds = bounds
    this.#known = new Shares(bounds.maxSocketsPerAccount)
    this.rates = new RatesByOwner(bounds)
  }

  /** Adds a socket as unauthenticated. `known` changes that. */
  add({ socket, address, asOf, findSession }: Opened): SocketState {
    const state: SocketState = {
      socket,
      asOf,
      address,
      holder: null,
      rates: this.rates.of(`address ${address}`),
      findSession,
      connections: new Map(),
      lists: null,
      past: null,
      holds: new Set(),
      attempts: 0,
      refusals: 0,
      attempted: null,
      early: null,
      keepAlive: () => undefined,
      withheld: null,
    }
    this.#states.set(socket, state)
    this.#strangers.add(state)
    return state
  }

  /**
   * Records that an account has authenticated on the socket.
   *
   * @returns false when the account has too many sockets; then nothing is recorded
   */
  known(state: SocketState, { account, payer }: Holder, rates: Rates): boolean {
    const before = state.holder
    if (before?.account !== account || before.payer !== payer) {
      const holder = { account, payer }
      if (!this.#known.hasRoom(holder)) return false
      if (before) this.#known.remove(before)
      this.#known.add(holder)
      state.holder = holder
    }
    state.rates = rates
    state.socket.payFor(rates.unread)
    this.#strangers.delete(state)
    return true
  }

  isStranger(state: SocketState): boolean {
    return this.#strangers.has(state)
  }

  /** Refuses a board or a list. Closes a socket that is refused too often. */
  refuse(state: SocketState, address: string, reason: string): void {
    state.socket.send(refusalFrame(address, reason))
    state.refusals += 1
    if (state.refusals > this.#bounds.maxRefusals) closeSocket(state, closeCodes.unauthorized)
  }

  /** Removes a socket that is gone. */
  remove(state: SocketState): void {
    this.#strangers.delete(state)
    this.#states.delete(state.socket)
    if (state.holder) this.#known.remove(state.holder)
    state.holder = null
    state.socket.gone()
    for (const list of state.lists?.values() ?? []) list.end()
    state.past?.end()
    for (const hold of state.holds) hold.end()
    state.holds.clear()
  }

  find(socket: EditorSocket): SocketState | undefined {
    return this.#states.get(socket)
  }

  of(connection: Connection): SocketState | undefined {
    return this.#states.get(connection.webSocket as unknown as EditorSocket)
  }

  all(): Iterable<SocketState> {
    return this.#states.values()
  }

  /**
   * Whether there is room for one more socket from this address. If not, closes an unauthenticated socket without an
   * attempt in progress; false when there is no such socket.
   */
  makeRoom(address: string): boolean {
    const { maxSockets, maxStrangers, maxStrangersPerAddress } = this.#bounds
    const neighbours = [...this.#strangers].filter((state) => state.address === address)
    if (neighbours.length >= maxStrangersPerAddress) return this.#sendAway(neighbours)
    if (this.#states.size < maxSockets && this.#strangers.size < maxStrangers) return true
    return this.#sendAway(this.#strangers)
  }

  #sendAway(strangers: Iterable<SocketState>): boolean {
    for (const state of strangers) {
      if (state.attempts > 0) continue
      this.#strangers.delete(state)
      closeSocket(state, closeCodes.tryLater)
      return true
    }
    return false
  }

  /**
   * Closes all sockets with a canvas (1013), also those that are about to open one. Those that are not gone after a
   * while are terminated.
   */
  async closeCanvases(): Promise<void> {
    const closing = [...this.#states.values()].filter(({ holds }) => holds.size > 0)
    for (const state of closing) closeSocket(state, closeCodes.tryLater)
    const isLeft = () => closing.some((state) => this.#states.get(state.socket) === state)
    const deadline = performance.now() + closeWithinMs
    while (isLeft() && performance.now() < deadline) await delay(10)
    for (const { socket } of closing) socket.terminate()
    while (isLeft()) await delay(10)
  }

  sweepRates(): void {
    const used = new Set<Rates>()
    for (const { rates, connections } of this.#states.values()) {
      used.add(rates)
      for (const { context } of connections.values()) used.add(context.seat.rates)
    }
    this.rates.sweep(used)
  }

  figures(): { sockets: number; strangers: number } {
    return { sockets: this.#states.size, strangers: this.#strangers.size }
  }

  counts(): { sockets: number; strangers: number; unreadBytes: number } {
    return {
      ...this.figures(),
      unreadBytes: [...this.#states.keys()].reduce((sum, socket) => sum + socket.unreadBytes, 0),
    }
  }
}

export const closeSocket = (
  { socket }: SocketState,
  { code, reason }: { code: number; reason: string },
): void => socket.close(code, reason)
