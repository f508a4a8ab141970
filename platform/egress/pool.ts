/**
 * Keeps connections open for a few seconds after an answer, for the next request to the same origin. Its address was
 * checked when a connection was made and cannot change while it is open.
 */
import { performance } from 'node:perf_hooks'
import { Client } from 'undici'
import type { Connection, OpenConnection } from './connector.ts'
import type { Target } from './target.ts'

/** A client with one connection, which carries one request at a time. */
export interface Line {
  client: Client
  connection: Connection
  /** Returns the line to the pool. Call it only when the answer was complete. */
  keep(): void
  close(): void
}

/** Many receivers close idle connections after 5 s. A connection idle for longer might close just as it is used. */
const idleMs = 4000
/** Connections are not reused when they are older, so that changes in DNS take effect. */
const oldestMs = 60_000
const most = { ofOneOrigin: 64, inAll: 512 }

export class Pool {
  readonly #open: OpenConnection
  readonly #idle = new Map<string, Line[]>()
  #count = 0
  #closed = false

  constructor(open: OpenConnection) {
    this.#open = open
  }

  /** Returns the line that was used last, or a new one. A new line connects with its first request. */
  take(target: Target): Line {
    const line = this.#idle.get(target.origin)?.at(-1)
    if (!line) return this.fresh(target)
    this.#forget(target.origin, line)
    return line
  }

  /** Returns a new line. */
  fresh(target: Target): Line {
    const { origin } = target
    const startedAt = performance.now()
    const connection = this.#open(target)
    const client = new Client(origin, {
      connect: connection.connect,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
    })
    const line: Line = {
      client,
      connection,
      keep: () => {
        const isOld = performance.now() - startedAt > oldestMs
        if (isOld || !connection.established() || !this.#hasRoom(origin)) line.close()
        else this.#keep(origin, line)
      },
      close: () => {
        this.#forget(origin, line)
        connection.destroy() // undici does not close a connection that is still being established
        void client.destroy()
      },
    }
    // The receiver closed the connection, or the client did because it was idle.
    client.on('disconnect', () => this.#forget(origin, line))
    return line
  }

  close(): void {
    this.#closed = true
    for (const line of [...this.#idle.values()].flat()) line.close()
  }

  #hasRoom(origin: string): boolean {
    const ofOrigin = this.#idle.get(origin)?.length ?? 0
    return !this.#closed && this.#count < most.inAll && ofOrigin < most.ofOneOrigin
  }

  #keep(origin: string, line: Line): void {
    this.#idle.getOrInsertComputed(origin, () => []).push(line)
    this.#count += 1
  }

  #forget(origin: string, line: Line): void {
    const lines = this.#idle.get(origin)
    const at = lines?.lastIndexOf(line) ?? -1
    if (!lines || at < 0) return
    lines.splice(at, 1)
    this.#count -= 1
    if (lines.length === 0) this.#idle.delete(origin)
  }
}
