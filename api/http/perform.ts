/** Runs an operation, for an HTTP request or for an MCP tool. */
import { showNewest } from '../../collab/boards/live.ts'
import { traceOf } from '../../core/trace.ts'
import { Operation, withOperation } from '../../sql/operation.ts'
import { actionOf, auditedCaller, auditedRequest, namedBy } from './action.ts'
import type { Attempt } from './idempotency/attempts.ts'
import type { Answer, ApiContext, Call, Route } from './route.ts'
import { uuidPattern } from './schemas.ts'

/** Runs the handler. Its writes get audit entries of this operation, and happen once per idempotency key. */
export async function perform(
  context: ApiContext,
  route: Route,
  call: Call<never, never, never>,
  attempt: Attempt | null,
): Promise<Answer> {
  const work = () => route.handle(context, call)
  if (route.method === 'GET' || route.delegates || route.keepsNothing || route.open) return work()
  const resumed = attempt?.resumed
  if (resumed && resumed.made.length > 0) {
    const answer: Answer | null | undefined =
      resumed.answer ?? (await route.rebuild?.(context, call, resumed.made))
    if (answer) {
      const body = await shownNow(context, call, answer.body)
      return { ...answer, body, headers: { ...answer.headers, 'idempotent-replay': 'true' } }
    }
  }
  return withOperation(operationOf(route, call, attempt), work)
}

/**
 * Returns the body of an answer that is made again, with a `live` that is true now. The process that committed the work
 * may have ended before the open canvases had it.
 */
async function shownNow(
  { live }: ApiContext,
  { params }: Call<never, never, never>,
  body: unknown,
): Promise<unknown> {
  const { live: isLive, to_board_id: target } = (body ?? {}) as { live?: boolean; to_board_id?: string }
  if (isLive !== true) return body
  const { id } = params as { id: string }
  const shown = await Promise.all([id, target ?? id].map((boardId) => showNewest(live, boardId)))
  return { ...(body as object), live: shown.every(Boolean) }
}

/** The audit entry of a request, which its transactions write. */
function operationOf(route: Route, call: Call<never, never, never>, attempt: Attempt | null): Operation {
  const { principal, params, request } = call
  return new Operation({
    action: actionOf(route),
    ...auditedCaller(principal),
    ...auditedRequest(request),
    trace: traceOf(request.headers['traceparent']),
    status: Number(Object.keys(route.answers)[0]),
    named: namedBy(route.path, params),
    key: attempt?.key ?? null,
  })
}

/** UUIDs in lower case: upper case means the same id, but documents and queues compare ids as text. */
export function lowerCaseIds(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      uuidPattern.test(value) ? value.toLowerCase() : value,
    ]),
  )
}
