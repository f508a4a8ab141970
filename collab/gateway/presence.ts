/**
 * Presence (awareness): each user's cursor and selection on a board. The service keeps the newest state of each client
 * as the received bytes. It sends all changes of a board as one frame per tick. It bypasses Hocuspocus, which builds a
 * temporary document for each frame and relays each frame alone.
 *
 * A state stays in memory as long as its connection is open. So a connection may have only a few small states, and none
 * of another account. Bytes that are kept are copied: a frame is a slice of the socket's read buffer, and keeping the
 * slice would keep the whole buffer.
 */
import type { Connection, Document, Extension } from '@hocuspocus/server'
import { isPlainObject } from '../../core/card-values.ts'
import { closeCodes } from '../../core/errors.ts'
import { closeConnection, type EditorContext, type Seat } from './connection.ts'
import { awarenessFrame, readAwareness, writeAwareness, type ReceivedState } from './protocol.ts'

export interface PresenceBounds {
  /** States of one connection. An editor has one. */
  maxStatesPerConnection: number
  /** Size of one state's JSON. */
  maxStateBytes: number
  /** Total size of one board's states. */
  maxBoardStateBytes: number
  /** Time between two awareness frames of a board. After a quiet time the next frame leaves at once. */
  awarenessTickMs: number
  /**
   * A state that its client has not renewed for this long is removed, as in y-protocols. The provider renews its state
   * every 15 s.
   */
  renewWithinMs: number
}

/** A mere renewal contains nothing new, so it may wait this long to be sent with other changes. */
const renewalMs = 1000
const maxStateDepth = 16
/** The largest share of main-thread time for sending one board's frames. */
const broadcastShare = 0.1
/** The cost of sending a frame to one socket: a write, and a copy of its bytes. Measured on Linux. */
const sendMs = 0.012
const sendMsPerByte = 3e-7
/** Milliseconds of work in one unit of an account's awareness rate. */
const unitMs = 0.05

interface State {
  clock: number
  /** UTF-8 of a JSON object. */
  json: Uint8Array
  seat: Seat
  renewedAt: number
}

/** The states of a board. */
interface Room {
  document: Document
  states: Map<number, State>
  bytes: number
  /** Clients with unsent changes, each with its last clock and its seat. A client without a state has left. */
  changed: Map<number, { clock: number; seat: Seat }>
  /** The newest frame of each connection whose account is over its rate. */
  late: Map<Connection<EditorContext>, Uint8Array>
  timer: { handle: NodeJS.Timeout; isUrgent: boolean } | null
  /** Whether the changes contain more than renewals. */
  isUrgent: boolean
  /** `performance.now()` from which the next frame may be sent. */
  nextAt: number
}

type EditorConnection = Connection<EditorContext>

export class Presence {
  readonly #bounds: PresenceBounds
  readonly #rooms = new Map<Document, Room>()
  readonly extension: Extension<EditorContext>

  constructor(bounds: PresenceBounds) {
    this.#bounds = bounds
    this.extension = {
      extensionName: 'presence',
      onDisconnect: async ({ document, context }) => this.#leave(document, context.seat),
    }
  }

  /** The number of states of all boards. */
  get states(): number {
    return [...this.#rooms.values()].reduce((sum, { states }) => sum + states.size, 0)
  }

  /** Handles an awareness frame's payload. Above the account's rate only the newest payload is kept, and read later. */
  receive(connection: EditorConnection, payload: Uint8Array): void {
    const room = this.#roomOf(connection.document)
    if (!room.late.has(connection) && connection.context.seat.rates.awareness.take(costOf(payload)))
      this.#read(room, connection, payload)
    else room.late.set(connection, payload.slice())
    this.#schedule(room)
  }

  /** Sends all states of a board to a connection. */
  sendAll(connection: EditorConnection): void {
    const room = this.#rooms.get(connection.document)
    if (!room || room.states.size === 0) return
    const clients = [...room.states].map(([client, { clock }]) => ({ client, clock }))
    connection.send(awarenessFrame(connection.messageAddress, statesOf(room, clients)))
  }

  /** The size in bytes of all states of a board, which `sendAll` sends. */
  bytesOf(document: Document): number {
    return this.#rooms.get(document)?.bytes ?? 0
  }

  /** Removes the states that were not renewed in time. */
  sweep(): void {
    const oldest = Date.now() - this.#bounds.renewWithinMs
    for (const room of this.#rooms.values()) {
      for (const [client, { renewedAt, seat }] of room.states)
        if (renewedAt < oldest) this.#remove(room, client, seat)
      this.#schedule(room)
    }
  }

  #roomOf(document: Document): Room {
    let room = this.#rooms.get(document)
    if (!room) {
      room = {
        document,
        states: new Map(),
        bytes: 0,
        changed: new Map(),
        late: new Map(),
        timer: null,
        isUrgent: false,
        nextAt: 0,
      }
      this.#rooms.set(document, room)
    }
    return room
  }

