import Type, { type Static } from 'typebox'
import { flag, id, integer, list, named, nullable, oneOf, text, timestamp } from '../http/vocabulary.ts'
import { noBoard } from '../../core/board.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { inTurns, mapInTurns, type Steps } from '../../platform/work/loop-turn.ts'
import type { Transaction } from '../../sql/database.ts'
import { route } from '../http/route.ts'
import { boardId } from '../http/schemas.ts'
import { readInTurn } from './list.ts'
import { requireFilter } from './require-filter.ts'

const query = Type.Object({
  root: Type.Optional(id('Id of the board to start from. Send this or `workspace`.')),
  workspace: Type.Optional(id('Id of the workspace to read. Send this or `root`.')),
  depth: Type.Optional(
    integer(
      `How many levels to read below the root, or below the top-level boards of the workspace. 1 to ${limits.treeDepth.max}; ${limits.treeDepth.default} when absent.`,
      { minimum: 1, maximum: limits.treeDepth.max, default: limits.treeDepth.default },
    ),
  ),
  deleted: Type.Optional(oneOf(['1', '0'], '`1`: include boards in the trash.')),
})

const treeBoard = named('TreeEntry', 'A board in a tree.', {
  id: boardId,
  parent_board_id: nullable(id('Id of the board above it. Null at the top level.')),
  name: text('Its name.'),
  depth: integer('Levels below the root, or below the top level, which is 0.'),
  card_count: integer('How many cards are on it.'),
  updated_at: nullable(timestamp, 'When the board itself was last changed.'),
  deleted: flag('Whether it is in the trash.'),
})

type TreeBoard = Static<typeof treeBoard>

export const readTree = route('GET /boards/tree', 'read', {
  refuses: ['not_found'],
  summary: 'Read the tree of boards below a board, or of a workspace.',
  description: `At most ${limits.treeBoards} boards come in one answer. A larger tree is 400: read it in parts.`,
  schemas: { query },
  answers: {
    200: Type.Object({
      root: nullable(id('The `root` of the request. Null when a workspace was read.')),
      count: integer('How many boards the answer has.'),
      boards: list(treeBoard, 'Parents before their children, siblings in the order of their creation.'),
    }),
  },
  async handle({ database }, { principal, query }) {
    const { root, workspace, depth = limits.treeDepth.default } = query
    const withTrash = query.deleted === '1'
    if ((root === undefined) === (workspace === undefined))
      throw badRequest('Exactly one of root and workspace is required.')
    const found = await readInTurn(database, principal.userId, async (tx) => {
      // A cached plan from when the table was small would scan the whole table for each board.
      await tx`select set_config('enable_seqscan', 'off', true)`
      if (root !== undefined) return { levels: await readLevels(tx, { root, depth, withTrash }) }
      return readWorkspace(tx, workspace!, depth, withTrash)
    })
    const boards = 'levels' in found ? found.levels : await inTurns(arrange(found.all, depth))
    if (root !== undefined && boards.length === 0) throw noBoard()
    if (boards.length > limits.treeBoards) {
      throw badRequest(
        `The tree has more than ${limits.treeBoards} boards. Choose a root further down, or a smaller depth.`,
      )
    }
    const shown = await mapInTurns(boards, (board) => ({ ...board, updated_at: isoTime(board.updated_at!) }))
    return { body: { root: root?.toLowerCase() ?? null, count: boards.length, boards: shown } }
  },
})

const boardsPerStep = 500

/** Converts the database's `2030-01-02 03:04:05.6+00` to ISO 8601. A `Date` for each of 20,000 boards takes longer. */
const isoTime = (text: string) =>
  `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`

/**
 * Reads all boards of a workspace in the order of creation, to arrange them here. That takes half the time of reading
 * level by level, which is done when they are too many.
 */
