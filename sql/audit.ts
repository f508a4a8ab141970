/** Reads that the audit tells of; writes are told by the transactions that make them, see operation.ts. */
import type { Transaction } from './database.ts'

export interface ReadEntry {
  action: string
  userId: string
  displayName: string | null
  tokenId: string
  serviceAccountId: string | null
  clientId: string | null
  method: string
  /** Without query. */
  path: string
  status: number
  workspaceId: string | null
  boardId: string | null
  resourceType: string
  resourceId: string
  requestId: string
  ip: string
}

/** Run it `asSystem`: the entries are of many accounts. */
export async function recordReads(tx: Transaction, entries: ReadEntry[]): Promise<void> {
  if (entries.length === 0) return
  await tx`
    insert into audit_entries (
      occurred_at, action, user_id, display_name, token_id, service_account_id, client_id, method, path, status, workspace_id,
      board_id, resource_type, resource_id, request_id, ip
    )
    select s.at, v.action, v."userId", v."displayName", v."tokenId", v."serviceAccountId", v."clientId", v.method, v.path, v.status,
      v."workspaceId", v."boardId", v."resourceType", v."resourceId", v."requestId", v.ip
    from (select stamp() as at offset 0) s
    cross join json_to_recordset(${JSON.stringify(entries)}::text::json) as v(
      action text, "userId" uuid, "displayName" text, "tokenId" uuid, "serviceAccountId" uuid, "clientId" text, method text, path text,
      status integer, "workspaceId" uuid, "boardId" uuid, "resourceType" text, "resourceId" text, "requestId" text, ip text
    )`
}
