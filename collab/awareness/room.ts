/**
 * The awareness states of one board: those of this node's editors, and those that other nodes sent. Clocks decide which
 * state of a client is the newest, as in y-protocols. So it does no harm when messages of other nodes are lost, late or
 * out of order.
 *
 * Clients ignore a state whose clock they know, also after the state was removed. So the service counts on by itself
 * when it has to repeat a state: after a change of the sender's rights, and when a client comes back. Then it tells the
 * client that its own state is gone, with the clock before. A client of y-protocols does not remove its own state then,
 * but takes the next clock, which is the service's. The client's own state stays as the client wrote it.
 */
import { writeAwareness } from './encoding.ts'
import type { Stamp } from './stamp.ts'
import type { ParsedState } from './state.ts'

/** A connection of this node that sends states, or an API client that this node shows. */
export interface Speaker {
  account: string
  /** Whether it is an API client. It has no connection: any node may get its next request. */
  readonly isApiClient: boolean
  /** The clients whose states it sends. */
  readonly clients: Set<number>
  readonly stamp: Stamp
}

export interface State<S extends Speaker> {
  /** The clock that others see. */
  clock: number
  /** The clock of the client's newest state. The service's may be ahead. */
  clientClock: number
  /** UTF-8 of a JSON object, with the service's stamp. */
  json: Uint8Array
  /** Size of what the client sent; for a state of another node, with the stamp. */
  sizeBytes: number
  account: string
  from: Sender<S>
  renewedAt: number
}

/** The connection that sends a state, or the id of another node. */
export type Sender<S extends Speaker> = S | string

export interface ClientClock {
  client: number
  clock: number
}

/** Clients of one board that have left. */
const maxGone = 1000
/** A larger clock is no client's. The service counts on from clocks, and no clock may exceed what a number holds. */
const maxClock = 2 ** 52

export class AwarenessRoom<S extends Speaker> {
  readonly board: string
  readonly #maxBytes: number
  readonly states = new Map<number, State<S>>()
  /** Size of all states, without the stamps of this node. */
  bytes = 0
  /** Clients with unsent changes, each with its last clock and its sender. A client without a state has left. */
  readonly changed = new Map<number, { clock: number; from: Sender<S> }>()
  /** Whether the changes contain more than renewals. */
  isUrgent = false
  /** Clients that have left. Only for the same account the service counts on from their clock. */
  readonly #gone = new Map<number, { clock: number; account: string }>()

  constructor(board: string, maxBytes: number) {
    this.board = board
    this.#maxBytes = maxBytes
  }

