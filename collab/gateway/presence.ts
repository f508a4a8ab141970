/**
 * Presence (awareness): each user's cursor and selection on a board. The service keeps the newest state of each client
 * as the received bytes, with the stamp of who sent it. It sends all changes of a board, those of other nodes too, as
 * one frame per tick. It bypasses Hocuspocus, which builds a temporary document for each frame and relays each frame
 * alone.
 *
 * A state stays in memory as long as its connection is open. So a connection may have only a few small states, and none
 * of another account. Bytes that are kept are copied: a frame is a slice of the socket's read buffer, and keeping the
 * slice would keep the whole buffer.
 */
import type { Connection, Document, Extension } from '@hocuspocus/server'
import { closeCodes } from '../../core/errors.ts'
import { readAwareness, writeAwareness } from '../awareness/encoding.ts'
import { relayed, Relay, type RelayOptions } from '../awareness/relay.ts'
import { AwarenessRoom, type ClientClock, type Sender, type State } from '../awareness/room.ts'
import { readState, type ParsedState } from '../awareness/state.ts'
import { closeConnection, type EditorContext, type Seat, type Voice } from './connection.ts'
import { awarenessFrame } from './protocol.ts'
import type { EditorSocket } from './socket.ts'

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
   * A board with so many sockets gets its frames half as often. Measured beside bare Hocuspocus: the CPU of 100 cursors at
   * 1 Hz was 0.50 and is 0.19, at 10 Hz 0.17 and 0.14.
   */
  crowdSockets: number
  /**
   * A state that its client has not renewed for this long is removed, as in y-protocols. The provider renews its state
   * every 15 s.
   */
  renewWithinMs: number
}

/**
 * A mere renewal contains nothing new, so it may wait this long to be sent with other changes. Providers renew their states
 * every 15 to 18 s, and forget those of others after 30 s. On its way through another node a renewal waits twice.
 */
const renewalMs = 4000
/** The largest share of main-thread time for sending one board's frames. */
const broadcastShare = 0.1
/** The cost of sending a frame to one socket: a write, and a copy of its bytes. Measured on Linux. */
const sendMs = 0.012
const sendMsPerByte = 3e-7
/** Milliseconds of work in one unit of an account's awareness rate. */
const unitMs = 0.05

/** A board with its next frame. */
interface Room {
  awareness: AwarenessRoom<Voice>
  /** Null while no canvas is open here. */
  document: Document | null
  /** API clients that are shown on the board by this node. */
  guests: number
  /**
   * Whether a canvas is open here, or an API client is shown. After the last one the room is kept for a while, with the
   * clocks of who left.
   */
  isOpen: boolean
  closedAt: number
  /** The newest frame of each connection whose account is over its rate. */
  late: Map<EditorConnection, Uint8Array>
  timer: { handle: NodeJS.Timeout; isUrgent: boolean } | null
  /** `performance.now()` from which the next frame may be sent. */
  nextAt: number
}

type EditorConnection = Connection<EditorContext>

export class Presence {
  readonly #bounds: PresenceBounds
  /** By board. */
  readonly #rooms = new Map<string, Room>()
  readonly #relay: Relay<Voice>
  /** Awareness frames since the start. */
  readonly frames = { received: 0, sent: 0 }
  readonly extension: Extension<EditorContext>

  constructor(bounds: PresenceBounds, others: RelayOptions) {
    this.#bounds = bounds
    this.#relay = new Relay(others)
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
    this.frames.received += 1
    const room = this.#rooms.get(connection.document.name)
    if (!room?.isOpen) return
    if (!room.late.has(connection) && connection.context.seat.rates.awareness.take(costOf(payload)))
      this.#read(room, connection, payload)
    else room.late.set(connection, payload.slice())
    this.#schedule(room)
  }

  /** Sends all states of a board to a new connection. Asks other nodes for theirs when it is the first one here. */
  joined(connection: EditorConnection): void {
    const room = this.#roomOf(connection.document.name)
    room.document = connection.document // a document that was closed for a fault is loaded again as another one
    this.#open(room)
    this.sendAll(connection)
  }

  /** Opens a board's room for an API client. @returns leaves the room */
  enter(board: string): () => void {
    const room = this.#roomOf(board)
    room.guests += 1
    this.#open(room)
    return () => {
      room.guests -= 1
      this.#closeIfEmpty(room)
    }
  }

  /** Asks the other nodes for the states of a board. Without a canvas here they forget soon that they were asked. */
  ask(board: string): void {
    this.#relay.ask(board)
  }

