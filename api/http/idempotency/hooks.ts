/**
 * Fastify hooks for the header `Idempotency-Key`: they begin an attempt, or replay its answer, and store the answer.
 */
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { badRequest, statusOf } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'
import { jsonPieces } from '../json-pieces.ts'
import { errorBody, toServiceError } from '../error-reply.ts'
import { fingerprintOf, type Attempt, type Attempts, type Content, type StoredResponse } from './attempts.ts'
import { hashStream, type StreamedContent } from './streamed.ts'

declare module 'fastify' {
  interface FastifyRequest {
    attempt: Attempt | null
    streamed: StreamedContent | null
    replayed: boolean
  }
}

/** A hook that runs after the body was read. It answers a replay at once. */
export function beginAttempt(attempts: Attempts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const key = keyOf(request)
    if (key === null) return undefined
    const begun = isStream(request.body)
      ? await beginStreamed(attempts, request, key, request.body)
      : await begin(attempts, request, key, await contentOf(request.body))
    if (begun === null) return undefined
    return replay(request, reply, begun).send(begun.body)
  }
}

/** A hook that stores an answer for replay, and releases the key. */
export function endAttempt(attempts: Attempts) {
  return async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    const { statusCode: status } = reply
    if (request.replayed) return (request.streamed?.drop(), payload)
    if (!request.attempt) {
      request.streamed?.drop()
      // The request was refused before its body was read, for its size, type or syntax.
      const key = refusedEarly.has(status) && request.principal ? validKey(request) : null
      if (key === null) return payload
      try {
        const begun = await begin(attempts, request, key, unreadContent(request))
        if (begun !== null) return (replay(request, reply, begun), begun.body)
      } catch (error) {
        const { code, message } = toServiceError(error)
        reply.code(statusOf[code]).header('content-type', 'application/json; charset=utf-8')
        return JSON.stringify(errorBody(code, message))
      }
    }
    const attempt = request.attempt!
    try {
      const outcome = attempt.failedWith ?? status
      const kept = (outcome >= 200 && outcome < 300) || refusedEarly.has(outcome)
      if (kept && isKept(payload) && (await isFingerprinted(request)))
        await attempts.keep(attempt, { status, headers: ownHeaders(reply), body: payload })
    } finally {
      request.streamed?.drop()
      await attempt.release()
    }
    return payload
  }
}

/** Whether an answer is stored. Larger answers are streams, or rows that would take space that no quota counts. */
const isKept = (payload: unknown): payload is string =>
  typeof payload === 'string' && payload.length <= limits.idempotency.answerCharacters

const refusedEarly = new Set([400, 413, 415])

async function begin(
  attempts: Attempts,
  request: FastifyRequest,
  key: string,
  content: Content,
  readContent?: () => Promise<Content>,
): Promise<StoredResponse | null> {
  const [path = '', query = ''] = request.url.split('?', 2)
  const begun = await attempts.begin({
    userId: request.principal!.userId,
    method: request.method,
    path,
    key,
    content: [query, ...content],
    ...(readContent ? { readContent: async () => [query, ...(await readContent())] } : {}),
  })
  if ('status' in begun) return begun
  request.attempt = begun
  return null
}

/** Begins an attempt whose body is a stream. Until the body is read, the fingerprint covers only the headers. */
async function beginStreamed(
  attempts: Attempts,
  request: FastifyRequest,
  key: string,
  body: Readable,
): Promise<StoredResponse | null> {
  const [, query = ''] = request.url.split('?', 2)
  const type = request.headers['content-type'] ?? ''
  const contentOf = (digest: string): Content => ['streamed', type, digest]
  const streamed = hashStream(body, (digest) => {
    if (request.attempt) request.attempt.key.fingerprint = fingerprintOf([query, ...contentOf(digest)])
  })
  request.streamed = streamed
  request.body = streamed.body
  return begin(attempts, request, key, unreadContent(request), async () =>
    contentOf(await streamed.digest().catch(incomplete)),
  )
}

/**
 * Whether the fingerprint is final. A request refused for its headers has that of the headers; a request whose body was
 * read must have that of the whole body.
 */
async function isFingerprinted({ streamed }: FastifyRequest): Promise<boolean> {
  if (!streamed?.isRead()) return true
  return streamed.digest().then(
    () => true,
    () => false, // the body is incomplete
  )
}

function incomplete(cause: unknown): never {
  throw badRequest('The connection closed before the end of the body.', { cause })
}

function replay(request: FastifyRequest, reply: FastifyReply, stored: StoredResponse): FastifyReply {
  request.replayed = true
  return reply.code(stored.status).headers({ ...stored.headers, 'idempotent-replay': 'true' })
}

/** The idempotency key; null without one. @throws ServiceError `bad_request` */
function keyOf(request: FastifyRequest): string | null {
  if (request.headers['idempotency-key'] === undefined) return null
  const key = validKey(request)
  if (key !== null) return key
  throw badRequest(`Idempotency-Key must have 1 to ${limits.idempotency.key} characters.`)
}

function validKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  return typeof key === 'string' && key !== '' && key.length <= limits.idempotency.key ? key : null
}

async function contentOf(body: unknown): Promise<Content> {
  if (body instanceof Uint8Array) return ['bytes', body]
  return ['json', await Array.fromAsync(jsonPieces(body ?? null))]
}

/** Whether the body is a stream, as for uploads. Before it is read, only its size and type are known. */
const isStream = (body: unknown): body is Readable =>
  typeof body === 'object' && body !== null && 'pipe' in body

function unreadContent({ headers }: FastifyRequest): string[] {
  return ['unread', headers['content-type'] ?? '', headers['content-length'] ?? '']
}

/** Headers that belong to one request, so a replay does not repeat them. */
const perRequest =
  /^(x-request-id|x-ratelimit-.*|ratelimit.*|retry-after|access-control-.*|vary|date|connection|keep-alive|content-length|transfer-encoding)$/

function ownHeaders(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(
    Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
      value === undefined || perRequest.test(name) ? [] : [[name, String(value)]],
    ),
  )
}
