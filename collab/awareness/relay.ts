/**
 * Exchanges awareness with the other nodes that have a board open: at most one message per board and tick, with the
 * newest states of this node's editors. After a quiet time the first message is sent at once.
 *
 * A message may be lost. Each later change and each renewal sends a client's newest state again. A node that opens a
 * board asks for the states of the others.
 *
 *   bytes = 0            the sender has opened the board: send it all states of your editors
 *   bytes = 1 update     states of the sender's editors
 */
import type { AwarenessRoom, ClientClock, Sender, Speaker } from './room.ts'

export interface RelayOptions {
  publish(board: string, bytes: Uint8Array): void
  /** Time between two messages of a board. */
  tickMs(): number
  /** Whether there is no other node. */
  isAlone(): boolean
  /** Whether another node has the board open. */
  isElsewhere(board: string): boolean
}

export const relayed = { question: 0, states: 1 } as const

/** After a message its sender counts as having the board open. Within this time `isElsewhere` knows it, too. */
const heardMs = 5000
/** Larger sets of states are sent in several messages. */
const maxMessageBytes = 256 * 1024

/** @param update in the encoding of y-protocols */
export function statesMessage(update: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + update.byteLength)
  bytes[0] = relayed.states
  bytes.set(update, 1)
  return bytes
}

const noStates = Uint8Array.of(relayed.states, 0)

interface Waiting {
  clients: Map<number, { clock: number }>
  timer: NodeJS.Timeout | null
}

export class Relay<S extends Speaker> {
  readonly #options: RelayOptions
  readonly #waiting = new Map<AwarenessRoom<S>, Waiting>()
  readonly #heardAt = new WeakMap<AwarenessRoom<S>, number>()
  /** Rooms with changes that were not sent, because no other node was known to have the board open. */
  readonly #unsent = new WeakSet<AwarenessRoom<S>>()

  constructor(options: RelayOptions) {
    this.#options = options
  }

  /** Asks the other nodes for the states of a board that was opened here. */
  ask(board: string): void {
    if (!this.#options.isAlone()) this.#options.publish(board, Uint8Array.of(relayed.question))
  }

  /**
   * Sends all states of this node's editors, because another node has opened the board. Without states it answers, too:
   * then the other node knows that its own states are wanted here.
   */
  asked(room: AwarenessRoom<S>): void {
    this.#heardAt.set(room, performance.now())
    const own = room.own()
    if (own.length > 0) this.#add(room, own)
    else this.#options.publish(room.board, noStates)
  }

  /**
   * Another node has the board open. If that is news, or a heartbeat told it after the last change, sends it the states
   * of this node's editors.
   */
  heard(room: AwarenessRoom<S>): void {
    const isNews = !this.#isWanted(room)
    this.#heardAt.set(room, performance.now())
    if (this.#unsent.delete(room) || isNews) this.#add(room, room.own())
  }

  /** Sends the changes of this node's editors. */
  changed(room: AwarenessRoom<S>, changes: Map<number, { clock: number; from: Sender<S> }>): void {
    if (!this.#isWanted(room)) {
      this.#unsent.add(room)
      return
    }
    const own = [...changes].flatMap(([client, { clock, from }]) =>
      typeof from === 'string' ? [] : [{ client, clock }],
    )
    this.#add(room, this.#unsent.delete(room) ? [...room.own(), ...own] : own)
  }

  /** Sends what was not sent, when a heartbeat has told meanwhile that another node has the board open. */
  sendUnsent(room: AwarenessRoom<S>): void {
    if (this.#isWanted(room) && this.#unsent.delete(room)) this.#add(room, room.own())
  }

  #isWanted(room: AwarenessRoom<S>): boolean {
    const isElsewhere = this.#options.isElsewhere(room.board)
    return isElsewhere || performance.now() - (this.#heardAt.get(room) ?? -Infinity) < heardMs
  }

  #add(room: AwarenessRoom<S>, clocks: ClientClock[]): void {
    if (clocks.length === 0) return
    const waiting = this.#waiting.getOrInsertComputed(room, () => ({ clients: new Map(), timer: null }))
    for (const { client, clock } of clocks) waiting.clients.set(client, { clock })
    if (!waiting.timer) this.#send(room, waiting)
  }

  #send(room: AwarenessRoom<S>, waiting: Waiting): void {
    waiting.timer = null
    if (waiting.clients.size === 0) {
      this.#waiting.delete(room)
      return
    }
    const { clients } = waiting
    waiting.clients = new Map()
    for (const part of partsOf(room, clients)) {
      this.#options.publish(room.board, statesMessage(room.encode(part)))
    }
    waiting.timer = setTimeout(() => this.#send(room, waiting), this.#options.tickMs())
  }

  stop(): void {
    for (const { timer } of this.#waiting.values()) if (timer) clearTimeout(timer)
    this.#waiting.clear()
  }
}

type Part = [client: number, { clock: number }][]

/** Cuts changes into parts of at most `maxMessageBytes`. Most often there is one. */
function* partsOf<S extends Speaker>(
  room: AwarenessRoom<S>,
  clients: Map<number, { clock: number }>,
): Generator<Part> {
  let part: Part = []
  let sizeBytes = 0
  for (const entry of clients) {
    const bytes = room.states.get(entry[0])?.json.byteLength ?? 0
    if (part.length > 0 && sizeBytes + bytes > maxMessageBytes) {
      yield part
      part = []
      sizeBytes = 0
    }
    part.push(entry)
    sizeBytes += bytes
  }
  yield part
}