  /** Reads a payload. States beyond the limits are skipped; the others are kept. */
  #read(room: Room, connection: EditorConnection, payload: Uint8Array): void {
    const { seat } = connection.context
    try {
      for (const [client, entry] of readAwareness(payload)) {
        const known = room.states.get(client)
        if (!this.#maySpeakFor(seat, client, known)) continue
        const state = readState(entry.json, this.#bounds.maxStateBytes)
        if (state === 'gone') {
          if (known?.seat === seat && entry.clock >= known.clock)
            this.#remove(room, client, seat, entry.clock)
        } else if (state === 'ok') this.#keep(room, client, entry, seat)
      }
    } catch {
      closeConnection(connection, closeCodes.badFrame)
    }
  }

  /**
   * Whether a connection may send this client's state. A client that reconnects may take over the state of its
   * account's earlier connection.
   */
  #maySpeakFor(seat: Seat, client: number, known: State | undefined): boolean {
    if (known?.seat === seat) return true
    if (known && known.seat.account !== seat.account) return false
    return seat.clients.size < this.#bounds.maxStatesPerConnection
  }

  #keep(room: Room, client: number, { clock, json }: ReceivedState, seat: Seat): void {
    const known = room.states.get(client)
    const grows = json.byteLength - (known?.json.byteLength ?? 0)
    if (room.bytes + grows > this.#bounds.maxBoardStateBytes) return
    if (known && known.seat !== seat) {
      known.seat.clients.delete(client)
      known.seat = seat
    }
    seat.clients.add(client)
    if (known && clock <= known.clock) return
    if (!known || Buffer.compare(known.json, json) !== 0) room.isUrgent = true
    room.bytes += grows
    room.states.set(client, { clock, json: json.slice(), seat, renewedAt: Date.now() })
    room.changed.set(client, { clock, seat })
  }

  #remove(room: Room, client: number, seat: Seat, clock?: number): void {
    const state = room.states.get(client)
    if (!state) return
    room.bytes -= state.json.byteLength
    room.states.delete(client)
    seat.clients.delete(client)
    room.changed.set(client, { clock: clock ?? state.clock, seat })
    room.isUrgent = true
  }

  #leave(document: Document, seat: Seat): void {
    const room = this.#rooms.get(document)
    if (!room) return
    for (const client of seat.clients) this.#remove(room, client, seat)
    for (const connection of room.late.keys())
      if (connection.context.seat === seat) room.late.delete(connection)
    this.#schedule(room)
  }

  #schedule(room: Room): void {
    const isUrgent = room.isUrgent || room.late.size > 0
    if (room.timer && (!isUrgent || room.timer.isUrgent)) return
    if (room.timer) clearTimeout(room.timer.handle)
    room.timer = null
    if (isUrgent || room.changed.size > 0) {
      const ms = Math.max(isUrgent ? 0 : renewalMs, room.nextAt - performance.now())
      room.timer = { handle: setTimeout(() => this.#tick(room), ms), isUrgent }
    } else if (room.states.size === 0) this.#rooms.delete(room.document)
  }

  #tick(room: Room): void {
    room.timer = null
    for (const [connection, payload] of room.late) {
      if (!connection.context.seat.rates.awareness.take(costOf(payload))) continue
      room.late.delete(connection)
      this.#read(room, connection, payload)
    }
    const sentMs = this.#send(room)
    room.nextAt = performance.now() + Math.max(this.#bounds.awarenessTickMs, sentMs / broadcastShare)
    this.#schedule(room)
  }

  /** Sends the changes to the board's connections. Returns the estimated time in milliseconds. */
  #send(room: Room): number {
    if (room.changed.size === 0) return 0
    const changed = [...room.changed].map(([client, { clock }]) => ({ client, clock }))
    const speakers = new Set([...room.changed.values()].map(({ seat }) => seat))
    const onlySpeaker = speakers.size === 1 ? [...speakers][0] : null // it doesn't need its own state
    room.changed.clear()
    room.isUrgent = false
    room.document.flush() // first the edits: a cursor may refer to them
    const update = statesOf(room, changed)
    let address = ''
    let frame: Uint8Array = update
    for (const connection of [...room.document.connections.keys()] as EditorConnection[]) {
      if (connection.context.seat === onlySpeaker) continue
      if (connection.messageAddress !== address) {
        address = connection.messageAddress
        frame = awarenessFrame(address, update)
      }
      connection.send(frame)
    }
    const tookMs = room.document.connections.size * (sendMs + update.byteLength * sendMsPerByte)
    const accounts = new Set([...speakers].map(({ rates }) => rates))
    for (const { awareness } of accounts) awareness.spend(tookMs / unitMs / accounts.size)
    return tookMs
  }
}

/** The cost of reading a payload: it grows with the size. */
const costOf = (payload: Uint8Array): number => 1 + payload.byteLength / 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Checks a state. Throws when it isn't JSON in UTF-8: each client that received it would throw, too. */
function readState(json: Uint8Array, maxBytes: number): 'ok' | 'gone' | 'unfit' {
  if (json.byteLength > maxBytes) return 'unfit'
  const state: unknown = JSON.parse(utf8.decode(json))
  if (state === null) return 'gone'
  return isPlainObject(state) && isShallow(state, maxStateDepth) ? 'ok' : 'unfit'
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

/** The newest states of these clients as an awareness update. A client without a state is marked as having left. */
const statesOf = (room: Room, clients: { client: number; clock: number }[]): Uint8Array =>
  writeAwareness(
    clients.map(({ client, clock }) => ({ client, clock, json: room.states.get(client)?.json ?? null })),
  )
