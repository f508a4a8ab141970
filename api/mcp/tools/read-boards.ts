import Type from 'typebox'
import { badRequest } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'
import { listBoards as listRoute } from '../../boards/list.ts'
import { readBoardById } from '../../boards/read.ts'
import { readTree } from '../../boards/tree.ts'
import { fitting, pageEndAt } from '../fit.ts'
import {
  boardId,
  flag,
  id,
  integer,
  items,
  nextOffset,
  object,
  orNull,
  pageInput,
  text,
  workspaceId,
} from '../fields.ts'
import { count, goOn, tool } from '../tool.ts'
import { boardLine, showBoard, withoutEmpty } from './shown.ts'

export const listBoards = tool('list_boards', 'List boards', {
  description:
    'Lists the boards that you can see, oldest first. read_board_tree shows how boards are nested.',
  route: listRoute,
  input: {
    workspace_id: workspaceId,
    parent_board_id: Type.Optional(text('Only boards directly below this one; root: only top-level boards.')),
    trash: flag('List boards in the trash instead of live ones.'),
    ...pageInput(50),
  },
  output: { boards: items('Boards as read_board returns them.'), ...nextOffset },
  call: ({ workspace_id, parent_board_id, trash, limit, offset }) => ({
    query: {
      ...{ limit, offset, workspace: workspace_id, parent: parent_board_id },
      ...(trash ? { deleted: '1' } : {}),
    },
  }),
  show(answer) {
    const { boards, offset, has_more } = answer as Extract<typeof answer, { offset: number }>
    const shown = fitting(boards.map(showBoard))
    const end = pageEndAt(shown.length, { items: boards, offset, has_more })
    return {
      said: `${count(shown.length, 'board')}.${goOn(end)}`,
      lines: boards.slice(0, shown.length).map(boardLine),
      content: { boards: shown, offset, ...end },
    }
  },
})

export const readBoard = tool('read_board', 'Read a board', {
  description:
    'Reads the fields of a board: name, parent, view, schedule, properties, and how many cards its owner may still add. For its cards use read_cards, for its groups list_groups.',
  route: readBoardById,
  input: { board_id: boardId },
  output: {
    board: object('Empty fields are left out.'),
    capacity: orNull('object', 'limit, used, remaining; null: no limit.'),
  },
  call: ({ board_id }) => ({ params: { id: board_id } }),
  show: ({ board, capacity }) => ({
    said: board.deleted
      ? 'The board is in the trash. It can be read and restored.'
      : 'The board is live.' + (capacity ? ` Its owner may add ${count(capacity.remaining, 'card')}.` : ''),
    lines: [showBoard(board)],
    content: { board: showBoard(board), capacity },
  }),
})

export const readBoardTree = tool('read_board_tree', 'Read the tree of boards', {
  description:
    'Shows how boards are nested, below one board or in a whole workspace. Give either board_id or workspace_id. Parents come before children; the top board has depth 0.',
  route: readTree,
  input: {
    board_id: Type.Optional(id('Board to start from.')),
    workspace_id: workspaceId,
    depth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.treeDepth.max,
        default: 3,
        description: 'Levels of boards to show.',
      }),
    ),
    ...pageInput(100, 200),
  },
  output: { boards: items('id, name, depth, parent_board_id, card_count.'), total: integer, ...nextOffset },
  call({ board_id, workspace_id, depth }) {
    if ((board_id === undefined) === (workspace_id === undefined))
      throw badRequest('Exactly one of board_id and workspace_id is required.')
    return { query: { depth, ...(board_id ? { root: board_id } : { workspace: workspace_id }) } }
  },
  show({ boards, count: total }, { limit = 100, offset = 0 }) {
    const items = boards
      .slice(offset, offset + limit)
      .map(({ id, name, depth, parent_board_id, card_count }) =>
        withoutEmpty({ id, name, depth, parent_board_id, card_count }),
      )
    const shown = fitting(items)
    const end = pageEndAt(shown.length, { items, offset, has_more: offset + limit < total })
    return {
      said: `${count(shown.length, 'board')} of ${total}.${goOn(end)}`,
      lines: shown,
      content: { boards: shown, total, offset, ...end },
    }
  },
})
