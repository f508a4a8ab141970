/** One request and its answer, within bounds of time and size, whatever the other side does. */
import { performance } from 'node:perf_hooks'
import { Client, type Dispatcher } from 'undici'
import { RefusedError, type OpenConnection } from './connector.ts'
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
 * A connection for each request: one that is kept can be dead without anybody knowing, and a request that was lost on
 * it could not be told from one that was carried out.
 */
export async function exchange(
  open: OpenConnection,
  target: Target,
  request: OutgoingRequest,
): Promise<Outcome> {
  const startedAt = performance.now()
  const durationMs = () => Math.round(performance.now() - startedAt)
  const connection = open(target)
  const client = new Client(target.url.origin, {
    connect: connection.connect,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  let late = false
  // A signal would not do: it is not heeded before there is a connection.
  const timer = setTimeout(() => {
    late = true
    void close()
  }, request.timeoutMs)
  const close = () => {
    connection.destroy() // also one that is still being established, which the client does not know
    return client.destroy()
  }
  try {
    const answer = await client.request({
      method: request.method,
      path: target.url.pathname + target.url.search,
      headers: request.headers,
      body: request.body ?? null,
      reset: true, // `connection: close`
    })
    await drain(answer.body, request.maxAnswerBytes)
    return {
      outcome: 'answered',
      status: answer.statusCode,
      headers: oneValueEach(answer.headers),
      durationMs: durationMs(),
    }
  } catch (error) {
    const failure = late ? 'timeout' : failureOf(error, connection.established())
    const text =
      failure === 'timeout' ? `no complete answer within ${request.timeoutMs / 1000} s` : describe(error)
    return { outcome: failure, error: text, durationMs: durationMs() }
  } finally {
    clearTimeout(timer)
    await close()
  }
}

async function drain(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<void> {
  let sizeBytes = 0
  for await (const chunk of body) {
    sizeBytes += (chunk as Uint8Array).length
    if (sizeBytes >= maxBytes) return
  }
}

export function oneValueEach(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

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
