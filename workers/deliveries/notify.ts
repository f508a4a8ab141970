/** Tells accounts what happened to what is theirs. */
import type { Transaction } from '../../sql/database.ts'

export async function notifyOwner(
  tx: Transaction,
  workspaceId: string,
  type: string,
  data: Record<string, unknown>,
): Promise<void> {
  await tx`
    insert into notifications (user_id, workspace_id, type, data)
    select owner_id, id, ${type}, ${tx.json(data as never)} from workspaces where id = ${workspaceId}`
}
