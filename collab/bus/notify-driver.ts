/**
 * Carries messages over NOTIFY of PostgreSQL. The triggers of the database send on the same channel.
 *
 * Transactions with NOTIFY commit one after the other. So messages have a connection of their own. While one statement
 * runs, further messages wait and go together with the next.
 */
import type { Logger } from '../../platform/log.ts'
import type { Database, Listener } from '../../sql/database.ts'
import type { BusDriver } from './bus.ts'
import type { Frame } from './messages.ts'
import { Parts, splitText } from './parts.ts'
import { RareWarning } from '../../platform/rare-warning.ts'

const channel = 'corkboard_nodes'
/** Messages that wait for the connection. When it hangs, the oldest are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024

export class NotifyDriver implements BusDriver {
  readonly isReady = true
  /**
   * Each statement wakes a process for each node, and delays other NOTIFYs. So messages are fewer than with Redis.
   *
   * Measured for awareness, with 100 cursors in motion on a board, over three nodes: every 300 ms they are 20 NOTIFYs and
   * 80 KB a second, and a cursor is seen on another node after 160 ms at the median; every 150 ms they are 40 and 160 KB,
   * after 95 ms. PostgreSQL needs up to 10 ms of CPU a second for them, of which half can't be told from its noise.
   */
  readonly pace = { hintMs: 15, hintBytes: 4096, awarenessMs: 150 }
  lost = 0
  readonly #database: Database
  readonly #failed: RareWarning
  readonly #parts = new Parts()
  #waiting: string[] = []
  #waitingBytes = 0
  #sending: Promise<void> | null = null
  #listener: Listener | null = null

  constructor({ database, log }: { database: Database; log: Logger }) {
    this.#database = database
    this.#failed = new RareWarning(log, 'messages to other nodes could not be sent over NOTIFY')
  }

  async open(received: (frame: Frame | null, text: string) => void): Promise<void> {
    this.#listener = await this.#database.listen(channel, (text) => {
      const whole = this.#parts.add(text)
      if (whole !== null) received(fromText(whole), whole)
    })
  }

  send(frame: Frame): void {
    const text = toText(frame)
    this.#waiting.push(text)
    this.#waitingBytes += text.length
    while (this.#waitingBytes > maxWaitingBytes) {
      this.#waitingBytes -= this.#waiting.shift()!.length
      this.lost += 1
    }
    this.#sending ??= this.#sendAll()
  }

  async close(): Promise<void> {
    await this.#sending
    await this.#listener?.close()
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const texts = this.#waiting
      this.#waiting = []
      this.#waitingBytes = 0
      try {
        // A node whose start is undone before it listens has told nobody that it is there.
        await this.#listener?.notify(texts.flatMap(splitText))
      } catch (error) {
        this.lost += texts.length
        this.#failed.add({ err: error }, texts.length)
      }
    }
    this.#sending = null
  }
}

const toText = ({ head, bytes }: Frame): string =>
  bytes
    ? `${head}\n${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}`
    : head

function fromText(text: string): Frame {
  const end = text.indexOf('\n')
  if (end < 0) return { head: text, bytes: null }
  return { head: text.slice(0, end), bytes: Buffer.from(text.slice(end + 1), 'base64') }
}
