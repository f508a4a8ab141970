/**
 * The bus between nodes: each message goes to all other nodes on the database. It carries only what may be lost
 * (messages.ts). PostgreSQL has the truth, and every reader of messages also polls.
 *
 * A driver carries frames. notify-driver.ts uses NOTIFY of PostgreSQL.
 */
import type { Logger } from '../../platform/log.ts'
import {
  parseFrame,
  toFrame,
  type Frame,
  type Message,
  type MessageKind,
  type MessageOf,
  type NodeMessage,
} from './messages.ts'
import { OddMessages } from './odd-messages.ts'

export interface BusDriver {
  /** Begins to receive. `received` gets null for what can't be read as a frame, with the start of its text. */
  open(received: (frame: Frame | null, text: string) => void): Promise<void>
  /** Sends to all nodes, also to this one. It neither waits nor throws. */
  send(frame: Frame): void
  close(): Promise<void>
}

type Handler = (message: Message) => void | Promise<void>

export class Bus {
  /** The id of this node. Others see it as `from`. */
  readonly node: string
  readonly #driver: BusDriver
  readonly #log: Logger
  readonly #odd: OddMessages
  readonly #handlers = new Map<MessageKind, Handler[]>()

  constructor({ node, driver, log }: { node: string; driver: BusDriver; log: Logger }) {
    this.node = node
    this.#driver = driver
    this.#log = log
    this.#odd = new OddMessages(log)
  }

  /** Calls `handler` for each message of this kind from another node or from the database. */
  on<K extends MessageKind>(kind: K, handler: (message: MessageOf<K>) => void | Promise<void>): void {
    const handlers = this.#handlers.get(kind) ?? []
    this.#handlers.set(kind, [...handlers, handler as Handler])
  }

  /** Sends a message to all other nodes. It neither waits nor throws: a message may be lost. */
  publish(message: NodeMessage): void {
    this.#driver.send(toFrame(this.node, message))
  }

  /** Begins to receive. */
  start(): Promise<void> {
    return this.#driver.open((frame, text) => this.#received(frame, text))
  }

  stop(): Promise<void> {
    return this.#driver.close()
  }

  #received(frame: Frame | null, text: string): void {
    const message = frame && parseFrame(frame)
    if (!message) {
      this.#odd.ignored(text)
      return
    }
    if ('from' in message && message.from === this.node) return
    for (const handler of this.#handlers.get(message.kind) ?? []) void this.#handle(handler, message)
  }

  async #handle(handler: Handler, message: Message): Promise<void> {
    try {
      await handler(message)
    } catch (error) {
      this.#log.warn({ err: error, kind: message.kind }, 'handling a message of another node failed')
    }
  }
}
