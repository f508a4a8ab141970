import Type from 'typebox'
import { createBoard as createRoute } from '../../boards/create.ts'
import { freeFields, name, scheduleFields } from '../../boards/fields.ts'
import { moveBoards as moveRoute } from '../../boards/move.ts'
import { patchBoard } from '../../boards/patch.ts'
import { boardView, nullable, uuid } from '../../schemas.ts'
import { boardId, boardsPerCall, count, tool, workspaceId } from '../tool.ts'
import { boardLine, shortBoard, showBoard, type Board } from './shown.ts'

const place = {
  parent_board_id: Type.Optional(nullable({ ...uuid, description: 'The board above; null: top level.' })),
}
const fields = {
  view: Type.Optional(boardView),
  ...scheduleFields,
  ...freeFields,
  notify: Type.Optional(Type.Boolean({ description: 'false: the change of schedule is told to nobody.' })),
}

const shownAs = (said: string, board: Board) => ({
  said,
  lines: [boardLine(board)],
  content: { board: showBoard(board) },
})

export const createBoard = tool({
  name: 'create_board',
  title: 'Create a board',
  description:
    'Makes a board: below parent_board_id, or at the top level of workspace_id; without both in your personal workspace.',
  route: createRoute,
  input: { name, workspace_id: workspaceId, ...place, ...fields },
  output: { board: shortBoard },
  call: (body) => ({ body }),
  show: ({ board }: { board: Board }) =>
    shownAs(`Created board ${board.id}. Put cards on it with create_cards.`, board),
})

export const updateBoard = tool({
  name: 'update_board',
  title: 'Change a board',
  description:
    'Changes what is given of a board: name, view, place below another board, schedule, properties.',
  route: patchBoard,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, name: Type.Optional(name), ...place, ...fields },
  output: { board: shortBoard },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show: ({ board }: { board: Board }) => shownAs('Changed the board.', board),
})

const skipped = Type.Array(Type.Object({ board_id: uuid, reason: Type.String() }))

export const moveBoards = tool({
  name: 'move_boards',
  title: 'Move boards',
  description: 'Puts boards below another board of their workspace, or at the top level.',
  route: moveRoute,
  idempotent: true,
  input: {
    board_ids: Type.Array(uuid, { minItems: 1, maxItems: boardsPerCall }),
    parent_board_id: nullable({ ...uuid, description: 'The board above; null: top level.' }),
  },
  output: { moved: Type.Array(uuid), skipped },
  call: (body) => ({ body }),
  show: ({ moved, skipped }: { moved: string[]; skipped: { board_id: string; reason: string }[] }) => ({
    said: `Moved ${count(moved.length, 'board')}${skipped.length > 0 ? `, skipped ${skipped.length}: ${reasons(skipped)}` : ''}.`,
    lines: [],
    content: { moved, skipped },
  }),
})

const reasons = (skipped: { board_id: string; reason: string }[]) =>
  skipped.map(({ board_id, reason }) => `${board_id} (${reason})`).join(', ')
