/** Fetches a URL and follows redirects, within limits of time and size, whatever the server does. */
import { performance } from 'node:perf_hooks'
import { pipeline, Transform, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip, type BrotliDecompress, type Unzip } from 'node:zlib'
import { Client } from 'undici'
import type { OpenConnection } from './connector.ts'
import { describe, failureOf, oneValueEach, type Failure } from './exchange.ts'
import type { Refusal, Target } from './target.ts'

export interface FetchRequest {
  url: string
  headers: Record<string, string>
  /** Limit for all hops together, until the body of the answer is received. */
  timeoutMs: number
  maxRedirects: number
  /** Limit for the body, before and after decompression. */
  maxBytes: number
}

export interface Fetched {
  /** URL of the last hop. */
  url: string
  status: number
  headers: Record<string, string>
  /** Decompressed. The stream fails when the connection breaks, time runs out or the body is too large. */
  body: Readable
}

export type FetchOutcome<T> =
  | { outcome: 'received'; value: T }
  | { outcome: Failure | 'redirects' | 'too-large'; error: string }

/** Processes an answer. Its connection stays open until the promise settles. */
export type Receive<T> = (answer: Fetched) => Promise<T>

/**
 * Fetches a URL and follows redirects. Each hop is a separate request with all checks and a new connection.
 *
 * @throws an error that `receive` itself throws
 */
export async function fetchAlong<T>(
  { read, open }: { read: (url: string) => Target | Refusal; open: OpenConnection },
  request: FetchRequest,
  receive: Receive<T>,
): Promise<FetchOutcome<T>> {
  const deadline = performance.now() + request.timeoutMs
  let url = request.url
  for (let redirects = 0; redirects <= request.maxRedirects; redirects += 1) {
    const target = read(url)
    if ('refused' in target) return { outcome: 'refused', error: named(redirects > 0, target.refused) }
    const step = await hop(open, target, request, deadline, receive)
    if (!('location' in step)) {
      if (step.outcome !== 'refused') return step
      return { ...step, error: named(redirects > 0, step.error.replace(/^url /, '')) }
    }
    url = step.location
  }
  return { outcome: 'redirects', error: `more than ${request.maxRedirects} redirects` }
}

const named = (redirected: boolean, fault: string) =>
  redirected ? `a redirect leads to a forbidden URL, which ${fault}` : `url ${fault}`

async function hop<T>(
  open: OpenConnection,
  target: Target,
  request: FetchRequest,
  deadline: number,
  receive: Receive<T>,
): Promise<FetchOutcome<T> | { location: string }> {
  const connection = open(target)
  const client = new Client(target.url.origin, {
    connect: connection.connect,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const close = () => {
    connection.destroy() // undici does not close a connection that is still being established
    return client.destroy()
  }
  let fault: FetchOutcome<T> | null = null
  let body: Readable | null = null
  const timer = setTimeout(
    () => {
      fault ??= { outcome: 'timeout', error: `no complete answer within ${request.timeoutMs / 1000} s` }
      void close()
    },
    Math.max(0, deadline - performance.now()),
  )
  try {
    const answer = await client
      .request({
        method: 'GET',
        path: target.url.pathname + target.url.search,
        headers: { 'accept-encoding': 'gzip, br', ...request.headers },
        reset: true, // `connection: close`
      })
      .catch((error: unknown) => {
        fault ??= { outcome: failureOf(error, connection.established()), error: describe(error) }
        throw error
      })
    answer.body.on('error', () => undefined)
    const headers = oneValueEach(answer.headers)
    const location = isRedirect.has(answer.statusCode) ? headers['location'] : undefined
    if (location !== undefined) return redirectTo(location, target.url)
    body = decoded(answer.body, headers['content-encoding'], request.maxBytes, (outcome, error) => {
      fault ??= { outcome, error }
    })
    const value = await receive({ url: target.url.href, status: answer.statusCode, headers, body })
    return { outcome: 'received', value }
  } catch (error) {
    if (fault) return fault
    throw error
  } finally {
    clearTimeout(timer)
    body?.destroy()
    await close()
  }
}

function redirectTo(
  location: string,
  from: URL,
): { outcome: 'broken'; error: string } | { location: string } {
  const next = URL.parse(location, from.href)
  return next
    ? { location: next.href }
    : { outcome: 'broken', error: 'the location of a redirect is not a URL' }
}

const isRedirect = new Set([301, 302, 303, 307, 308])

function decoded(
  source: Readable,
  encoding: string | undefined,
  maxBytes: number,
  failed: (outcome: 'broken' | 'too-large', error: string) => void,
): Readable {
  const counting = () => {
    let sizeBytes = 0
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        sizeBytes += chunk.length
        if (sizeBytes <= maxBytes) return done(null, chunk)
        failed('too-large', `more than ${maxBytes} bytes`)
        done(new Error('too large'))
      },
    })
  }
  const decoder = decoderOf(encoding)
  const body = counting()
  body.on('error', () => undefined) // the reader of the stream gets the error
  const ended = (error: NodeJS.ErrnoException | null | undefined) => {
    // A premature close means that the reader stopped reading. That is no fault.
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') failed('broken', describe(error))
  }
  if (decoder === 'unknown') {
    failed('broken', 'the answer has a content-encoding that the request did not accept')
    body.destroy(new Error('unknown encoding'))
    source.destroy()
  } else if (decoder) pipeline(source, counting(), decoder, body, ended)
  else pipeline(source, body, ended)
  return body
}

function decoderOf(encoding = ''): Unzip | BrotliDecompress | 'unknown' | null {
  const name = encoding.trim().toLowerCase()
  if (['', 'identity'].includes(name)) return null
  if (['gzip', 'x-gzip', 'deflate'].includes(name)) return createUnzip()
  return name === 'br' ? createBrotliDecompress() : 'unknown'
}
