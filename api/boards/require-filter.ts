/** Checks filters of lists that name a workspace or a board. One that the caller can't see is 404, as everywhere. */
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { requireVisible } from './board.ts'

/**
 * Checks the filters of an empty list. A list with rows needs no check, because the caller can see those rows. A guest
 * may filter by the workspace of a shared board, although `/workspaces` does not contain it.
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
