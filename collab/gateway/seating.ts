/**
 * Limits the connections of each board, account and socket. Connections are counted from the live sets at each check,
 * so an unusual end of a connection can't leave a wrong count behind.
 */
import type { Connection, Document, Extension } from '@hocuspocus/server'
import { WebSocket } from 'ws'
import { closeCodes } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { Shares } from '../../platform/work/shares.ts'
import { closeConnection, type EditorContext, type Seat } from './connection.ts'
import type { People } from '../documents/people.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import type { OpenSockets, SocketState } from './open-sockets.ts'

export interface SeatingOptions {
  sockets: OpenSockets
  bounds: GatewayBounds
  people: People
  /** Called when a connection is established and within the limits. */
  joined(connection: Connection<EditorContext>, state: SocketState): void
  /** Called when an established connection has ended. */
  left(connection: Connection<EditorContext>): void
}

/** A live list that is open on a socket. It takes a seat of its account, as a board does. */
export interface ListPlace extends Pick<Seat, 'account' | 'payer'> {
  readonly socket: unknown
  /** The only workspace that it is about. Undefined: all that the account sees. */
  readonly workspace: string | undefined
  tell(text: string): void
}

/** The account that asks for a connection. */
interface Sitter extends Pick<Seat, 'account' | 'payer'>, Pick<EditorContext, 'countedAs'> {
  readOnly: boolean
}

export class Seating {
  readonly #options: SeatingOptions
  readonly #seats: Shares<Seat | ListPlace>
  readonly #viewers: number
  readonly extension: Extension<EditorContext>

  constructor(options: SeatingOptions) {
    this.#options = options
    const { maxSocketsPerBoard, maxSocketsPerAccount } = options.bounds
    this.#seats = new Shares(maxSocketsPerAccount)
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
    return this.#seats.hasRoom(sitter) && this.#fits(connections, sitter)
  }

  /** @returns false when the account has no seat left */
  takeList(list: ListPlace): boolean {
    if (!this.#seats.hasRoom(list)) return false
    this.#seats.add(list)
    return true
  }

  leaveList(list: ListPlace): void {
    this.#seats.remove(list)
  }

  counts(): { connections: number; accounts: number } {
    const { held, accounts } = this.#seats.counts()
    return { connections: held, accounts }
  }

  isPresent(account: string): boolean {
    return this.#seats.of(account).size > 0
  }

  /**
   * Sends a stateless message about a workspace once to each open socket of the account, however many boards it has open:
   * to a list, if the socket has one that is about the workspace.
   */
  tell(account: string, workspace: string | null, text: string): void {
    const told = new Set<unknown>()
    const places = [...this.#seats.of(account)]
    const lists = places.filter(isList).filter((list) => [undefined, workspace].includes(list.workspace))
    for (const list of lists) {
      if (told.has(list.socket)) continue
      told.add(list.socket)
      list.tell(text)
    }
    for (const place of places) {
      const connection = isList(place) ? null : place.connection
      if (!connection || told.has(connection.webSocket)) continue
      told.add(connection.webSocket)
      connection.sendStateless(text)
    }
  }

  #take(seat: Seat, connection: Connection<EditorContext>): void {
    const { sockets, bounds } = this.#options
    const state = sockets.of(connection)
    if (!state) return // the socket is gone
    if (!connection.document.hasConnection(connection)) {
      this.#release(seat, state) // the client left before the connection was established
      return
    }
    seat.connection = connection
    state.connections.set(connection.messageAddress, connection)
    this.#seats.add(seat)
    // Many connections may have been admitted at the same moment. Compare each one only with those that were admitted
    // before it, whatever the order of these calls. Otherwise more connections than the excess would be closed.
    const { payer } = seat
    const { countedAs, isAgent } = connection.context as EditorContext
    const isTooMany =
      !this.#fits(before(connection, connection.document.connections.keys()), {
        ...{ account: seat.account, countedAs, payer },
        readOnly: connection.readOnly,
      }) ||
      this.#seats.isBeyond(seat) ||
      state.connections.size > bounds.maxBoardsPerSocket
    if (!isTooMany) {
      if (!isAgent) this.#options.people.joined(connection.document.name, seat.account)
      this.#options.joined(connection, state)
      return
    }
    this.#seats.remove(seat)
    closeConnection(connection, closeCodes.tooMany)
  }

  /**
   * Whether a board has room for one more connection besides `others`. A share of the places is reserved for writers.
   */
  #fits(others: Iterable<Connection>, { account, countedAs, payer, readOnly }: Sitter): boolean {
    const { maxSocketsPerBoard, maxSocketsPerAccountOnBoard } = this.#options.bounds
    let all = 0
    let viewers = 0
    let ofLink = 0
    let ofAccount = 0
    for (const other of others as Iterable<Connection<EditorContext>>) {
      all += 1
      if (other.readOnly) viewers += 1
      if (other.context.countedAs === countedAs) ofLink += 1
      if (other.context.account === account) ofAccount += 1
    }
    return (
      all < maxSocketsPerBoard &&
      ofLink < maxSocketsPerAccountOnBoard &&
      ofAccount < maxSocketsPerAccountOnBoard * (payer === null ? 1 : limits.sessions.userShare) &&
      (!readOnly || viewers < this.#viewers)
    )
  }

  #leave(seat: Seat): void {
    const { connection } = seat
    if (!connection) return
    seat.connection = null
    this.#options.left(connection)
    if (this.#seats.of(seat.account).has(seat) && !(connection.context as EditorContext).isAgent)
      this.#options.people.left(connection.document.name, seat.account)
    this.#seats.remove(seat)
    const state = this.#options.sockets.of(connection)
    this.#release(seat, state)
    const address = connection.messageAddress
    if (state?.connections.get(address) !== connection) return
    state.connections.delete(address)
    state.socket.forget(address)
  }

  /** Ends the hold of a connection that has ended. On a socket that is being closed, it ends when the socket is gone. */
  #release({ hold }: Seat, state: SocketState | undefined): void {
    if (state && state.socket.readyState !== WebSocket.OPEN) hold.closing()
    else {
      hold.end()
      state?.holds.delete(hold)
    }
  }
}

const isList = (place: Seat | ListPlace): place is ListPlace => 'tell' in place

/** The share of a board's places that is reserved for accounts that may write. */
const shareOfWriters = 0.1

/** The elements of `all` before `one`. */
function* before<T>(one: T, all: Iterable<T>): Iterable<T> {
  for (const other of all) {
    if (other === one) return
    yield other
  }
}
