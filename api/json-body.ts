/** JSON bodies: parsed, and refused when they hold text that cannot be stored. */
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../core/errors.ts'

/** Of routes that take JSON. An empty body is none, whatever its content type says. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseJson(String(text)))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** @throws ServiceError `bad_request` */
function parseJson(text: string): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw new ServiceError('bad_request', `The body is not valid JSON: ${(error as Error).message}.`, {
      cause: error,
    })
  }
  const field = unstorable.test(text) ? findUnstorable(body) : null
  if (field !== null) {
    throw new ServiceError(
      'bad_request',
      `${field || 'The body'} must be text without U+0000 and without halves of surrogate pairs.`,
    )
  }
  return body
}

/** Only an escape can bring such a character into a body: its bytes were decoded as UTF-8. */
const unstorable = /\\u(?:0000|d[89a-f])/i

/** The first field whose name or text can't be stored; null when there is none. Without recursion: bodies can be deep. */
function findUnstorable(body: unknown): string | null {
  const open: { value: unknown; path: string }[] = [{ value: body, path: '' }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next
    if (typeof value === 'string' && !isStorable(value)) return path
    if (typeof value !== 'object' || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      if (!isStorable(key)) return path
      const where = Array.isArray(value) ? `[${key}]` : path ? `.${key}` : key
      open.push({ value: inner, path: path.length < 200 ? path + where : path })
    }
  }
  return null
}

/** The database takes neither. */
export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')
