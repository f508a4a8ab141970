/**
 * Connections that are kept for a moment after an answer, for the next request to the same origin. Each was judged when
 * it was made, and leads nowhere else as long as it lives.
 */
import { performance } from 'node:perf_hooks'
import { Client } from 'undici'
import type { Connection, OpenConnection } from './connector.ts'
import type { Target } from './target.ts'

/** One connection at a time, and one request at a time on it. */
export interface Line {
  client: Client
  connection: Connection
  /** For the next request; only when the answer was complete. */
  keep(): void
  close(): void
}

export interface Pool {
  /** The one that was used last, or a new one, which connects when it is asked something. */
  take(target: Target): Line
  /** A new one in any case. */
  fresh(target: Target): Line
  close(): void
}

/** Receivers close idle connections, often after 5 s: what is that old might be closed as it is used. */
const idleMs = 4000
/** A name that has moved is noticed at the latest then. */
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
        connection.destroy() // also one that is still being established, which the client does not know
        void client.destroy()
      },
    }
    // Closed by the other side, or by the client when it has been idle.
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
