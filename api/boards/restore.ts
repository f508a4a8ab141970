import Type from 'typebox'
import { noBoard, notWritable } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { trashCutoff } from '../../core/limits.ts'
import { route } from '../route.ts'
import { boardAnswer, boardParams } from '../schemas.ts'
import { presentBoard, readBoard } from './board.ts'

export const restoreBoard = route({
  method: 'POST',
  path: '/boards/:id/restore',
  scope: 'write',
  summary: 'Bring a board back from the trash.',
  schemas: { params: boardParams },
  answers: { 200: Type.Object({ board: boardAnswer, restored: Type.Boolean() }) },
  async handle({ database, clock, freeCardCap }, { principal, params }) {
    return database.asUser(principal.userId, async (tx) => {
      await readBoard(tx, params.id)
      await tx`select lock_board(${params.id})`
      const [own] = await tx<{ card_count: number; gone: boolean }[]>`
        select d.card_count, d.purging or coalesce(b.deleted_at <= ${trashCutoff(clock.now())}, false) as gone
        from boards b
        join board_documents d on d.board_id = b.id
        where b.id = ${params.id} and b.workspace_id in (select writable_workspaces(current_user_id()))`
      if (!own) throw notWritable()
      if (own.gone) throw noBoard() // its time is over, whether or not the purge has come to it
      const before = await readBoard(tx, params.id)
      if (!before.deleted) return { body: { board: presentBoard(before), restored: false } }
      const [owner] = await tx<
        { tier: string; used: number }[]
      >`select tier, used from lock_board_owner(${params.id})`
      const reached = (owner?.used ?? 0) + own.card_count
      const adds = own.card_count > 0
      if (adds && owner?.tier === 'free' && freeCardCap !== null && reached > freeCardCap) {
        throw new ServiceError(
          'limit_reached',
          `Restoring this board would bring its owner to ${reached} cards; the plan holds ${freeCardCap}.`,
        )
      }
      await tx`update boards set deleted_at = null where id = ${params.id}`
      return { body: { board: presentBoard(await readBoard(tx, params.id)), restored: true } }
    })
  },
})
