/** Filters of lists that name a workspace or a board: one that the caller can't see is 404, as everywhere. */
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { requireVisible } from './board.ts'

/**
 * Asked when a list is empty: a row in it tells that its filters name what the caller can see. A guest sees the workspace
 * of a board that is shared with them as a filter, though not in `/workspaces`.
 *
 * @throws ServiceError `not_found`
 */
export async function requireFilter(
  tx: Transaction,
  { workspace, board }: { workspace?: string | undefined; board?: string | undefined },
): Promise<void> {
  if (board !== undefined) await requireVisible(tx, board)
  if (workspace === undefined) return
  const [found] = await tx<{ seen: boolean }[]>`
    select exists (select from workspaces where id = ${workspace})
      or exists (select from boards where workspace_id = ${workspace}) as seen`
  if (!found?.seen) throw new ServiceError('not_found', 'No such workspace.')
}
