/** One request and its answer, within bounds of time and size, whatever the other side does. */
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
export function exchange(pool: Pool, target: Target, request: OutgoingRequest): Promise<Outcome> {
  return new Promise((resolve) => new Exchange(pool, target, request, resolve).begin())
}

class Answered {
  readonly outcome = 'answered'
  readonly status: number
  readonly durationMs: number
  private readonly given: IncomingHttpHeaders

  constructor(status: number, given: IncomingHttpHeaders, durationMs: number) {
    this.status = status
    this.given = given
    this.durationMs = durationMs
  }

  /** Seldom asked for. */
  get headers(): Record<string, string> {
    return oneValueEach(this.given)
  }
}

/** One object for what undici asks for and what is known meanwhile: there are thousands of them in a second. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly pool: Pool
  private readonly target: Target
  private readonly request: OutgoingRequest
  private readonly resolve: (outcome: Outcome) => void
  private readonly startedAt = performance.now()
  private readonly timer: NodeJS.Timeout
  private line: Line
  /** Of the connection, when the request went out: how often one was established (0: not yet), and what had come over it. */
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
    // A signal would not do: it is not heeded before there is a connection.
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

  /** @param isWhole it was read to its end: the connection can be used again */
  private answered(isWhole: boolean): void {
    if (this.isOver) return
    this.end(new Answered(this.status, this.headers, this.durationMs()))
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
