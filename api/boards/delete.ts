import Type from 'typebox'
import { notWritable } from '../../core/board.ts'
import { route } from '../route.ts'
import { boardAnswer, boardParams } from '../schemas.ts'
import { presentBoard, readBoard } from './board.ts'

export const deleteBoard = route({
  method: 'DELETE',
  path: '/boards/:id',
  scope: 'delete',
  summary: 'Put a board into the trash. It can be restored for 30 days.',
  schemas: { params: boardParams },
  answers: {
    200: Type.Object({ deleted: Type.Literal(true), board: boardAnswer, restorable: Type.Boolean() }),
  },
  async handle({ database, closeBoard }, { principal, params }) {
    const board = await database.asUser(principal.userId, async (tx) => {
      await readBoard(tx, params.id)
      await tx`select lock_board(${params.id})`
      const [own] = await tx`
        select from boards where id = ${params.id} and workspace_id in (select writable_workspaces(current_user_id()))`
      if (!own) throw notWritable()
      await tx`update boards set deleted_at = now() where id = ${params.id} and deleted_at is null`
      return readBoard(tx, params.id)
    })
    closeBoard(params.id)
    return { body: { deleted: true, board: presentBoard(board), restorable: true } }
  },
})