  /**
   * Keeps a client's state if it is new and has room. @returns the clock that the client has to be told of, when the
   * service's is ahead
   */
  keep(client: number, { clock: clientClock, json, state }: ParsedState, seat: S): number | null {
    const known = this.states.get(client)
    if (clientClock > maxClock) return null
    // A state of another node is always older: the client is here now.
    if (known && typeof known.from !== 'string' && clientClock < known.clientClock) return null
    if (known?.from === seat && clientClock === known.clientClock) return null
    if (!this.#hasRoom(json.byteLength, known)) return null
    const gone = this.#gone.get(client)
    const before = known?.clock ?? (gone?.account === seat.account ? gone.clock : -1)
    const clock = Math.max(clientClock, before + 1)
    const { account } = seat
    const stamped = { clock, clientClock, json: seat.stamp.put(json, state), sizeBytes: json.byteLength }
    this.#set(client, { ...stamped, account, from: seat, renewedAt: Date.now() })
    return clock > clientClock ? clock : null
  }

  /** Stamps a seat's states anew. @returns the clients with the new clocks */
  stampAgain(seat: S): ClientClock[] {
    return [...seat.clients].flatMap((client) => {
      const state = this.states.get(client)
      if (!state) return []
      const parsed = JSON.parse(Buffer.from(state.json).toString()) as Record<string, unknown>
      const clock = state.clock + 1
      this.#set(client, { ...state, clock, json: seat.stamp.put(state.json, parsed) })
      return [{ client, clock }]
    })
  }

  /** Takes a client's state from another node. The client may have moved there while its old socket lingers here. */
  take(client: number, { clock, json, state }: ParsedState, node: string): void {
    const known = this.states.get(client)
    const account = accountOf(state)
    if (known && clock < known.clock) return
    if (known && typeof known.from !== 'string' && (clock === known.clock || account !== known.account))
      return
    if (known?.clock === clock) {
      known.from = node
      known.renewedAt = Date.now()
    } else if (clock > (this.#gone.get(client)?.clock ?? -1) && this.#hasRoom(json.byteLength, known)) {
      const taken = {
        clock,
        clientClock: clock,
        json: new Uint8Array(json),
        sizeBytes: json.byteLength,
        account,
      }
      this.#set(client, { ...taken, from: node, renewedAt: Date.now() })
    }
  }

  /**
   * Removes a client's state because it left another node. A client that is here meanwhile is shown again. But an API
   * client has left: it has told so to the other node.
   *
   * @returns the clock that a client of this node has to be told of
   */
  takeAway(client: number, clock: number, node: string): number | null {
    const known = this.states.get(client)
    if (!known) this.#leave(client, clock, this.#gone.get(client)?.account ?? '')
    else if (clock < known.clock) return null
    else if (known.from === node) this.remove(client, clock)
    else if (typeof known.from !== 'string' && clock <= maxClock) {
      if (known.from.isApiClient) {
        this.remove(client, clock)
        return null
      }
      this.#set(client, { ...known, clock: clock + 1 })
      return clock + 1
    }
    return null
  }

  /** Removes all states of another node. */
  nodeGone(node: string): void {
    for (const [client, { from }] of this.states) if (from === node) this.remove(client)
  }

  /** Forgets the states of other nodes, because nobody here sees them any more. */
  forgetOthers(): void {
    for (const [client, { from, sizeBytes }] of this.states) {
      if (typeof from !== 'string') continue
      this.states.delete(client)
      this.bytes -= sizeBytes
    }
    for (const [client, { from }] of this.changed) if (typeof from === 'string') this.changed.delete(client)
  }

  remove(client: number, clock = 0): void {
    const state = this.states.get(client)
    if (!state) return
    this.bytes -= state.sizeBytes
    this.states.delete(client)
    if (typeof state.from !== 'string') state.from.clients.delete(client)
    const last = Math.max(clock, state.clock)
    this.#leave(client, last, state.account)
    this.changed.set(client, { clock: last, from: state.from })
    this.isUrgent = true
  }

  /** Clients of this node's editors, with their clocks. */
  own(): ClientClock[] {
    return [...this.states].flatMap(([client, { clock, from }]) =>
      typeof from === 'string' ? [] : [{ client, clock }],
    )
  }

  #hasRoom(sizeBytes: number, known: State<S> | undefined): boolean {
    return this.bytes + sizeBytes - (known?.sizeBytes ?? 0) <= this.#maxBytes
  }

  #set(client: number, state: State<S>): void {
    const known = this.states.get(client)
    if (!known || Buffer.compare(known.json, state.json) !== 0) this.isUrgent = true
    if (known && known.from !== state.from && typeof known.from !== 'string')
      known.from.clients.delete(client)
    if (typeof state.from !== 'string') state.from.clients.add(client)
    this.bytes += state.sizeBytes - (known?.sizeBytes ?? 0)
    this.states.set(client, state)
    this.#gone.delete(client)
    this.changed.set(client, state)
  }

  #leave(client: number, clock: number, account: string): void {
    const before = this.#gone.get(client)
    if (before && before.clock >= clock) return
    this.#gone.delete(client)
    this.#gone.set(client, { clock, account })
    if (this.#gone.size > maxGone) this.#gone.delete(this.#gone.keys().next().value!)
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

function accountOf({ account }: Record<string, unknown>): string {
  const id: unknown = (account as { id?: unknown } | null | undefined)?.id
  return typeof id === 'string' ? id : ''
}
