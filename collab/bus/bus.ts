/**
 * The bus between nodes: each message goes to all other nodes on the database. It carries only what may be lost
 * (messages.ts). PostgreSQL has the truth, and every reader of messages also polls.
 *
 * Drivers carry the messages: redis-driver.ts with `REDIS_URL`, and always notify-driver.ts. The first driver that is
 * ready sends. A node listens to all of them, because the triggers of the database send over NOTIFY, and so do nodes
 * that have lost Redis.
 *
 * All nodes share one channel. Senders send nothing about a board that no other node has open, so a channel for each
 * board would save little.
 */
import type { Logger } from '../../platform/log.ts'
import {
  headStart,
  maxMessageBytes,
  parseFrame,
  toFrame,
  type Frame,
  type Message,
  type MessageKind,
  type MessageOf,
  type NodeMessage,
} from './messages.ts'
import { RareWarning } from '../../platform/rare-warning.ts'

export interface BusDriver {
  /** Whether it can send now. */
  readonly isReady: boolean
  readonly pace: Pace
  /** Messages that it could not send. */
  readonly lost: number
  /** Begins to receive. `received` gets null for what can't be read as a frame, with a text for the log. */
  open(received: (frame: Frame | null, text: string) => void): Promise<void>
  /** Sends to all nodes, also to this one. It neither waits nor throws. */
  send(frame: Frame): void
  close(): Promise<void>
}

/** For how long messages of a kind are gathered. After a quiet time the first one is sent at once. */
export interface Pace {
  hintMs: number
  /** The most bytes of updates that a message carries. */
  hintBytes: number
  awarenessMs: number
}

export interface BusCounts {
  sent: number
  /** Messages from other nodes and from the database. */
  received: number
  ignored: number
  lost: number
}

type Handler = (message: Message) => void | Promise<void>

export class Bus {
  /** The id of this node. Others see it as `from`. */
  readonly node: string
  readonly #drivers: [BusDriver, ...BusDriver[]]
  readonly #log: Logger
  readonly #odd: RareWarning
  /** How this node's own messages begin. */
  readonly #own: string
  readonly #handlers = new Map<MessageKind, Handler[]>()
  readonly #counts: BusCounts = { sent: 0, received: 0, ignored: 0, lost: 0 }

  /** @param options `drivers` are in order of preference */
  constructor(options: { node: string; drivers: [BusDriver, ...BusDriver[]]; log: Logger }) {
    this.node = options.node
    this.#own = headStart(options.node)
    this.#drivers = options.drivers
    this.#log = options.log
    this.#odd = new RareWarning(
      options.log,
      'messages between nodes were ignored: they are malformed, too large or of another version',
    )
  }

  /** How fast the driver that sends now carries messages. */
  get pace(): Pace {
    return this.#driver.pace
  }

  /** Whether the preferred driver is out of reach: messages take the slower way. */
  get isDegraded(): boolean {
    return !this.#drivers[0].isReady
  }

  get #driver(): BusDriver {
    return this.#drivers.find((driver) => driver.isReady) ?? this.#drivers[0]
  }

  /** Calls `handler` for each message of this kind from another node or from the database. */
  on<K extends MessageKind>(kind: K, handler: (message: MessageOf<K>) => void | Promise<void>): void {
    this.#handlers.getOrInsert(kind, []).push(handler as Handler)
  }

  /**
   * Sends a message to all other nodes. It neither waits nor throws: a message may be lost. A message of more than
   * `maxMessageBytes` is not sent.
   */
  publish(message: NodeMessage): void {
    const frame = toFrame(this.node, message)
    if (sizeOf(frame) > maxMessageBytes) {
      this.#ignore(`${message.kind} of ${sizeOf(frame)} bytes, not sent`)
      return
    }
    this.#counts.sent += 1
    this.#driver.send(frame)
  }

  counts(): BusCounts {
    return { ...this.#counts, lost: this.#drivers.reduce((sum, { lost }) => sum + lost, 0) }
  }

  /** Begins to receive. It waits for the database, and not for Redis. */
  async start(): Promise<void> {
    for (const driver of this.#drivers) await driver.open((frame, text) => this.#received(frame, text))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#drivers.map((driver) => driver.close()))
  }

  #received(frame: Frame | null, text: string): void {
    // Own messages come back. Parsing them would take 0.2 ms of an edit's 11.
    if (frame?.head.startsWith(this.#own)) return
    const message = frame && sizeOf(frame) <= maxMessageBytes ? parseFrame(frame) : null
    if (!message) {
      this.#ignore(text)
      return
    }
    if ('from' in message && message.from === this.node) return // somebody else wrote it, with other spaces or order
    this.#counts.received += 1
    for (const handler of this.#handlers.get(message.kind) ?? []) void this.#handle(handler, message)
  }

  #ignore(text: string): void {
    this.#counts.ignored += 1
    this.#odd.add({ text: text.slice(0, 200) })
  }

  async #handle(handler: Handler, message: Message): Promise<void> {
    try {
      await handler(message)
    } catch (error) {
      this.#log.warn({ err: error, kind: message.kind }, 'handling a message of another node failed')
    }
  }
}

const sizeOf = ({ head, bytes }: Frame): number => head.length + (bytes?.byteLength ?? 0)
