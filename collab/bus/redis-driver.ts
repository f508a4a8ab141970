/**
 * Carries messages over pub/sub of Redis. A channel belongs to one database, so that several Corkboards can share a
 * Redis. Pub/sub does not know the numbered databases of Redis.
 *
 * While Redis is out of reach, it connects again and again, and the bus sends over NOTIFY.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { createClient } from 'redis'
import type { Logger } from '../../platform/log.ts'
import type { BusDriver } from './bus.ts'
import { maxMessageBytes, type Frame } from './messages.ts'

type Client = ReturnType<typeof makeClient>

export interface RedisDriverOptions {
  url: string
  /** Names the database in the channel. */
  databaseId(): Promise<string>
  log: Logger
}

/** Redis that is silent for longer counts as lost. Pings keep a connection busy. */
const silentMs = 4000
const pingMs = 1000
const connectMs = 3000
const maxReconnectMs = 1000
/** How long the end waits for messages that Redis has not taken yet. */
const lastWordsMs = 500
/** Messages that Redis has not taken yet. Further ones are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024

export class RedisDriver implements BusDriver {
  readonly pace = { hintMs: 4, hintBytes: 16 * 1024, awarenessMs: 50 }
  lost = 0
  readonly #options: RedisDriverOptions
  #channel = ''
  #publisher: Client | null = null
  #subscriber: Client | null = null
  #isSubscribed = false
  /** What the log says. Null: nothing yet. */
  #saidReady: boolean | null = null
  #waitingBytes = 0
  #isClosed = false

  constructor(options: RedisDriverOptions) {
    this.#options = options
  }

  get isReady(): boolean {
    return this.#isSubscribed && this.#publisher?.isReady === true
  }

  async open(received: (frame: Frame | null, text: string) => void): Promise<void> {
    this.#channel = `corkboard:${await this.#options.databaseId()}`
    // Loaded only when it is used: it takes 20 MB.
    const { createClient } = await import('redis')
    this.#publisher = this.#connect(createClient)
    this.#subscriber = this.#connect(createClient)
    const listener = (message: Buffer) => {
      if (message.byteLength > maxMessageBytes) received(null, `${message.byteLength} bytes`)
      else received(toFrame(message), message.toString('latin1', 0, 200))
    }
    // Also after each new connection. Without a change of the subscription this does nothing.
    this.#subscriber.on('ready', () => void this.#subscribe(listener))
    this.#publisher.on('ready', () => this.#changed())
    for (const client of [this.#publisher, this.#subscriber]) void client.connect().catch(() => undefined)
  }

  send(frame: Frame): void {
    const message = fromFrame(frame)
    if (!this.#publisher || this.#waitingBytes + message.byteLength > maxWaitingBytes) {
      this.lost += 1
      return
    }
    this.#waitingBytes += message.byteLength
    void this.#publish(this.#publisher, message)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // Sends what waits. Without an answer it is lost.
    if (this.isReady)
      await Promise.race([this.#publisher?.close(), delay(lastWordsMs, undefined, { ref: false })])
    for (const client of [this.#publisher, this.#subscriber]) client?.destroy()
  }

  #connect(create: typeof createClient): Client {
    const client = makeClient(create, this.#options.url)
    client.on('error', (error: unknown) => {
      if (client === this.#subscriber && !client.isReady) this.#isSubscribed = false
      this.#changed(error)
    })
    return client
  }

  async #subscribe(listener: (message: Buffer) => void): Promise<void> {
    try {
      await this.#subscriber?.subscribe(this.#channel, listener, true)
      this.#isSubscribed = this.#subscriber?.isReady === true
      this.#changed()
    } catch {
      // The connection is lost again. The next one subscribes.
    }
  }

  async #publish(publisher: Client, message: Buffer): Promise<void> {
    try {
      await publisher.publish(this.#channel, message)
    } catch {
      this.lost += 1
    } finally {
      this.#waitingBytes -= message.byteLength
    }
  }

  /** Logs each change once. */
  #changed(error?: unknown): void {
    if (this.#isClosed || this.#saidReady === this.isReady) return
    if (!this.isReady && error === undefined) return // still connecting
    this.#saidReady = this.isReady
    const { log } = this.#options
    if (this.isReady) log.info({}, 'Redis is connected; messages between nodes go over Redis')
    else
      log.warn(
        { err: error },
        'Redis is out of reach; messages between nodes go over NOTIFY until it is back',
      )
  }
}

function makeClient(create: typeof createClient, url: string) {
  return create({
    url,
    disableOfflineQueue: true,
    pingInterval: pingMs,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: connectMs,
      socketTimeout: silentMs,
      reconnectStrategy: (retries) => Math.min(maxReconnectMs, 50 * 2 ** retries),
    },
  })
}

function fromFrame({ head, bytes }: Frame): Buffer {
  return bytes ? Buffer.concat([Buffer.from(`${head}\n`), bytes]) : Buffer.from(head)
}

/** Copies the bytes: the message is a slice of the socket's read buffer. */
function toFrame(message: Buffer): Frame {
  const end = message.indexOf('\n')
  if (end < 0) return { head: message.toString(), bytes: null }
  return { head: message.toString('utf8', 0, end), bytes: Uint8Array.from(message.subarray(end + 1)) }
}
