/**
 * Limits the connections of each board, account and socket. Connections are counted from the live sets at each check,
 * so an unusual end of a connection can't leave a wrong count behind.
 */
import type { Connection, Document, Extension } from '@hocuspocus/server'
import { WebSocket } from 'ws'
import { closeCodes } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { closeConnection, type EditorContext, type Seat } from './connection.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import type { OpenSockets, SocketState } from './open-sockets.ts'

export interface SeatingOptions {
  sockets: OpenSockets
  bounds: GatewayBounds
  /** Called when a connection is established and within the limits. */
  joined(connection: Connection<EditorContext>, state: SocketState): void
  /** Called when an established connection has ended. */
  left(connection: Connection<EditorContext>): void
}

/** The account that asks for a connection. */
interface Sitter extends Pick<Seat, 'account' | 'payer'>, Pick<EditorContext, 'countedAs'> {
  readOnly: boolean
}

export class Seating {
  readonly #options: SeatingOptions
  readonly #seats = new Map<string, Set<Seat>>()
  /** Seats of all minted sessions, by the owner who pays. */
  readonly #sessions = new Map<string, Set<Seat>>()
  readonly #viewers: number
  readonly extension: Extension<EditorContext>

  constructor(options: SeatingOptions) {
    this.#options = options
    const { maxSocketsPerBoard } = options.bounds
    this.#viewers = maxSocketsPerBoard - Math.floor(maxSocketsPerBoard * shareOfWriters)
    this.extension = {
      extensionName: 'seating',
      connected: async ({ connection, context: { seat } }) => this.#take(seat, connection),
      onDisconnect: async ({ context: { seat } }) => this.#leave(seat),
    }
  }

  /** Whether the account may open one more connection to the board. */
  hasRoom(document: Document | undefined, sitter: Sitter): boolean {
    const connections = (document?.connections.keys() ?? []) as Iterable<Connection<EditorContext>>
    return (
      (this.#seats.get(sitter.account)?.size ?? 0) < this.#mostSeats(sitter) &&
      (sitter.payer === null ||
        (this.#sessions.get(sitter.payer)?.size ?? 0) < this.#options.bounds.maxSocketsPerAccount) &&
      this.#fits(connections, sitter)
    )
  }

  /** One user of minted sessions has a share of the seats that all of an owner's sessions have. */
  #mostSeats({ payer }: Pick<Sitter, 'payer'>): number {
    return this.#options.bounds.maxSocketsPerAccount * (payer === null ? 1 : limits.sessions.userShare)
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

  /** Sends a stateless message once to each open socket of the account, however many boards it has open. */
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
    if (!state || !connection.document.hasConnection(connection)) return // it ended before it was established
    seat.connection = connection
    state.connections.set(connection.messageAddress, connection)
    const ofAccount = this.#seats.getOrInsertComputed(seat.account, () => new Set()).add(seat)
    // Many connections may have been admitted at the same moment. Compare each one only with those that were admitted
    // before it, whatever the order of these calls. Otherwise more connections than the excess would be closed.
    const { payer } = seat
    const { countedAs } = connection.context as EditorContext
    const ofPayer =
      payer === null ? null : this.#sessions.getOrInsertComputed(payer, () => new Set()).add(seat)
    const isTooMany =
      !this.#fits(before(connection, connection.document.connections.keys()), {
        ...{ account: seat.account, countedAs, payer },
        readOnly: connection.readOnly,
      }) ||
      isBeyond(seat, ofAccount, this.#mostSeats(seat)) ||
      (ofPayer !== null && isBeyond(seat, ofPayer, bounds.maxSocketsPerAccount)) ||
      state.connections.size > bounds.maxBoardsPerSocket
    if (!isTooMany) {
      this.#options.joined(connection, state)
      return
    }
    ofAccount.delete(seat)
    ofPayer?.delete(seat)
    closeConnection(connection, closeCodes.tooMany)
  }

  /**
   * Whether a board has room for one more connection besides `others`. A share of the places is reserved for writers.
   */
  #fits(others: Iterable<Connection>, { countedAs, payer, readOnly }: Sitter): boolean {
    const { maxSocketsPerBoard, maxSocketsPerAccountOnBoard } = this.#options.bounds
    let all = 0
    let viewers = 0
    let ofAccount = 0
    for (const other of others as Iterable<Connection<EditorContext>>) {
      all += 1
      if (other.readOnly) viewers += 1
      if (other.context.countedAs === countedAs) ofAccount += 1
    }
    return (
      all < maxSocketsPerBoard &&
      ofAccount < maxSocketsPerAccountOnBoard * (payer === null ? 1 : limits.sessions.userShare) &&
      (!readOnly || viewers < this.#viewers)
    )
  }

  #leave(seat: Seat): void {
    const { connection } = seat
    if (!connection) return
    seat.connection = null
    this.#options.left(connection)
    const ofAccount = this.#seats.get(seat.account)
    ofAccount?.delete(seat)
    if (ofAccount?.size === 0) this.#seats.delete(seat.account)
    const ofPayer = this.#sessions.get(seat.payer ?? '')
    ofPayer?.delete(seat)
    if (ofPayer?.size === 0) this.#sessions.delete(seat.payer!)
    const state = this.#options.sockets.of(connection)
    if (state && state.socket.readyState !== WebSocket.OPEN) seat.hold.closing()
    else {
      seat.hold.end()
      state?.holds.delete(seat.hold)
    }
    const address = connection.messageAddress
    if (state?.connections.get(address) !== connection) return
    state.connections.delete(address)
    state.socket.forget(address)
  }
}

/** The share of a board's places that is reserved for accounts that may write. */
const shareOfWriters = 0.1

/** The elements of `all` before `one`. */
function* before<T>(one: T, all: Iterable<T>): Iterable<T> {
  for (const other of all) {
    if (other === one) return
    yield other
  }
}

/** Whether at least `count` elements precede `one`. */
function isBeyond<T>(one: T, all: Iterable<T>, count: number): boolean {
  let others = 0
  for (const _ of before(one, all)) if (++others >= count) return true
  return false
}
