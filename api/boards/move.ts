import Type from 'typebox'
import { id, list, listOf, nullable, oneOf, uuid } from '../http/vocabulary.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { Board, boardId } from '../http/schemas.ts'
import { presentBoard, readBoards, type BoardRow } from './board.ts'
import { noParent, parentInTrash } from './place.ts'
import { lockBoards, lockStructure, readAbove } from './structure.ts'

const reasons = ['cycle', 'cross-workspace', 'no-write', 'same-parent', 'missing', 'self'] as const
type Reason = (typeof reasons)[number]

export const moveBoards = route('POST /boards/move', 'write', {
  refuses: ['not_found', 'forbidden'],
  summary: `Move up to ${limits.boardsPerRequest} boards below another one, or to the top level.`,
  schemas: {
    body: Type.Object({
      board_ids: listOf(uuid, limits.boardsPerRequest, 'Ids of the boards to move.'),
      parent_board_id: Type.Optional(
        nullable(id('Id of the board to move them below. Null or absent: the top level.')),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      moved: list(uuid, 'Ids of the boards that were moved.'),
      boards: list(Board, 'The boards that were moved, as they are now.'),
      skipped: list(
        Type.Object({
          board_id: boardId,
          reason: oneOf(reasons, 'Why it was not moved.'),
        }),
        'The boards that were not moved.',
      ),
    }),
  },
  async handle({ database }, { principal, body: given }) {
    const ids = [...new Set(given.board_ids.map((id) => id.toLowerCase()))]
    const parentId = given.parent_board_id?.toLowerCase() ?? null
    const body = await database.asUser(principal.userId, async (tx) => {
      const { moved, skipped, boards } = await move(tx, ids, parentId)
      const shown = moved.map((id) => presentBoard(boards.get(id)!))
      const answer = { moved, boards: shown, skipped }
      currentOperation()?.answers(answer)
      return answer
    })
    return { body }
  },
})

interface Movable {
  id: string
  workspace_id: string
  /** The stored parent, even when it is in the trash. */
  parent_board_id: string | null
  deleted: boolean
  own: boolean
}

interface Moved {
  moved: string[]
  skipped: { board_id: string; reason: Reason }[]
  boards: Map<string, BoardRow>
}

async function move(tx: Transaction, ids: string[], parentId: string | null): Promise<Moved> {
  const asked = parentId === null ? ids : [...ids, parentId]
  const before = await readMovable(tx, asked)
  const target = parentId === null ? null : before.get(parentId)
  if (target === undefined) throw noParent()
  if (target?.own === false)
    throw new ServiceError('forbidden', 'parent_board_id: you may not move boards in that workspace.')

  const own = [...before.values()].filter((board) => board.own)
  await lockStructure(
    tx,
    own.map((board) => board.workspace_id),
  )
  await lockBoards(
    tx,
    own.map((board) => board.id),
  )
  const now = await readMovable(tx, asked)
  if (parentId !== null && now.get(parentId)?.deleted !== false) throw parentInTrash()
  const above = parentId === null ? null : await readAbove(tx, [parentId])

  const moved: string[] = []
  const skipped: Moved['skipped'] = []
  for (const id of ids) {
    const reason = whyNot(id, now.get(id))
    if (reason) skipped.push({ board_id: id, reason })
    else moved.push(id)
  }
  currentOperation()?.concerns({ type: 'board', ids: moved })
  if (moved.length > 0)
    await tx`update boards set parent_board_id = ${parentId} where id = any (${moved}::uuid[])`
  return { moved, skipped, boards: await readBoards(tx, moved) }

  // The order of the moves does not matter: no move in the list changes the target's ancestors.
  function whyNot(id: string, board: Movable | undefined): Reason | null {
    if (!board || board.deleted) return 'missing'
    if (!board.own) return 'no-write'
    if (id === parentId) return 'self'
    if (target && board.workspace_id !== target.workspace_id) return 'cross-workspace'
    if (board.parent_board_id === parentId) return 'same-parent'
    return above?.has(id) ? 'cycle' : null
  }
}

async function readMovable(tx: Transaction, ids: string[]): Promise<Map<string, Movable>> {
  const rows = await tx<Movable[]>`
    select id, workspace_id, parent_board_id, deleted_at is not null as deleted,
      workspace_id in (select writable_workspaces(current_user_id())) as own
    from boards
    where id = any (${ids}::uuid[])`
  return new Map(rows.map((row) => [row.id, row]))
}
