/** Turns every error of a request into `{error, code}` with its status. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError, statusOf, type ErrorCode } from '../../core/errors.ts'
import { errorCode, isUnavailable, storageUnavailable } from '../../sql/database.ts'

export interface SchemaError {
  instancePath: string
  keyword: string
  params: Record<string, unknown>
  message?: string
}

export function toServiceError(error: unknown): ServiceError {
  if (errorCode((error as Error | null)?.cause) === heldElsewhere) return inProgress(error)
  if (error instanceof ServiceError) return error
  // The authorization server wraps errors of the database; see oauth/outage.ts.
  if (error instanceof Error && error.cause instanceof ServiceError) return error.cause
  const as = (code: ErrorCode, message: string) => new ServiceError(code, message, { cause: error })
  const { code, validation, validationContext, statusCode } = error as FastifyError & {
    validationContext?: string
  }
  if (validation) return as('bad_request', schemaMessage(validation as SchemaError[], validationContext))
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return as(
        'payload_too_large',
        'The body is larger than this endpoint accepts. Send less in one request.',
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return as('unsupported_media_type', 'The body must be JSON, with content-type application/json.')
    case '42501': // a row-level security policy, or a function of the database that says why
      return as('forbidden', reasonOf(error as DatabaseError) ?? 'You may see this, but not change it.')
    case '23505':
      // A concurrent request took the identifier after the check that names it.
      if ((error as { constraint_name?: string }).constraint_name !== 'board_identifiers_pkey') break
      return as('conflict', 'identifiers: another board already has one of these identifiers.')
    case tooManyTokens:
      return as('limit_reached', (error as Error).message)
    case heldElsewhere:
      return inProgress(error)
    case '22021':
    case '22P05':
      return as('bad_request', 'The request must not contain the character U+0000.')
  }
  if (isUnavailable(error)) return storageUnavailable(error)
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return as('bad_request', `The request is malformed: ${(error as Error).message}`)
  return as('internal_error', '')
}

interface DatabaseError {
  message: string
  /** The routine of PostgreSQL that raised it. */
  routine?: string
}

/** What a function of the database has raised, as a sentence. */
function reasonOf({ message, routine }: DatabaseError): string | null {
  return routine === 'exec_stmt_raise' ? `${message.charAt(0).toUpperCase()}${message.slice(1)}.` : null
}

/** Raised when an account has the most live tokens; see functions/sessions.sql. */
const tooManyTokens = 'CB402'

/** Raised when another attempt with the same idempotency key has the lock; see functions/operations.sql. */
const heldElsewhere = 'CB409'
const inProgress = (cause: unknown) =>
  new ServiceError(
    'idempotency_in_progress',
    'Another request with this Idempotency-Key is still running. Try again in a few seconds.',
    { cause },
  )

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, code, message, shows } = reportFailure(error, request, reply)
  return reply.code(status).send({ ...errorBody(code, message), ...shows })
}

/** Logs errors of the service, and sets `retry-after` for temporary ones. @returns the parts of the answer */
export function reportFailure(
  error: unknown,
  request: FastifyRequest,
  reply?: FastifyReply,
): { status: number; code: ErrorCode; message: string; shows: ServiceError['shows'] } {
  const failure = toServiceError(error)
  const status = statusOf[failure.code]
  if (ofOthers.has(failure.code)) request.log.info({ code: failure.code }, failure.message)
  else if (status >= 500)
    request.log.error({ err: error, sql: errorCode(error) || undefined }, failure.message || 'request failed')
  const retryAfter = failure.retryAfterSeconds ?? (status === 503 ? 2 : undefined)
  if (retryAfter !== undefined && reply && !reply.hasHeader('retry-after'))
    reply.header('retry-after', String(retryAfter))
  const message =
    failure.code === 'internal_error'
      ? `Internal error. If it repeats, report the request id ${request.id}.`
      : failure.message
  return { status, code: failure.code, message, shows: failure.shows }
}

/** Faults of other people's servers, which an account has named. Whoever runs the service can't mend them. */
const ofOthers: ReadonlySet<ErrorCode> = new Set(['upstream_rejected', 'upstream_error'])

export const errorBody = (code: ErrorCode, error: string) => ({ error, code })

/** A message that names the field and what it accepts. */
export function schemaMessage(errors: SchemaError[], context = 'body'): string {
  const error = errors.find(({ keyword }) => keyword !== 'anyOf') ?? errors[0]
  if (!error) return `The ${context} is invalid.`
  // Each branch of a union has its own `type` error: the message names all types.
  const types = errors.filter(
    ({ keyword, instancePath }) => keyword === 'type' && instancePath === error.instancePath,
  )
  const path = fieldName(error.instancePath)
  const where = path || (context === 'body' ? 'The body' : `The ${context}`)
  const { params } = error
  switch (error.keyword) {
    case 'required':
      return `${path ? `${path}.` : ''}${String(params['missingProperty'])} is required.`
    case 'type':
      return `${where} must be ${types.map(({ params }) => typeName(String(params['type']))).join(' or ')}.`
    case 'const':
      return `${where} must be one of: ${String(params['allowedValue'])}.`
    case 'enum':
      return `${where} must be one of: ${(params['allowedValues'] as unknown[]).join(', ')}.`
    case 'maxLength':
      return `${where} must be at most ${count(params['limit'], 'character')}.`
    case 'minLength':
      return `${where} must be at least ${count(params['limit'], 'character')}.`
    case 'maxItems':
      return `${where} must hold at most ${count(params['limit'], 'entry', 'entries')}.`
    case 'minItems':
      return `${where} must hold at least ${count(params['limit'], 'entry', 'entries')}.`
    case 'format':
      return `${where} must be a valid ${String(params['format'])}${examples[String(params['format'])] ?? ''}.`
    default:
      return `${where} ${error.message ?? 'is invalid'}.`
  }
}

const examples: Record<string, string> = {
  date: ', such as 2030-01-31',
  'date-time': ', such as 2030-01-31T12:00:00Z',
  uri: ', such as https://example.com/page',
}

const count = (limit: unknown, one: string, many = `${one}s`) =>
  `${String(limit)} ${limit === 1 ? one : many}`

const typeName = (type: string) =>
  type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`

/** `/cards/3/title` → `cards[3].title` */
function fieldName(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), '')
}
