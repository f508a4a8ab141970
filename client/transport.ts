/**
 * Sends requests, again where that is safe: a POST keeps its `Idempotency-Key` over all of its attempts, and the service
 * does it once. GET, PATCH and DELETE may be repeated by themselves.
 */
import { CorkboardError, type FailureCode } from './errors.ts'
import { readToken, type TokenSource } from './token.ts'
import { backoffMs, wait } from './wait.ts'

export interface ClientOptions {
  /** The service's address, such as `https://boards.example.com`. */
  url: string
  token: TokenSource
  /** For how long a request is tried. Default: a minute. `Infinity` tries until its `signal` is aborted. */
  retryForMs?: number
  /** For how long one attempt may take. Default: two minutes. */
  timeoutMs?: number
  fetch?: typeof fetch
}

/** Options of one request. */
export interface SendOptions {
  signal?: AbortSignal
  retryForMs?: number
  headers?: Record<string, string>
  /** Of a POST. Default: a new one for each request. Give your own to send a request again after a restart. */
  idempotencyKey?: string
}

export interface Outgoing extends SendOptions {
  method: string
  /** Below the API root, with the query. */
  path: string
  body?: string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>
  contentType?: string
}

export type Transport = (request: Outgoing) => Promise<unknown>

/** Statuses that a balancer answers with while the service restarts. */
const gatewayStatuses = [502, 503, 504]
const passing: FailureCode[] = [
  'rate_limited',
  'session_unavailable',
  'storage_unavailable',
  'idempotency_in_progress',
  'unreachable',
]

const isPassing = ({ code, status }: CorkboardError) =>
  passing.includes(code) || (code === 'unexpected_answer' && gatewayStatuses.includes(status))

/** @returns a function that answers with the JSON of a success, or with the `Response` itself when it has none */
export function openTransport(options: ClientOptions): Transport {
  const { url, token, retryForMs = 60_000 } = options
  if (!URL.canParse(url))
    throw new TypeError('Give `url`: the address of the service, such as https://boards.example.com.')
  return async (request) => {
    const until = performance.now() + (request.retryForMs ?? retryForMs)
    const headers = headersOf(request)
    let [renewed, refused] = [false, false]
    for (let attempt = 1; ; attempt++) {
      headers.set('authorization', `Bearer ${await readToken(token, refused)}`)
      refused = false
      const outcome = await attemptOnce(options, request, headers)
      if (!(outcome instanceof CorkboardError)) return outcome
      if (outcome.code === 'invalid_token' && typeof token === 'function' && !renewed) {
        renewed = refused = true
        continue
      }
      const waitMs = Math.max((outcome.retryAfterSeconds ?? 0) * 1000, backoffMs(attempt))
      if (!isPassing(outcome) || performance.now() + waitMs > until) throw outcome
      await wait(waitMs, request.signal)
    }
  }
}

function headersOf({ method, body, contentType, headers, idempotencyKey }: Outgoing): Headers {
  const sent = new Headers(headers)
  if (body !== undefined) sent.set('content-type', contentType ?? 'application/json')
  if (method === 'POST' && !sent.has('idempotency-key'))
    sent.set('idempotency-key', idempotencyKey ?? newKey())
  return sent
}

/** Not `crypto.randomUUID()`, which browsers offer to pages by https alone. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

/** @throws the reason of `signal`. Every other failure is returned */
async function attemptOnce(
  { url, timeoutMs = 120_000, fetch = globalThis.fetch }: ClientOptions,
  { method, path, body, signal }: Outgoing,
  headers: Headers,
): Promise<unknown> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = () => controller.abort(signal!.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(
    () => controller.abort(new Error(`No answer came within ${timeoutMs} ms.`)),
    timeoutMs,
  )
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/api/v1${path}`, {
      method,
      headers,
      signal: controller.signal,
      ...(body === undefined ? {} : { body }),
    })
    if (response.ok && !isJson(response)) return response
    return await read(response)
  } catch (cause) {
    signal?.throwIfAborted()
    const reason: unknown = controller.signal.aborted ? controller.signal.reason : cause
    return new CorkboardError(
      'unreachable',
      `${method} ${path}: no answer came. Check the address and the network. ${String(reason)}`,
      {},
      { cause: reason },
    )
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

const isJson = ({ headers }: Response) => headers.get('content-type')?.includes('json') ?? false

async function read(response: Response): Promise<unknown> {
  const text = await response.text()
  if (response.ok) return JSON.parse(text) as unknown
  const { status, headers } = response
  let body: Record<string, unknown> = {}
  if (isJson(response)) body = JSON.parse(text) as Record<string, unknown>
  const answer = {
    status,
    body,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number(headers.get('retry-after')) || undefined,
  }
  if (typeof body['code'] === 'string')
    return new CorkboardError(body['code'] as FailureCode, String(body['error']), answer)
  return new CorkboardError('unexpected_answer', `The answer was ${status}, without a code.`, answer)
}
