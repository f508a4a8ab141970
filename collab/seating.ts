/**
 * Who has a place, by account. Counted from what is there, so that no odd end of a connection leaves a count behind.
 */
import type { Connection, Extension } from '@hocuspocus/server'
import { closeCodes } from '../core/errors.ts'
import { closeConnection, type EditorContext, type Seat } from './connection.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import type { OpenSockets } from './open-sockets.ts'

export interface SeatingOptions {
  sockets: OpenSockets
  bounds: GatewayBounds
  /** A connection that was established has ended. */
  left(connection: Connection<EditorContext>): void
}

export class Seating {
  readonly #options: SeatingOptions
  readonly #seats = new Map<string, Set<Seat>>()
  readonly extension: Extension<EditorContext>

  constructor(options: SeatingOptions) {
    this.#options = options
    this.extension = {
      extensionName: 'seating',
      connected: async ({ connection, context: { seat } }) => this.#take(seat, connection),
      onDisconnect: async ({ context: { seat } }) => this.#leave(seat),
    }
  }

  /** Of an account. */
  count(account: string): number {
    return this.#seats.get(account)?.size ?? 0
  }

  counts(): { connections: number; accounts: number } {
    return {
      connections: [...this.#seats.values()].reduce((sum, ofAccount) => sum + ofAccount.size, 0),
      accounts: this.#seats.size,
    }
  }

  isPresent(account: string): boolean {
    return this.#seats.has(account)
  }

  /** Sends a stateless message to each open socket of the account, once, whichever boards are open on it. */
  tell(account: string, text: string): void {
    const told = new Set<unknown>()
    for (const { connection } of this.#seats.get(account) ?? []) {
      if (!connection || told.has(connection.webSocket)) continue
      told.add(connection.webSocket)
      connection.sendStateless(text)
    }
  }

  #take(seat: Seat, connection: Connection<EditorContext>): void {
    const { sockets, bounds } = this.#options
    const state = sockets.of(connection)
    if (!state || !connection.document.hasConnection(connection)) return // it ended before it began
    seat.connection = connection
    state.connections.set(connection.messageAddress, connection)
    const ofAccount = this.#seats.get(seat.account) ?? new Set()
    this.#seats.set(seat.account, ofAccount.add(seat))
    // Many may have been let in at the same moment. Each is judged by its own place in the order, whose turn it is here
    // first, or those who leave for the ones behind them would be more than came too many.
    const isTooMany =
      isBeyond(connection, connection.document.connections.keys(), bounds.maxSocketsPerBoard) ||
      isBeyond(seat, ofAccount, bounds.maxSocketsPerAccount) ||
      state.connections.size > bounds.maxBoardsPerSocket
    if (!isTooMany) return
    ofAccount.delete(seat)
    closeConnection(connection, closeCodes.tooMany)
  }

  #leave(seat: Seat): void {
    const { connection } = seat
    if (!connection) return
    seat.connection = null
    this.#options.left(connection)
    const ofAccount = this.#seats.get(seat.account)
    ofAccount?.delete(seat)
    if (ofAccount?.size === 0) this.#seats.delete(seat.account)
    const state = this.#options.sockets.of(connection)
    const address = connection.messageAddress
    if (state?.connections.get(address) !== connection) return
    state.connections.delete(address)
    state.socket.forget(address)
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
