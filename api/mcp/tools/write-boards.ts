import Type from 'typebox'
import { limits } from '../../../core/limits.ts'
import { createBoard as createRoute } from '../../boards/create.ts'
import { moveBoards as moveRoute } from '../../boards/move.ts'
import { patchBoard } from '../../boards/patch.ts'
import { isVersion } from '../../http/if-match.ts'
import { boardFields, boardId, ifVersion, listOf, parentId, text, workspaceId } from '../fields.ts'
import { boardsPerCall, count, tool } from '../tool.ts'
import { boardLine, showBoard, type Board } from './shown.ts'

const name = text(`Name, 1 to ${limits.boardName} characters.`)
const fields = { parent_board_id: Type.Optional(parentId), ...boardFields }

/** The API writes null for the top level, and for a field to clear. Agents write `root` and an empty string. */
const bodyOf = (given: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(given).map(([field, value]) => [
      field,
      value === '' || (field === 'parent_board_id' && value === 'root') ? null : value,
    ]),
  )

const shownAs = (said: string, board: Board) => ({
  said,
  lines: [boardLine(board)],
  content: { board: showBoard(board) },
})

export const createBoard = tool('create_board', 'Create a board', {
  description:
    'Creates an empty board below parent_board_id, or at the top level of workspace_id. Without both, creates it in your personal workspace.',
  route: createRoute,
  input: { name, workspace_id: workspaceId, ...fields },
  call: (given) => ({ body: bodyOf(given) }),
  show(answer) {
    const { board } = answer as Extract<typeof answer, { board: unknown }>
    return shownAs(`Created board ${board.id}. Put cards on it with create_cards.`, board)
  },
})

export const updateBoard = tool('update_board', 'Change a board', {
  description: 'Changes the given fields of a board: name, parent, view, schedule, properties.',
  route: patchBoard,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, if_version: ifVersion, name: Type.Optional(name), ...fields },
  call: ({ board_id, if_version, ...given }) => ({
    params: { id: board_id },
    body: bodyOf(given),
    expects: isVersion(if_version),
  }),
  show: ({ board }) => shownAs('Changed the board.', board),
})

export const moveBoards = tool('move_boards', 'Move boards', {
  description:
    'Moves boards and their child boards below another board of their workspace, or to the top level.',
  route: moveRoute,
  idempotent: true,
  input: {
    board_ids: listOf(Type.String({ format: 'uuid' }), boardsPerCall, 'Ids of the boards to move.'),
    parent_board_id: parentId,
  },
  call: (given) => ({ body: bodyOf(given) }),
  show: ({ moved, skipped }) => ({
    said: `Moved ${count(moved.length, 'board')}${skipped.length > 0 ? `, skipped ${skipped.length}: ${reasons(skipped)}` : ''}.`,
    lines: [],
    content: { moved, skipped },
  }),
})

const reasons = (skipped: { board_id: string; reason: string }[]) =>
  skipped.map(({ board_id, reason }) => `${board_id} (${reason})`).join(', ')
