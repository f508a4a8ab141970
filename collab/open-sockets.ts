/** The sockets that are open here, and what is known of each. */
import type { Connection } from '@hocuspocus/server'
import { closeCodes } from '../core/errors.ts'
import type { EditorContext } from './connection.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import type { EditorSocket } from './socket.ts'

/** Null when nobody is signed in, or not any more. */
export type FindSession = () => Promise<{ userId: string; sessionId: string } | null>

export interface SocketState {
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

export class OpenSockets {
  readonly #bounds: GatewayBounds
  readonly #states = new Map<EditorSocket, SocketState>()
  /** Those on which nobody has authenticated yet. */
  readonly #strangers = new Set<SocketState>()

  constructor(bounds: GatewayBounds) {
    this.#bounds = bounds
  }

  /** A stranger's, until `known` or its time is over. */
  add(socket: EditorSocket, findSession: FindSession): SocketState {
    const state: SocketState = {
      socket,
      findSession,
      connections: new Map(),
      attempts: 0,
      refusals: 0,
      withheld: new Set(),
    }
    this.#states.set(socket, state)
    this.#strangers.add(state)
    return state
  }

  /** Somebody has authenticated on it. */
  known(state: SocketState): void {
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

  /** For a newcomer, by sending away a stranger that keeps silent; false when there is none. */
  makeRoom(): boolean {
    if (this.#states.size < this.#bounds.maxSockets && this.#strangers.size < this.#bounds.maxStrangers)
      return true
    for (const state of this.#strangers) {
      if (state.attempts > 0) continue
      this.#strangers.delete(state)
      closeSocket(state, closeCodes.tryLater)
      return true
    }
    return false
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
