import { limits } from '../../../core/limits.ts'
import { deleteBoard as deleteRoute } from '../../boards/delete.ts'
import { restoreBoard as restoreRoute } from '../../boards/restore.ts'
import { isVersion } from '../../http/if-match.ts'
import { boardId, ifVersion } from '../fields.ts'
import { tool } from '../tool.ts'
import { boardLine, showBoard } from './shown.ts'

const restorable = `restore_board restores it within ${limits.trashDays} days.`

export const deleteBoard = tool('delete_board', 'Delete a board', {
  description: `Moves a board and its cards to the trash, for everybody, and closes the board in all editors. Its child boards stay. ${restorable}`,
  route: deleteRoute,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, if_version: ifVersion },
  call: ({ board_id, if_version }) => ({ params: { id: board_id }, expects: isVersion(if_version) }),
  show: ({ board }) => ({
    said: `The board is in the trash. ${restorable}`,
    lines: [boardLine(board)],
    content: { board: showBoard(board) },
  }),
})

export const restoreBoard = tool('restore_board', 'Restore a board', {
  description: 'Restores a board with its cards from the trash.',
  route: restoreRoute,
  idempotent: true,
  input: { board_id: boardId },
  call: ({ board_id }) => ({ params: { id: board_id } }),
  show: ({ board, restored, dropped_identifiers }) => ({
    said:
      (restored ? 'The board is restored.' : 'The board was not in the trash.') +
      (dropped_identifiers.length > 0 ? ' It lost some identifiers, which another board has now.' : ''),
    lines: [boardLine(board)],
    content: { board: showBoard(board), restored, dropped_identifiers },
  }),
})