  /** Whether a canvas of the board is open here. Then the states of all nodes are known. */
  hasCanvas(board: string): boolean {
    return (this.#rooms.get(board)?.document ?? null) !== null
  }

  /** The states of a board that are known here. */
  statesOf(board: string): ReadonlyMap<number, State<Voice>> {
    return this.#rooms.get(board)?.awareness.states ?? new Map<number, State<Voice>>()
  }

  /** Shows the state of an API client that has entered the room. @returns whether it is shown */
  show(board: string, voice: Voice, client: number, given: ParsedState): boolean {
    const room = this.#roomOf(board)
    const known = room.awareness.states.get(client)
    if (known && known.account !== voice.account) return false
    room.awareness.keep(client, given, voice)
    this.#schedule(room)
    return room.awareness.states.get(client)?.from === voice
  }

  /** Removes the states of an API client. */
  hide(board: string, voice: Voice): void {
    const room = this.#roomOf(board)
    for (const client of voice.clients) room.awareness.remove(client)
    this.#schedule(room)
  }

  /** Handles a message of another node. */
  heard({ from, board, bytes }: { from: string; board: string; bytes: Uint8Array }): void {
    const room = this.#rooms.get(board)
    if (!room?.isOpen) return
    if (bytes[0] === relayed.question) this.#relay.asked(room.awareness)
    else if (bytes[0] === relayed.states) {
      this.#relay.heard(room.awareness)
      this.#take(room.awareness, from, bytes.subarray(1))
      this.#schedule(room)
    }
  }

  /** Removes the states of a node that has left or died. */
  nodeGone(node: string): void {
    for (const room of this.#rooms.values()) {
      room.awareness.nodeGone(node)
      this.#schedule(room)
    }
  }

  /** Sends all states of a board to a connection. */
  sendAll(connection: EditorConnection): void {
    const awareness = this.#rooms.get(connection.document.name)?.awareness
    if (!awareness || awareness.states.size === 0) return
    connection.send(awarenessFrame(connection.messageAddress, awareness.encode(awareness.states)))
  }

  /** The size in bytes of all states of a board, without the stamps. */
  bytesOf(document: Document): number {
    return this.#rooms.get(document.name)?.awareness.bytes ?? 0
  }

  /** Sends the connection's states again, after its right to write has changed. */
  rightsChanged(connection: EditorConnection): void {
    const { seat } = connection.context
    seat.stamp.update({ readOnly: connection.readOnly })
    const room = this.#rooms.get(connection.document.name)
    if (!room) return
    tellClocks(connection, room.awareness.stampAgain(seat))
    this.#schedule(room)
  }

  /**
   * Removes the states that were not renewed in time, and rooms that nobody has opened again. Sends what other nodes lack.
   */
  sweep(): void {
    const oldest = Date.now() - this.#bounds.renewWithinMs
    for (const [board, room] of this.#rooms) {
      for (const [client, { renewedAt }] of room.awareness.states)
        if (renewedAt < oldest) room.awareness.remove(client)
      this.#relay.sendUnsent(room.awareness)
      this.#schedule(room)
      if (!room.isOpen && room.closedAt < oldest) this.#rooms.delete(board)
    }
  }

  stop(): void {
    this.#relay.stop()
  }

  #roomOf(board: string): Room {
    return this.#rooms.getOrInsertComputed(board, () => {
      const awareness = new AwarenessRoom<Voice>(board, this.#bounds.maxBoardStateBytes)
      const closed = { document: null, guests: 0, isOpen: false, closedAt: Date.now() }
      return { awareness, ...closed, late: new Map(), timer: null, nextAt: 0 }
    })
  }

  #open(room: Room): void {
    if (room.isOpen) return
    room.isOpen = true
    this.#relay.ask(room.awareness.board)
  }

  #take(awareness: AwarenessRoom<Voice>, node: string, update: Uint8Array): void {
    for (const [client, entry] of readAwareness(update)) {
      const state = readState(entry.json, update.byteLength)
      if (state === 'gone') {
        const clock = awareness.takeAway(client, entry.clock, node)
        const from = awareness.states.get(client)?.from
        if (clock !== null && typeof from === 'object' && from.connection)
          tellClocks(from.connection, [{ client, clock }])
      } else if (state !== 'unfit') awareness.take(client, { ...entry, state }, node)
    }
  }

  /** Reads a payload. States beyond the limits are skipped; the others are kept. */
  #read({ awareness }: Room, connection: EditorConnection, payload: Uint8Array): void {
    const { seat } = connection.context
    const ahead: ClientClock[] = []
    try {
      for (const [client, entry] of readAwareness(payload)) {
        const known = awareness.states.get(client)
        if (!this.#maySpeakFor(seat, client, known)) continue
        const state = readState(entry.json, this.#bounds.maxStateBytes)
        if (state === 'gone') {
          if (known?.from === seat && entry.clock >= known.clientClock) awareness.remove(client, entry.clock)
        } else if (state !== 'unfit') {
          const clock = awareness.keep(client, { ...entry, state }, seat)
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
  #maySpeakFor(seat: Seat, client: number, known: State<Voice> | undefined): boolean {
    if (known?.from === seat) return true
    if (known && known.account !== seat.account) return false
    return seat.clients.size < this.#bounds.maxStatesPerConnection
  }

  #leave(document: Document, seat: Seat): void {
    const room = this.#rooms.get(document.name)
    if (!room) return
    for (const client of seat.clients) room.awareness.remove(client)
    for (const connection of room.late.keys())
      if (connection.context.seat === seat) room.late.delete(connection)
    if (room.document === document && document.connections.size === 0) room.document = null
    if (!this.#closeIfEmpty(room)) this.#schedule(room)
  }

  /** Closes a room in which nobody is left. */
  #closeIfEmpty(room: Room): boolean {
    if (room.document || room.guests > 0) return false
    if (room.timer) clearTimeout(room.timer.handle)
    const { awareness } = room
    this.#relay.changed(awareness, awareness.changed)
    awareness.forgetOthers()
    awareness.changed.clear()
    awareness.isUrgent = false
    Object.assign(room, { isOpen: false, closedAt: Date.now(), timer: null })
    return true
  }

  #schedule(room: Room): void {
    const { awareness } = room
    if (room.late.size === 0 && isUnseen(room)) {
      this.#passOn(room)
      return
    }
    const isUrgent = awareness.isUrgent || room.late.size > 0
    if (room.timer && (!isUrgent || room.timer.isUrgent)) return
    if (room.timer) clearTimeout(room.timer.handle)
    room.timer = null
    if (isUrgent || awareness.changed.size > 0) {
      const ms = Math.max(isUrgent ? 0 : renewalMs, room.nextAt - performance.now())
      room.timer = { handle: setTimeout(() => this.#tick(room), ms), isUrgent }
    }
  }

  #tick(room: Room): void {
    room.timer = null
    for (const [connection, payload] of room.late) {
      if (!connection.context.seat.rates.awareness.take(costOf(payload))) continue
      room.late.delete(connection)
      this.#read(room, connection, payload)
    }
    const sentMs = this.#send(room)
    room.nextAt = performance.now() + Math.max(this.#tickMs(room), sentMs / broadcastShare)
    this.#schedule(room)
  }

  #tickMs({ document }: Room): number {
    const { awarenessTickMs, crowdSockets } = this.#bounds
    return document && document.connections.size >= crowdSockets ? 2 * awarenessTickMs : awarenessTickMs
  }

  /** Sends the changes to the other nodes, and forgets them. */
  #passOn({ awareness }: Room): void {
    const { changed } = awareness
    if (changed.size > 0) this.#relay.changed(awareness, changed)
    changed.clear()
    awareness.isUrgent = false
  }

  /** Sends the changes to the board's connections. Returns the estimated time in milliseconds. */
  #send(room: Room): number {
    const { awareness, document } = room
    const { changed } = awareness
    if (changed.size === 0) return 0
    const senders = new Set<Sender<Voice>>()
    for (const { from } of changed.values()) senders.add(from)
    const onlySender = senders.size === 1 ? [...senders][0] : null // it doesn't need its own state
    document?.flush() // first the edits: a cursor may refer to them
    const update = awareness.encode(changed)
    this.#passOn(room)
    let address = ''
    let frame: Uint8Array = update
    const connections = (document?.connections.keys() ?? []) as Iterable<EditorConnection>
    for (const connection of connections) {
      if (connection.context.seat === onlySender) continue
      if (connection.messageAddress !== address) {
        address = connection.messageAddress
        frame = awarenessFrame(address, update)
      }
      const socket = connection.webSocket as unknown as EditorSocket
      socket.sendAtOnce(frame)
      this.frames.sent += 1
    }
    const tookMs = (document?.connections.size ?? 0) * (sendMs + update.byteLength * sendMsPerByte)
    const accounts = new Set(
      [...senders].flatMap((from) => (typeof from === 'string' ? [] : (from.rates ?? []))),
    )
    for (const { awareness } of accounts) awareness.spend(tookMs / unitMs / accounts.size)
    return tookMs
  }
}

/** Whether all changes come from the only connection here: nobody needs a frame. */
function isUnseen({ awareness, document }: Room): boolean {
  if (document === null || document.connections.size !== 1) return false
  const [connection] = document.connections.keys() as Iterable<EditorConnection>
  const { seat } = connection!.context
  for (const { from } of awareness.changed.values()) if (from !== seat) return false
  return true
}

/** The cost of reading a payload: it grows with the size. */
const costOf = (payload: Uint8Array): number => 1 + payload.byteLength / 1024

/** Makes clients take the service's clocks; see collab/awareness/room.ts. */
function tellClocks(connection: EditorConnection, clocks: ClientClock[]): void {
  if (clocks.length === 0) return
  const gone = clocks.map(({ client, clock }) => ({ client, clock: clock - 1, json: null }))
  connection.send(awarenessFrame(connection.messageAddress, writeAwareness(gone)))
}
