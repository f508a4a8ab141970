/**
 * Audit entries for reads and for operations of the service itself. Writes record theirs in their own transaction
 * (operation.ts).
 */
import type { Transaction } from '../database.ts'
import type { Operation, OperationDetails } from '../operation.ts'

export interface ReadEntry extends Omit<OperationDetails, 'trace' | 'named' | 'key'> {
  user_id: string
  workspace_id: string | null
  board_id: string | null
  resource_type: string
  resource_id: string
}

/**
 * Stores audit entries of reads. Run it `asSystem`, because the entries belong to many accounts. An account that was
 * erased meanwhile leaves its id only.
 */
export async function recordReads(tx: Transaction, entries: ReadEntry[]): Promise<void> {
  if (entries.length === 0) return
  await tx`
    insert into audit_operations (
      occurred_at, action, user_id, display_name, token_id, service_account_id, client_id, method, path, status, workspace_id,
      board_id, resource_type, resource_ids, request_id, ip
    )
    select s.at, v.action, v.user_id, case when u.id is not null then v.display_name end, v.token_id, v.service_account_id, v.client_id, v.method, v.path, v.status,
      v.workspace_id, v.board_id, v.resource_type, array[v.resource_id], v.request_id,
      case when u.id is not null then v.ip else '' end
    from (select stamp() as at offset 0) s
    cross join json_to_recordset(${JSON.stringify(entries)}::text::json) as v(
      action text, user_id uuid, display_name text, token_id uuid, service_account_id uuid, client_id text, method text, path text,
      status integer, workspace_id uuid, board_id uuid, resource_type text, resource_id text, request_id text, ip text
    )
    left join users u on u.id = v.user_id`
}

/**
 * Stores the audit entry of an operation on an account by the service itself, with what is kept under its idempotency key,
 * in its transaction. Run it `asSystem`.
 */
export async function recordFor(tx: Transaction, userId: string, operation: Operation): Promise<void> {
  const told = operation.inTransaction()
  if (told) {
    await tx`
      select record_operations(
        json_build_array(
          json_build_object('operation', ${told.operation}::text::json, 'account', ${userId}::uuid, 'made', ${told.result}::text::json)
        ),
        stamp()
      )`
  }
}