async function readWorkspace(
  tx: Transaction,
  workspaceId: string,
  depth: number,
  withTrash: boolean,
): Promise<{ all: TreeBoard[] } | { levels: TreeBoard[] }> {
  const boards = await tx<TreeBoard[]>`
    select b.id, b.parent_board_id, b.name, 0 as depth,
      (select d.card_count from board_documents d where d.board_id = b.id) as card_count,
      b.updated_at::text as updated_at, b.deleted_at is not null as deleted
    from boards b
    where b.workspace_id = ${workspaceId} ${withTrash ? tx`` : tx`and b.deleted_at is null`}
    order by b.created_at, b.id
    limit ${limits.treeBoards + 1}`
  if (boards.length === 0) await requireFilter(tx, { workspace: workspaceId })
  if (boards.length <= limits.treeBoards) return { all: boards }
  return { levels: await readLevels(tx, { workspaceId, depth, withTrash }) }
}

/** Arranges boards, given in the order of creation, into levels. Returns the first ones, level by level. */
export function* arrange(boards: TreeBoard[], depth: number): Steps<TreeBoard[]> {
  const byId = new Map<string, TreeBoard>()
  for (const [n, board] of boards.entries()) {
    byId.set(board.id, board)
    if (n % boardsPerStep === 0) yield
  }
  const parentOf = (board: TreeBoard): TreeBoard | null => {
    const parent = board.parent_board_id === null ? undefined : byId.get(board.parent_board_id)
    if (parent && liesBelow(board, parent)) return parent
    board.parent_board_id = null
    return null
  }
  const levels = Array.from({ length: depth + 1 }, (): TreeBoard[] => [])
  const depths = new Map<TreeBoard, number>()
  for (const [n, board] of boards.entries()) {
    const path: TreeBoard[] = []
    let above: TreeBoard | null = board
    for (; above && !depths.has(above); above = parentOf(above)) {
      path.push(above)
      depths.set(above, Infinity)
    }
    let level = above ? depths.get(above)! + 1 : 0
    for (const each of path.toReversed()) {
      depths.set(each, level)
      each.depth = level
      level += 1
    }
    levels[board.depth]?.push(board)
    if (n % boardsPerStep === 0) yield
  }
  return levels.flat()
}

/**
 * Whether a board is shown below its parent: when the parent is live, or both are in the trash. Otherwise it is at the
 * top level, as in a list.
 */
const liesBelow = (board: TreeBoard, parent: TreeBoard) => !parent.deleted || board.deleted

interface Start {
  root?: string
  workspaceId?: string
  depth: number
  withTrash: boolean
}

/** Reads level by level, each board once. So the cost depends only on the number of boards that are shown. */
function readLevels(tx: Transaction, { root, workspaceId, depth, withTrash }: Start): Promise<TreeBoard[]> {
  const listed = withTrash ? tx`` : tx`and b.deleted_at is null`
  return tx<TreeBoard[]>`
    with recursive tree as (
      select b.id, p.id as parent_board_id, b.name, 0 as depth, b.created_at, b.updated_at::text as updated_at,
        b.deleted_at is not null as deleted
      from boards b
      left join lateral (
        select p.id
        from boards p
        where p.id = b.parent_board_id and (p.deleted_at is null or b.deleted_at is not null)
        offset 0
      ) p on true
      where ${root === undefined ? tx`b.workspace_id = ${workspaceId!} and p.id is null ${listed}` : tx`b.id = ${root}`}
      union all
      select b.id, t.id, b.name, t.depth + 1, b.created_at, b.updated_at::text, b.deleted_at is not null
      from tree t
      cross join lateral (
        select b.id, b.name, b.created_at, b.updated_at, b.deleted_at
        from boards b
        where b.parent_board_id = t.id and (not t.deleted or b.deleted_at is not null) ${listed}
        offset 0
      ) b
      where t.depth < ${depth}
    )
    select t.id, t.parent_board_id, t.name, t.depth,
      (select d.card_count from board_documents d where d.board_id = t.id) as card_count, t.updated_at, t.deleted
    from tree t
    order by t.depth, t.created_at, t.id
    limit ${limits.treeBoards + 1}`
}
