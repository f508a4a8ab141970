/** The audit entry for a form that was sent. */
import type { FastifyRequest } from 'fastify'
import { Operation } from '../../sql/operation.ts'
import { auditedRequest } from '../http/action.ts'

/** @param action `<type of the resource>.<verb>`. @param id of the resource */
export function formOperation(
  request: FastifyRequest,
  account: { name: string | null },
  action: string,
  id: string | null,
): Operation {
  return new Operation({
    action,
    display_name: account.name,
    token_id: null,
    service_account_id: null,
    client_id: null,
    ...auditedRequest(request),
    trace: null, // a form causes no events
    status: 200,
    named: { type: action.split('.', 1)[0]!, ids: [id] },
    key: null,
  })
}
