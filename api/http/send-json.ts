import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { limits } from '../../core/limits.ts'
import { jsonPieces, takesSteps } from './json-pieces.ts'
import { readInTime } from './read-in-time.ts'

/** Characters of an answer that are sent at once. Of a longer one as many are ready at most before the client reads. */
const readyCharacters = 256 * 1024

/**
 * Sends an answer. A large one is sent as a stream: its text is made while the client reads, so that many of them, and
 * slow clients, hold little memory.
 */
export async function sendJson(reply: FastifyReply, body: unknown): Promise<FastifyReply> {
  if (!isPlain(body)) return reply.send(unreadForHead(reply, body))
  reply.header('content-type', 'application/json; charset=utf-8')
  if (!takesSteps(body)) return reply.send(JSON.stringify(body))
  // The answer to a request with a key is stored, and therefore made whole, up to the size that is stored.
  const isKept = reply.request.headers['idempotency-key'] !== undefined
  const most = isKept ? limits.idempotency.answerCharacters : readyCharacters
  const pieces = jsonPieces(body)
  const ready: string[] = []
  let characters = 0
  while (characters <= most) {
    const { done, value } = await pieces.next()
    if (done) return reply.send(ready.join(''))
    ready.push(value)
    characters += value.length
  }
  const text = Readable.from(followedBy(ready, pieces), { objectMode: false, highWaterMark: readyCharacters })
  return reply.send(unreadForHead(reply, readInTime(text)))
}

/**
 * For a HEAD request Fastify reads a stream to its end, and takes a missing body for an empty one, of length 0. A stream
 * that has ended costs nothing, and leaves `content-length` as the handler has set it.
 */
function unreadForHead(reply: FastifyReply, body: unknown): unknown {
  if (reply.request.method !== 'HEAD') return body
  return body instanceof Readable ? body.destroy() : (body ?? Readable.from([]))
}

async function* followedBy(ready: string[], pieces: AsyncIterable<string>): AsyncGenerator<string> {
  while (ready.length > 0) yield ready.shift()!
  yield* pieces
}

/** Whether the body is a value to send as JSON, not bytes, a stream or text. */
const isPlain = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !(body instanceof Uint8Array) && !('pipe' in body)
