/** Calls API operations on behalf of an MCP request, with its token. Each message counts as one request. */
import { badRequest } from '../../core/errors.ts'
import type { Expects } from '../../core/version.ts'
import { requireRights } from '../http/authenticate.ts'
import { reportFailure, schemaMessage, type SchemaError } from '../http/error-reply.ts'
import type { Attempt } from '../http/idempotency/attempts.ts'
import { lowerCaseIds, perform } from '../http/perform.ts'
import type { Answer, ApiContext, Call, Route } from '../http/route.ts'
import { compileSchema } from '../http/validate.ts'

export interface RouteInput {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: Record<string, unknown>
  /** In place of the header `If-Match`. */
  expects?: Expects | undefined
}

export interface Caller {
  context: ApiContext
  call: Call<never, never, unknown>
  /** The attempt with the request's idempotency key; null without a key. */
  attempt: Attempt | null
}

/**
 * Calls the operation like an HTTP request: it checks the same scope and schemas, runs the same handler with the same
 * rights, and writes the same audit entry. One might use fastify's `inject` instead. But an injected request would count
 * twice against the rate limit, and lose the client's address, request id and path.
 *
 * @throws ServiceError
 */
export async function callRoute<Body>(
  { context, call, attempt }: Caller,
  route: Route,
  input: RouteInput,
): Promise<Body> {
  requireRights(call.principal, route)
  const params = valid(route, 'params', { ...input.params })
  const query = valid(route, 'query', { ...input.query })
  const body = valid(route, 'body', { ...input.body })
  const inner = {
    ...call,
    params: lowerCaseIds(params) as never,
    query: query as never,
    body: body as never,
    expects: input.expects,
  }
  const answer: Answer = await perform(context, route, inner, attempt)
  return answer.body as Body
}

/** Reports an operation's error. It decides whether the answer is kept for replay, because the HTTP status is 200. */
export function reportRefusal({ call, attempt }: Caller, error: unknown): ReturnType<typeof reportFailure> {
  const failure = reportFailure(error, call.request)
  if (attempt) attempt.failedWith = failure.status
  return failure
}

const partNames = { params: 'params', query: 'querystring', body: 'body' } as const
const compiled = new WeakMap<object, ReturnType<typeof compileSchema>>()

function valid<Part extends Record<string, unknown>>(
  { schemas }: Route,
  part: keyof typeof partNames,
  value: Part,
): Part {
  const schema = schemas[part]
  if (!schema) return value
  const validate = compiled.getOrInsertComputed(schema, () => compileSchema(schema, partNames[part]))
  if (!validate(value)) throw badRequest(schemaMessage(validate.errors as SchemaError[], partNames[part]))
  return value
}
