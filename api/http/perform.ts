/** Carries out an operation, for a request of its own or as a part of another one. */
import { withOperation } from '../../sql/operation.ts'
import { operationOf } from './operation.ts'
import type { Attempt } from './idempotency/attempts.ts'
import type { Answer, ApiContext, Call, Route } from './route.ts'
import { uuidPattern } from './schemas.ts'

/** What it writes is told to the audit as this operation, and made once under the key of the attempt. */
export async function perform(
  context: ApiContext,
  route: Route,
  call: Call<never, never, never>,
  attempt: Attempt | null,
): Promise<Answer> {
  const work = () => route.handle(context, call)
  if (route.method === 'GET' || route.delegates) return work()
  const resumed = attempt?.resumed
  if (resumed && resumed.made.length > 0) {
    const answer: Answer | null | undefined =
      resumed.answer ?? (await route.rebuild?.(context, call, resumed.made))
    if (answer) return { ...answer, headers: { ...answer.headers, 'idempotent-replay': 'true' } }
  }
  const { principal, params, request } = call
  return withOperation(operationOf(route, request, { principal, params, key: attempt?.key ?? null }), work)
}

/** An id in capitals is the same id; documents and queues go by its text. */
export function lowerCaseIds(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      uuidPattern.test(value) ? value.toLowerCase() : value,
    ]),
  )
}
