/**
 * Audit entries for reads and for operations of the service itself. Writes record theirs in their own transaction
 * (operation.ts).
 */
import type { Transaction } from '../database.ts'
import type { Operation } from '../operation.ts'

export interface ReadEntry {
  action: string
  userId: string
  displayName: string | null
  tokenId: string
  serviceAccountId: string | null
  clientId: string | null
  method: string
  /** Path without the query string. */
  path: string
  status: number
  workspaceId: string | null
  boardId: string | null
  resourceType: string
  resourceId: string
  requestId: string
  ip: string
}

/** Stores audit entries of reads. Run it `asSystem`, because the entries belong to many accounts. */
export async function recordReads(tx: Transaction, entries: ReadEntry[]): Promise<void> {
  if (entries.length === 0) return
  await tx`
    insert into audit_operations (
      occurred_at, action, user_id, display_name, token_id, service_account_id, client_id, method, path, status, workspace_id,
      board_id, resource_type, resource_ids, request_id, ip
    )
    select s.at, v.action, v."userId", v."displayName", v."tokenId", v."serviceAccountId", v."clientId", v.method, v.path, v.status,
      v."workspaceId", v."boardId", v."resourceType", array[v."resourceId"], v."requestId", v.ip
    from (select stamp() as at offset 0) s
    cross join json_to_recordset(${JSON.stringify(entries)}::text::json) as v(
      action text, "userId" uuid, "displayName" text, "tokenId" uuid, "serviceAccountId" uuid, "clientId" text, method text, path text,
      status integer, "workspaceId" uuid, "boardId" uuid, "resourceType" text, "resourceId" text, "requestId" text, ip text
    )`
}

/**
 * Stores the audit entry of an operation on an account by the service itself, in its transaction. Run it `asSystem`.
 */
export async function recordFor(tx: Transaction, userId: string, operation: Operation): Promise<void> {
  const told = operation.inTransaction()
  if (told) {
    await tx`
      select record_operations(
        json_build_array(
          json_build_object('operation', ${told.operation}::text::json, 'account', ${userId}::uuid, 'made', '[]'::json)
        ),
        stamp()
      )`
  }
}
