/** One request and its answer, within bounds of time and size, whatever the other side does. */
import { performance } from 'node:perf_hooks'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { RefusedError } from './connector.ts'
import type { Line, Pool } from './pool.ts'
import type { Target } from './target.ts'

export interface OutgoingRequest {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | Uint8Array
  /** For all of it: the name, the connection, the request, the answer. */
  timeoutMs: number
  /** What is read of the answer's body, as it comes over the wire; then the connection is closed. Nothing is kept of it. */
  maxAnswerBytes: number
}

export type Outcome =
  | { outcome: 'answered'; status: number; headers: Record<string, string>; durationMs: number }
  | { outcome: Failure; error: string; durationMs: number }

/**
 * `refused`: by our rules. `unreachable`: no connection came about. `timeout`: not done in time, at whatever step.
 * `broken`: the connection broke off or what came over it is not HTTP; the other side may have had the request.
 */
export type Failure = 'refused' | 'unreachable' | 'timeout' | 'broken'

/**
 * Over a connection that is kept from an earlier request to the origin, or over one of its own. When a kept one is closed
 * before anything of an answer came, the request is sent once more, over a new one: the other side has most likely closed
 * it as idle. It can have had the request all the same, so that who sends must not mind that it arrives twice.
 */
export async function exchange(pool: Pool, target: Target, request: OutgoingRequest): Promise<Outcome> {
  const startedAt = performance.now()
  const durationMs = () => Math.round(performance.now() - startedAt)
  let line = pool.take(target)
  let late = false
  // A signal would not do: it is not heeded before there is a connection.
  const timer = setTimeout(() => {
    late = true
    line.close()
  }, request.timeoutMs)
  try {
    for (;;) {
      const before = line.connection.established()
        ? { times: line.connection.times(), bytesRead: line.connection.bytesRead() }
        : null
      const { answer, error } = await ask(line, target, request)
      if (answer) {
        if (answer.whole) line.keep()
        else line.close()
        const { status, headers } = answer
        return {
          outcome: 'answered',
          status,
          get headers() {
            return oneValueEach(headers) // seldom asked for
          },
          durationMs: durationMs(),
        }
      }
      const { connection } = line
      line.close()
      const wasKept = before !== null && connection.times() === before.times
      if (wasKept && !late && connection.bytesRead() === before.bytesRead && wasClosed(error)) {
        line = pool.fresh(target)
        continue
      }
      const failure = late ? 'timeout' : failureOf(error, connection.times() > 0)
      const text =
        failure === 'timeout' ? `no complete answer within ${request.timeoutMs / 1000} s` : describe(error)
      return { outcome: failure, error: text, durationMs: durationMs() }
    }
  } finally {
    clearTimeout(timer)
  }
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** It was read to its end: the connection can be used again. */
  whole: boolean
}

function ask(
  { client }: Line,
  { path }: Target,
  request: OutgoingRequest,
): Promise<{ answer: Answer; error: null } | { answer: null; error: unknown }> {
  return new Promise((resolve) => {
    let head: Omit<Answer, 'whole'> | null = null
    let sizeBytes = 0
    const answered = (whole: boolean) => resolve({ answer: { ...head!, whole }, error: null })
    client.dispatch(
      {
        method: request.method,
        path,
        headers: request.headers,
        body: request.body ?? null,
      },
      {
        onRequestStart() {},
        onResponseStart(_controller, status, headers) {
          if (status >= 200) head = { status, headers }
        },
        onResponseData(_controller, chunk) {
          sizeBytes += chunk.length
          if (sizeBytes >= request.maxAnswerBytes) answered(false)
        },
        onResponseEnd: () => answered(true),
        onResponseError: (_controller, error) => resolve({ answer: null, error }),
      },
    )
  })
}

export function oneValueEach(headers: IncomingHttpHeaders): Record<string, string> {
  const found: [string, string][] = []
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) found.push([name, Array.isArray(value) ? value.join(', ') : value])
  }
  return Object.fromEntries(found)
}

/** Not: what came over it is not HTTP. */
const wasClosed = (error: unknown) =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

export function failureOf(error: unknown, established: boolean): Failure {
  if (error instanceof RefusedError) return 'refused'
  return established ? 'broken' : 'unreachable'
}

const words: Record<string, string> = {
  ENOTFOUND: 'the name does not resolve',
  ENODATA: 'the name does not resolve',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
}

export function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0])
  if (error instanceof RefusedError) return `url ${error.message}`
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return 'no secure connection came about'
  return words[code] ?? (message || code || 'the request failed').slice(0, 300)
}
