/** The audit entry of a request, which its transactions write. */
import type { FastifyRequest } from 'fastify'
import { Operation, type OperationKey } from '../../sql/operation.ts'
import type { Principal } from '../../sql/accounts/tokens.ts'
import type { Route } from './route.ts'
import { actionOf, namedBy } from './action.ts'

export function operationOf(
  route: Route,
  request: FastifyRequest,
  {
    principal,
    params,
    key,
  }: { principal: Principal; params: Record<string, string>; key: OperationKey | null },
): Operation {
  return new Operation({
    action: actionOf(route),
    display_name: principal.displayName,
    token_id: principal.tokenId,
    service_account_id: principal.serviceAccountId,
    client_id: principal.clientId,
    method: request.method,
    path: request.url.split('?', 1)[0]!.slice(0, 1000),
    status: Number(Object.keys(route.answers)[0]),
    request_id: request.id,
    ip: request.ip,
    named: namedBy(route.path, params),
    key,
  })
}
