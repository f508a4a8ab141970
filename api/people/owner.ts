/** The checks that a request comes from the owner of a workspace, before it reads or changes who has access. */
import { inTrash, noBoard } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'

/** @throws ServiceError `not_found` when the account can't see the workspace */
export async function requireWorkspace(tx: Transaction, workspaceId: string): Promise<{ own: boolean }> {
  const [workspace] = await tx<{ own: boolean }[]>`
    select owner_id = current_user_id() as own from workspaces where id = ${workspaceId}`
  if (!workspace) throw new ServiceError('not_found', 'No such workspace.')
  return workspace
}

/** @throws ServiceError `not_found` when the account can't see the workspace; `forbidden` when it does not own it */
export async function requireWorkspaceOwner(tx: Transaction, workspaceId: string): Promise<void> {
  const { own } = await requireWorkspace(tx, workspaceId)
  if (!own) throw notOwner()
}

/** @throws ServiceError `not_found` when the account can't see the board */
export async function requireBoard(
  tx: Transaction,
  boardId: string,
): Promise<{ own: boolean; trashed: boolean; workspaceId: string }> {
  const [board] = await tx<{ own: boolean; trashed: boolean; workspaceId: string }[]>`
    select owns_board(id) as own, deleted_at is not null as trashed, workspace_id as "workspaceId"
    from boards
    where id = ${boardId}`
  if (!board) throw noBoard()
  return board
}

/** @throws ServiceError `not_found` when the account can't see the board; `forbidden` when it does not own its workspace */
export async function requireBoardOwner(tx: Transaction, boardId: string) {
  const board = await requireBoard(tx, boardId)
  if (!board.own) throw notOwner()
  return board
}

/** @throws ServiceError as `requireBoardOwner`; `conflict` when the board is in the trash */
export async function requireLiveBoardOwner(tx: Transaction, boardId: string) {
  const board = await requireBoardOwner(tx, boardId)
  if (board.trashed) throw inTrash()
  return board
}

export const notOwner = () =>
  new ServiceError('forbidden', 'Only the owner of the workspace can manage who has access.')
