/**
 * Presence (awareness): each user's cursor and selection on a board. The service keeps the newest state of each client
 * as the received bytes, with the stamp of who sent it. It sends all changes of a board as one frame per tick. It
 * bypasses Hocuspocus, which builds a temporary document for each frame and relays each frame alone.
 *
 * A state stays in memory as long as its connection is open. So a connection may have only a few small states, and none
 * of another account. Bytes that are kept are copied: a frame is a slice of the socket's read buffer, and keeping the
 * slice would keep the whole buffer.
 */
import type { Connection, Document, Extension } from '@hocuspocus/server'
import { isPlainObject } from '../../core/card-values.ts'
import { closeCodes } from '../../core/errors.ts'
import { AwarenessRoom, type State } from './awareness-room.ts'
import { closeConnection, type EditorContext, type Seat } from './connection.ts'
import { awarenessFrame, readAwareness, writeAwareness } from './protocol.ts'

export interface PresenceBounds {
  /** States of one connection. An editor has one. */
  maxStatesPerConnection: number
  /** Size of one state's JSON, without the service's stamp. */
  maxStateBytes: number
  /** Total size of one board's states, without the service's stamps. */
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

/** A board with its next frame. */
interface Room {
  awareness: AwarenessRoom
  /** The newest frame of each connection whose account is over its rate. */
  late: Map<EditorConnection, Uint8Array>
  timer: { handle: NodeJS.Timeout; isUrgent: boolean } | null
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
    return [...this.#rooms.values()].reduce((sum, { awareness }) => sum + awareness.states.size, 0)
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
    const awareness = this.#rooms.get(connection.document)?.awareness
    if (!awareness || awareness.states.size === 0) return
    connection.send(awarenessFrame(connection.messageAddress, awareness.encode(awareness.states)))
  }

  /** The size in bytes of all states of a board, without the stamps. */
  bytesOf(document: Document): number {
    return this.#rooms.get(document)?.awareness.bytes ?? 0
  }

  /** Sends the connection's states again, after its right to write has changed. */
  rightsChanged(connection: EditorConnection): void {
    const { seat } = connection.context
    seat.stamp.update({ readOnly: connection.readOnly })
    const room = this.#rooms.get(connection.document)
    if (!room) return
    tellClocks(connection, room.awareness.stampAgain(seat))
    this.#schedule(room)
  }

  /** Removes the states that were not renewed in time. */
  sweep(): void {
    const oldest = Date.now() - this.#bounds.renewWithinMs
    for (const room of this.#rooms.values()) {
      for (const [client, { renewedAt, seat }] of room.awareness.states)
        if (renewedAt < oldest) room.awareness.remove(client, seat)
      this.#schedule(room)
    }
  }

  #roomOf(document: Document): Room {
    let room = this.#rooms.get(document)
    if (!room) {
      room = { awareness: new AwarenessRoom(document), late: new Map(), timer: null, nextAt: 0 }
      this.#rooms.set(document, room)
    }
    return room
  }

  /** Reads a payload. States beyond the limits are skipped; the others are kept. */
  #read({ awareness }: Room, connection: EditorConnection, payload: Uint8Array): void {
    const { seat } = connection.context
    const { maxStateBytes, maxBoardStateBytes } = this.#bounds
    const ahead: ClientClock[] = []
    try {
      for (const [client, entry] of readAwareness(payload)) {
        const known = awareness.states.get(client)
        if (!this.#maySpeakFor(seat, client, known)) continue
        const state = readState(entry.json, maxStateBytes)
        if (state === 'gone') {
          if (known?.seat === seat && entry.clock >= known.clientClock)
            awareness.remove(client, seat, entry.clock)
        } else if (state !== 'unfit') {
          const clock = awareness.keep(client, { ...entry, state }, seat, maxBoardStateBytes)
          if (clock !== null) ahead.push({ client, clock })
        }
      }
      tellClocks(connection, ahead)
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

  #leave(document: Document, seat: Seat): void {
    const room = this.#rooms.get(document)
    if (!room) return
    for (const client of seat.clients) room.awareness.remove(client, seat)
    for (const connection of room.late.keys())
      if (connection.context.seat === seat) room.late.delete(connection)
    this.#schedule(room)
  }

  #schedule(room: Room): void {
    const { awareness } = room
    const isUrgent = awareness.isUrgent || room.late.size > 0
    if (room.timer && (!isUrgent || room.timer.isUrgent)) return
    if (room.timer) clearTimeout(room.timer.handle)
    room.timer = null
    if (isUrgent || awareness.changed.size > 0) {
      const ms = Math.max(isUrgent ? 0 : renewalMs, room.nextAt - performance.now())
      room.timer = { handle: setTimeout(() => this.#tick(room), ms), isUrgent }
    } else if (awareness.states.size === 0 && awareness.document.connections.size === 0)
      this.#rooms.delete(awareness.document)
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
  #send({ awareness }: Room): number {
    const { changed, document } = awareness
    if (changed.size === 0) return 0
    const speakers = new Set([...changed.values()].map(({ seat }) => seat))
    const onlySpeaker = speakers.size === 1 ? [...speakers][0] : null // it doesn't need its own state
    document.flush() // first the edits: a cursor may refer to them
    const update = awareness.encode(changed)
    changed.clear()
    awareness.isUrgent = false
    let address = ''
    let frame: Uint8Array = update
    for (const connection of [...document.connections.keys()] as EditorConnection[]) {
      if (connection.context.seat === onlySpeaker) continue
      if (connection.messageAddress !== address) {
        address = connection.messageAddress
        frame = awarenessFrame(address, update)
      }
      connection.send(frame)
    }
    const tookMs = document.connections.size * (sendMs + update.byteLength * sendMsPerByte)
    const accounts = new Set([...speakers].map(({ rates }) => rates))
    for (const { awareness } of accounts) awareness.spend(tookMs / unitMs / accounts.size)
    return tookMs
  }
}

/** The cost of reading a payload: it grows with the size. */
const costOf = (payload: Uint8Array): number => 1 + payload.byteLength / 1024

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses a state. Throws when it isn't JSON in UTF-8: each client that received it would throw, too. */
function readState(json: Uint8Array, maxBytes: number): Record<string, unknown> | 'gone' | 'unfit' {
  if (json.byteLength > maxBytes) return 'unfit'
  const state: unknown = JSON.parse(utf8.decode(json))
  if (state === null) return 'gone'
  return isPlainObject(state) && isShallow(state, maxStateDepth) ? state : 'unfit'
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

interface ClientClock {
  client: number
  clock: number
}

/** Makes clients take the service's clocks; see awareness-room.ts. */
function tellClocks(connection: EditorConnection, clocks: ClientClock[]): void {
  if (clocks.length === 0) return
  const gone = clocks.map(({ client, clock }) => ({ client, clock: clock - 1, json: null }))
  connection.send(awarenessFrame(connection.messageAddress, writeAwareness(gone)))
}
