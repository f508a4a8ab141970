/** Puts boards into the trash. Boards that are already there don't change. */
import type { Transaction } from '../../sql/database.ts'
import { lockBoards, lockStructure } from './structure.ts'

/**
 * @param boardIds without duplicates, in lower case
 * @param check called when the boards are locked
 */
export async function trashBoards(tx: Transaction, boardIds: string[], check?: () => Promise<void>) {
  const rows = await tx<{ id: string; workspace_id: string; own: boolean }[]>`
    select id, workspace_id, workspace_id in (select writable_workspaces(current_user_id())) as own
    from boards
    where id = any (${boardIds}::uuid[])`
  const seen = new Map(rows.map((row) => [row.id, row]))
  const deleted = boardIds.filter((id) => seen.get(id)?.own)
  const skipped = boardIds
    .filter((id) => !seen.get(id)?.own)
    .map((id) => ({ board_id: id, reason: seen.has(id) ? ('no-write' as const) : ('missing' as const) }))
  if (deleted.length > 0) {
    await lockStructure(
      tx,
      deleted.map((id) => seen.get(id)!.workspace_id),
    )
    await lockBoards(tx, deleted)
    await check?.()
    await tx`update boards set deleted_at = now() where id = any (${deleted}::uuid[]) and deleted_at is null`
  }
  return { deleted, skipped }
}
