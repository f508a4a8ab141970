import Type from 'typebox'
import { id, nullable } from '../http/vocabulary.ts'
import { acceptColumns } from '../../core/board-columns.ts'
import { inTrash, notWritable } from '../../core/board.ts'
import { distinctIdentifiers, type Identifier } from '../../core/card-values.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { changedAnswer, tagged } from '../http/if-match.ts'
import { route } from '../http/route.ts'
import { Board, boardParams, boardView } from '../http/schemas.ts'
import {
  changeQuietly,
  presentBoard,
  readBoard,
  requireVersion,
  updateBoards,
  type BoardRow,
} from './board.ts'
import { name, ownFields, requireProps, requireSchedule, trimmedName } from './fields.ts'
import { requireFree } from './identified.ts'
import { noParent, parentElsewhere, parentInTrash } from './place.ts'
import { findCycle, lockStructure, readAbove } from './structure.ts'

const patch = Type.Object({
  name: Type.Optional(name),
  view: Type.Optional(boardView),
  parent_board_id: Type.Optional(nullable(id('Id of the board to move it below. Null: the top level.'))),
  ...ownFields,
})

export const patchBoard = route('PATCH /boards/:id', 'write', {
  refuses: ['forbidden', 'conflict'],
  summary: 'Change the fields of a board that are sent.',
  schemas: { params: boardParams, body: patch },
  answers: { 200: Type.Object({ board: Board }), 412: changedAnswer({ board: Board }) },
  conditional: true,
  answerHeaders: ['etag'],
  async handle({ database }, { principal, params, body, expects }) {
    requireProps(body.props)
    const board = await database.asUser(principal.userId, async (tx) => {
      const { workspace_id: workspaceId } = await readBoard(tx, params.id)
      if (body.parent_board_id !== undefined || body.identifiers !== undefined) {
        await requireWritable(tx, params.id, workspaceId) // before the lock, so that callers without write access never hold it
        await lockStructure(tx, [workspaceId])
      }
      await tx`select lock_board(${params.id})`
      const before = await readBoard(tx, params.id)
      const changes = acceptColumns(body)
      if (body.name !== undefined) changes.name = trimmedName(body.name, limits.boardName)
      requireSchedule(
        body.scheduled_date === undefined ? before.scheduled_date : body.scheduled_date,
        body.scheduled_end === undefined ? before.scheduled_end : body.scheduled_end,
      )
      await requireWritable(tx, params.id, workspaceId)
      if (before.deleted) throw inTrash()
      requireVersion(before, expects)
      if (body.parent_board_id) await requireParent(tx, before, body.parent_board_id.toLowerCase())
      if (body.identifiers !== undefined) await requireIdentifiers(tx, before, body.identifiers ?? [])
      if (body.notify === false) await changeQuietly(tx, [params.id])
      if (Object.keys(changes).length > 0) await updateBoards(tx, [{ id: params.id, ...changes }])
      return readBoard(tx, params.id)
    })
    const shown = presentBoard(board)
    return { body: { board: shown }, headers: tagged(shown) }
  },
})

async function requireWritable(tx: Transaction, boardId: string, workspaceId: string): Promise<void> {
  const [row] = await tx<{ access: string }[]>`
    select board_access(current_user_id(), ${boardId}, ${workspaceId}) as access`
  if (row?.access !== 'write') throw notWritable()
}

/** Checks that the parent is visible, live, in the board's workspace, and not below the board. */
async function requireParent(tx: Transaction, board: BoardRow, parentId: string): Promise<void> {
  const [parent] = await tx<{ workspace_id: string; deleted: boolean }[]>`
    select workspace_id, deleted_at is not null as deleted from boards where id = ${parentId}`
  if (!parent) throw noParent()
  if (parent.deleted) throw parentInTrash()
  if (parent.workspace_id !== board.workspace_id) throw parentElsewhere()
  const parents = await readAbove(tx, [parentId])
  if (findCycle(parents.set(board.id, parentId), [board.id]) !== null)
    throw new ServiceError('conflict', 'parent_board_id: a board cannot be below itself.')
}

/**
 * Checks new identifiers. A guest may only send the current ones: any other answer would reveal identifiers of boards
 * that the guest can't see.
 */
async function requireIdentifiers(tx: Transaction, board: BoardRow, given: Identifier[]): Promise<void> {
  const identifiers = distinctIdentifiers(given)
  const [same] = await tx<{ same: boolean; own: boolean }[]>`
    select identifiers = ${tx.json(identifiers as never)} as same,
      workspace_id in (select writable_workspaces(current_user_id())) as own
    from boards
    where id = ${board.id}`
  if (same?.same) return
  if (!same?.own)
    throw new ServiceError('forbidden', 'identifiers: setting them requires write access to the workspace.')
  await requireFree(tx, { boardId: board.id, workspaceId: board.workspace_id, identifiers })
}
