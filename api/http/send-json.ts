import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { limits } from '../../core/limits.ts'
import { jsonPieces } from './json-pieces.ts'

/**
 * Sends an answer. A large one is sent as a stream, because one write would copy it several times while the loop waits.
 */
export async function sendJson(reply: FastifyReply, body: unknown): Promise<FastifyReply> {
  if (!isPlain(body)) return reply.send(body)
  const pieces = await jsonPieces(body)
  reply.header('content-type', 'application/json; charset=utf-8')
  if (pieces.length === 1) return reply.send(pieces[0])
  let characters = 0
  for (const piece of pieces) characters += piece.length
  if (characters <= limits.idempotency.answerCharacters) return reply.send(pieces.join(''))
  return reply.send(Readable.from(pieces, { objectMode: false, highWaterMark: 1024 * 1024 }))
}

/** Whether the body is a value to send as JSON, not bytes, a stream or text. */
const isPlain = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !(body instanceof Uint8Array) && !('pipe' in body)
