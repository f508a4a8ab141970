/** The sockets that are open here, and what is known of each. */
import type { Connection } from '@hocuspocus/server'
import { closeCodes } from '../../core/errors.ts'
import type { EditorContext } from './connection.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import { RatesByOwner, type Rates } from './rates.ts'
import type { EditorSocket } from './socket.ts'

/** Null when nobody is signed in, or not any more. */
export type FindSession = () => Promise<{ userId: string; sessionId: string } | null>

export interface SocketState {
  socket: EditorSocket
  /** Where it comes from. */
  address: string
  /** The account's that authenticated on it last; until then the address's. */
  rates: Rates
  findSession: FindSession
  /** By address; only those that are established. */
  connections: Map<string, Connection<EditorContext>>
  /** Attempts to open a board that are under way, and those that were refused. */
  attempts: number
  refusals: number
  /** Called when the attempt of a socket on which nobody has authenticated yet has come to its end. */
  attempted: (() => void) | null
  /** Awareness that came before its board was open, by the board's address: the newest. */
  early: Map<string, Uint8Array>
  /** Says that the service is there, and asks whether the client is, when it has been quiet. */
  keepAlive(now: number): void
  /** Addresses of boards whose next acknowledgement by Hocuspocus is not true. */
  withheld: Set<string>
}

export class OpenSockets {
  readonly #bounds: GatewayBounds
  readonly #states = new Map<EditorSocket, SocketState>()
  /** Those on which nobody has authenticated yet. */
  readonly #strangers = new Set<SocketState>()
  readonly rates: RatesByOwner

  constructor(bounds: GatewayBounds) {
    this.#bounds = bounds
    this.rates = new RatesByOwner(bounds)
  }

  /** A stranger's, until `known` or its time is over. */
  add(socket: EditorSocket, address: string, findSession: FindSession): SocketState {
    const state: SocketState = {
      socket,
      address,
      rates: this.rates.of(`address ${address}`),
      findSession,
      connections: new Map(),
      attempts: 0,
      refusals: 0,
      attempted: null,
      early: new Map(),
      keepAlive: () => undefined,
      withheld: new Set(),
    }
    this.#states.set(socket, state)
    this.#strangers.add(state)
    return state
  }

  /** An account has authenticated on it. */
  known(state: SocketState, rates: Rates): void {
    state.rates = rates
    this.#strangers.delete(state)
  }

  isStranger(state: SocketState): boolean {
    return this.#strangers.has(state)
  }

  remove(state: SocketState): void {
    this.#strangers.delete(state)
    this.#states.delete(state.socket)
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

  /** For a newcomer from this address, by sending away a stranger that keeps silent; false when there is none. */
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

  sweepRates(): void {
    const used = new Set<Rates>()
    for (const { rates, connections } of this.#states.values()) {
      used.add(rates)
      for (const { context } of connections.values()) used.add(context.seat.rates)
    }
    this.rates.sweep(used)
  }

  counts(): { sockets: number; strangers: number; unreadBytes: number } {
    return {
      sockets: this.#states.size,
      strangers: this.#strangers.size,
      unreadBytes: [...this.#states.keys()].reduce((sum, socket) => sum + socket.unreadBytes, 0),
    }
  }
}

export const closeSocket = (
  { socket }: SocketState,
  { code, reason }: { code: number; reason: string },
): void => socket.close(code, reason)
