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

export interface Pool {
  /** Returns the line that was used last, or a new one. A new line connects with its first request. */
  take(target: Target): Line
  /** Returns a new line. */
  fresh(target: Target): Line
  close(): void
}

/** Many receivers close idle connections after 5 s. A connection idle for longer might close just as it is used. */
const idleMs = 4000
/** Connections are not reused when they are older, so that changes in DNS take effect. */
const oldestMs = 60_000
const most = { ofOneOrigin: 64, inAll: 512 }

export function openPool(open: OpenConnection): Pool {
  const idle = new Map<string, Line[]>()
  let count = 0
  let closed = false

  function forget(origin: string, line: Line): void {
    const lines = idle.get(origin)
    const at = lines?.indexOf(line) ?? -1
    if (!lines || at < 0) return
    lines.splice(at, 1)
    count -= 1
    if (lines.length === 0) idle.delete(origin)
  }

  function make(target: Target): Line {
    const { origin } = target
    const startedAt = performance.now()
    const connection = open(target)
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
      keep() {
        const lines = idle.get(origin) ?? []
        const fits = count < most.inAll && lines.length < most.ofOneOrigin
        if (closed || !fits || !connection.established() || performance.now() - startedAt > oldestMs)
          return line.close()
        lines.push(line)
        count += 1
        idle.set(origin, lines)
      },
      close() {
        forget(origin, line)
        connection.destroy() // undici does not close a connection that is still being established
        void client.destroy()
      },
    }
    // The receiver closed the connection, or the client did because it was idle.
    client.on('disconnect', () => forget(origin, line))
    return line
  }

  return {
    fresh: make,
    take(target) {
      const lines = idle.get(target.origin)
      const line = lines?.pop()
      if (!line) return make(target)
      count -= 1
      if (lines!.length === 0) idle.delete(target.origin)
      return line
    },
    close() {
      closed = true
      for (const line of [...idle.values()].flat()) line.close()
    },
  }
}
