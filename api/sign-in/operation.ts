/** The audit entry for a form that was sent. */
import type { FastifyRequest } from 'fastify'
import { Operation, type Resources } from '../../sql/operation.ts'

/** @param named the resource. `concerns` may set its ids later */
export function formOperation(
  request: FastifyRequest,
  account: { name: string | null },
  { action, named }: { action: string; named: Resources },
): Operation {
  return new Operation({
    action,
    display_name: account.name,
    token_id: null,
    service_account_id: null,
    client_id: null,
    method: request.method,
    path: request.url.split('?', 1)[0]!.slice(0, 1000),
    status: 200,
    request_id: request.id,
    ip: request.ip,
    named,
    key: null,
  })
}
