/** Sends one request and reads its answer, within limits of time and size, whatever the receiver does. */
import { performance } from 'node:perf_hooks'
import type { Dispatcher } from 'undici'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { RefusedError } from './connector.ts'
import type { Line, Pool } from './pool.ts'
import type { Target } from './target.ts'

export interface OutgoingRequest {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | Uint8Array
  /** Limit for the whole exchange: DNS, connection, request and answer. */
  timeoutMs: number
  /** Most compressed bytes to read of the answer's body. Then the connection is closed. The body is discarded. */
  maxAnswerBytes: number
}

export type Outcome =
  | { outcome: 'answered'; status: number; headers: Record<string, string>; durationMs: number }
  | { outcome: Failure; error: string; durationMs: number }

/**
 * `refused`: our rules forbid the request. `unreachable`: no connection could be established. `timeout`: the exchange
 * took too long, at any step. `broken`: the connection failed, or its bytes are not HTTP. The receiver may have
 * received the request.
 */
export type Failure = 'refused' | 'unreachable' | 'timeout' | 'broken'

/**
 * Sends a request over an idle connection to the origin, or over a new one. If a reused connection closes before any
 * byte of an answer, the receiver has probably closed it as idle. The request is then sent once more over a new
 * connection. The receiver may have received it both times, so callers must accept duplicates.
 */
export function exchange(pool: Pool, target: Target, request: OutgoingRequest): Promise<Outcome> {
  return new Promise((resolve) => new Exchange(pool, target, request, resolve).begin())
}

/** The undici handler and the state of an exchange. They are one object because thousands are made per second. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly pool: Pool
  private readonly target: Target
  private readonly request: OutgoingRequest
  private readonly resolve: (outcome: Outcome) => void
  private readonly startedAt = performance.now()
  private readonly timer: NodeJS.Timeout
  private line: Line
  /** When the request was sent: the number of connections established (0: not connected), and the bytes received. */
  private timesBefore = 0
  private bytesBefore = 0
  private status = 0
  private headers: IncomingHttpHeaders = {}
  private sizeBytes = 0
  private isLate = false
  private isOver = false

  constructor(pool: Pool, target: Target, request: OutgoingRequest, resolve: (outcome: Outcome) => void) {
    this.pool = pool
    this.target = target
    this.request = request
    this.resolve = resolve
    this.line = pool.take(target)
    // Not an AbortSignal: undici ignores it until a connection is established.
    this.timer = setTimeout(() => {
      this.isLate = true
      this.line.close()
    }, request.timeoutMs)
  }

  begin(): void {
    const { client, connection } = this.line
    this.timesBefore = connection.established() ? connection.times() : 0
    this.bytesBefore = connection.bytesRead()
    const { method, headers, body } = this.request
    client.dispatch({ method, path: this.target.path, headers, body: body ?? null }, this)
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    this.status = status
    this.headers = headers
  }

  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    this.sizeBytes += chunk.length
    if (this.sizeBytes >= this.request.maxAnswerBytes) this.answered(false)
  }

  onResponseEnd(): void {
    this.answered(true)
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (this.isOver) return
    const { line } = this
    const { connection } = line
    line.close()
    const wasKept = this.timesBefore > 0 && connection.times() === this.timesBefore
    if (wasKept && !this.isLate && connection.bytesRead() === this.bytesBefore && wasClosed(error)) {
      this.line = this.pool.fresh(this.target)
      return this.begin()
    }
    const failure = this.isLate ? 'timeout' : failureOf(error, connection.times() > 0)
    const text =
      failure === 'timeout' ? `no complete answer within ${this.request.timeoutMs / 1000} s` : describe(error)
    this.end({ outcome: failure, error: text, durationMs: this.durationMs() })
  }

  /** @param isWhole the answer was read to its end, so the connection can be reused */
  private answered(isWhole: boolean): void {
    if (this.isOver) return
    const { status, headers } = this
    this.end({
      outcome: 'answered',
      status,
      durationMs: this.durationMs(),
      // Computed on access, because few callers need it.
      get headers() {
        return oneValueEach(headers)
      },
    })
    if (isWhole) this.line.keep()
    else this.line.close()
  }

  private durationMs(): number {
    return Math.round(performance.now() - this.startedAt)
  }

  private end(outcome: Outcome): void {
    this.isOver = true
    clearTimeout(this.timer)
    this.resolve(outcome)
  }
}

export function oneValueEach(headers: IncomingHttpHeaders): Record<string, string> {
  const found: [string, string][] = []
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) found.push([name, Array.isArray(value) ? value.join(', ') : value])
  }
  return Object.fromEntries(found)
}

/** True when the connection was closed. False for other faults, such as bytes that are not HTTP. */
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
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return 'the TLS connection failed'
  return words[code] ?? (message || code || 'the request failed').slice(0, 300)
}
