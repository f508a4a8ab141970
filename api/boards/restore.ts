import Type from 'typebox'
import { flag, list } from '../http/vocabulary.ts'
import { noBoard, notWritable } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { trashCutoff } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { Board, boardParams, Identifier } from '../http/schemas.ts'
import { presentBoard, readBoard } from './board.ts'
import { carriedKey, readCarriers } from './identified.ts'
import { lockStructure } from './structure.ts'

export const restoreBoard = route('POST /boards/:id/restore', 'write', {
  refuses: ['forbidden', 'limit_reached'],
  summary: 'Bring a board back from the trash.',
  schemas: { params: boardParams },
  answers: {
    200: Type.Object({
      board: Board,
      restored: flag('False when the board was not in the trash.'),
      dropped_identifiers: list(
        Identifier,
        'Identifiers that another board has by now. This board came back without them.',
      ),
    }),
  },
  async handle({ database, clock, freeCardCap }, { principal, params }) {
    return database.asUser(principal.userId, async (tx) => {
      const { workspace_id: workspaceId } = await readBoard(tx, params.id)
      const [writer] = await tx`
        select where ${workspaceId} in (select writable_workspaces(current_user_id()))`
      if (!writer) throw notWritable()
      await lockStructure(tx, [workspaceId])
      await tx`select lock_board(${params.id})`
      const [own] = await tx<{ card_count: number; gone: boolean }[]>`
        select d.card_count, d.purging or coalesce(b.deleted_at <= ${trashCutoff(clock.now())}, false) as gone
        from boards b
        join board_documents d on d.board_id = b.id
        where b.id = ${params.id} and b.workspace_id in (select writable_workspaces(current_user_id()))`
      if (!own) throw notWritable()
      if (own.gone) throw noBoard() // its time in the trash is over, even if it is not purged yet
      const before = await readBoard(tx, params.id)
      if (!before.deleted)
        return { body: { board: presentBoard(before), restored: false, dropped_identifiers: [] } }
      const [owner] = await tx<
        { tier: string; used: number | null }[]
      >`select tier, used from lock_board_owner(${params.id})`
      const reached = (owner?.used ?? 0) + own.card_count
      const adds = own.card_count > 0
      if (adds && owner?.tier === 'free' && freeCardCap !== null && reached > freeCardCap) {
        throw new ServiceError(
          'limit_reached',
          `Restoring this board would bring its owner to ${reached} cards; the plan holds ${freeCardCap}.`,
        )
      }
      const carried = before.identifiers.map((identifier) => ({ workspaceId, ...identifier }))
      const taken = await readCarriers(tx, carried)
      const kept = carried.filter((one) => !taken.has(carriedKey(one)))
      const dropped = carried.filter((one) => taken.has(carriedKey(one)))
      const bare = (list: typeof carried) => list.map(({ scope, value }) => ({ scope, value }))
      await tx`
        update boards
        set deleted_at = null
          ${dropped.length === 0 ? tx`` : tx`, identifiers = ${tx.json(bare(kept))}`}
        where id = ${params.id}`
      const board = presentBoard(await readBoard(tx, params.id))
      const body = { board, restored: true, dropped_identifiers: bare(dropped) }
      currentOperation()?.answers(body)
      return { body }
    })
  },
})
