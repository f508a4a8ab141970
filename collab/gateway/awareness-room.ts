/**
 * The awareness states of one board. Clocks decide which state of a client is the newest, as in y-protocols.
 *
 * Clients ignore a state whose clock they know, also after the state was removed. So the service counts on by itself
 * when it has to repeat a state: after a change of the sender's rights, and when a client comes back. Then it tells the
 * client that its own state is gone, with the clock before. A client of y-protocols does not remove its own state then,
 * but takes the next clock, which is the service's. The client's own state stays as the client wrote it.
 */
import type { Document } from '@hocuspocus/server'
import type { Seat } from './connection.ts'
import { writeAwareness, type ReceivedState } from './protocol.ts'

export interface State {
  /** The clock that others see. */
  clock: number
  /** The clock of the client's newest state. The service's may be ahead. */
  clientClock: number
  /** UTF-8 of a JSON object, with the service's stamp. */
  json: Uint8Array
  /** Size of what the client sent. */
  sizeBytes: number
  seat: Seat
  renewedAt: number
}

/** Clients of one board that have left. */
const maxGone = 1000
/** A larger clock is no client's. The service counts on from clocks, and no clock may exceed what a number holds. */
const maxClock = 2 ** 52

export class AwarenessRoom {
  readonly document: Document
  readonly states = new Map<number, State>()
  /** Size of what the clients sent. */
  bytes = 0
  /** Clients with unsent changes, each with its last clock and its seat. A client without a state has left. */
  readonly changed = new Map<number, { clock: number; seat: Seat }>()
  /** Whether the changes contain more than renewals. */
  isUrgent = false
  /** Clients that have left. Only for the same account the service counts on from their clock. */
  readonly #gone = new Map<number, { clock: number; account: string }>()

  constructor(document: Document) {
    this.document = document
  }

  /**
   * Keeps a client's state if it is new and has room. @returns the clock that the client has to be told of, when the
   * service's is ahead
   */
  keep(
    client: number,
    { clock: clientClock, json, state }: ReceivedState & { state: Record<string, unknown> },
    seat: Seat,
    maxBytes: number,
  ): number | null {
    const known = this.states.get(client)
    if (clientClock > maxClock) return null
    if (
      known &&
      (clientClock < known.clientClock || (clientClock === known.clientClock && known.seat === seat))
    )
      return null
    const sizeBytes = json.byteLength
    const bytes = this.bytes + sizeBytes - (known?.sizeBytes ?? 0)
    if (bytes > maxBytes) return null
    const gone = this.#gone.get(client)
    const before = known?.clock ?? (gone?.account === seat.account ? gone.clock : -1)
    const clock = Math.max(clientClock, before + 1)
    if (known?.seat !== seat) known?.seat.clients.delete(client)
    seat.clients.add(client)
    this.bytes = bytes
    const stamped = seat.stamp.put(json, state)
    this.#set(client, { clock, clientClock, json: stamped, sizeBytes, seat, renewedAt: Date.now() })
    return clock > clientClock ? clock : null
  }

  /** Stamps a seat's states anew. @returns the clients with the new clocks */
  stampAgain(seat: Seat): { client: number; clock: number }[] {
    return [...seat.clients].flatMap((client) => {
      const state = this.states.get(client)
      if (!state) return []
      const parsed = JSON.parse(Buffer.from(state.json).toString()) as Record<string, unknown>
      const clock = state.clock + 1
      this.#set(client, { ...state, clock, json: seat.stamp.put(state.json, parsed) })
      return [{ client, clock }]
    })
  }

  #set(client: number, state: State): void {
    const known = this.states.get(client)
    if (!known || Buffer.compare(known.json, state.json) !== 0) this.isUrgent = true
    this.states.set(client, state)
    this.#gone.delete(client)
    this.changed.set(client, state)
  }

  remove(client: number, seat: Seat, clientClock = 0): void {
    const state = this.states.get(client)
    if (!state) return
    const clock = Math.max(clientClock, state.clock)
    this.bytes -= state.sizeBytes
    this.states.delete(client)
    seat.clients.delete(client)
    this.#gone.set(client, { clock, account: seat.account })
    if (this.#gone.size > maxGone) this.#gone.delete(this.#gone.keys().next().value!)
    this.changed.set(client, { clock, seat })
    this.isUrgent = true
  }

  /** The newest states of these clients as an awareness update. A client without a state is marked as having left. */
  encode(clients: Iterable<[client: number, { clock: number }]>): Uint8Array {
    return writeAwareness(
      Array.from(clients, ([client, { clock }]) => ({
        client,
        clock,
        json: this.states.get(client)?.json ?? null,
      })),
    )
  }
}
