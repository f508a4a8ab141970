import Type from 'typebox'
import { flag, list, listOf, oneOf, uuid } from '../http/vocabulary.ts'
import { noBoard, notWritable } from '../../core/board.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { changedAnswer, tagged } from '../http/if-match.ts'
import { route } from '../http/route.ts'
import { Board, boardId, boardParams } from '../http/schemas.ts'
import { presentBoard, readBoard, requireVersion } from './board.ts'
import { trashBoards } from './trash.ts'

export const deleteBoard = route('DELETE /boards/:id', 'delete', {
  refuses: ['forbidden'],
  summary: `Put a board into the trash. It can be restored for ${limits.trashDays} days.`,
  schemas: { params: boardParams },
  answers: {
    200: Type.Object({
      deleted: Type.Literal(true, { description: 'Always true.' }),
      board: Board,
      restorable: flag('Whether the board can be restored.'),
    }),
    412: changedAnswer({ board: Board }),
  },
  conditional: true,
  answerHeaders: ['etag'],
  async handle({ database, closeBoard }, { principal, params, expects }) {
    const board = await database.asUser(principal.userId, async (tx) => {
      const { skipped } = await trashBoards(tx, [params.id], async () =>
        requireVersion(await readBoard(tx, params.id), expects),
      )
      if (skipped[0]) throw skipped[0].reason === 'missing' ? noBoard() : notWritable()
      return readBoard(tx, params.id)
    })
    closeBoard(params.id)
    const shown = presentBoard(board)
    return { body: { deleted: true, board: shown, restorable: true }, headers: tagged(shown) }
  },
})

export const deleteManyBoards = route('DELETE /boards', 'delete', {
  summary: `Put up to ${limits.boardsPerRequest} boards into the trash. Each can be restored for ${limits.trashDays} days.`,
  schemas: {
    body: Type.Object({
      board_ids: listOf(uuid, limits.boardsPerRequest, 'Ids of the boards to delete.'),
    }),
  },
  answers: {
    200: Type.Object({
      deleted: list(uuid, 'Ids of the boards that are in the trash now.'),
      skipped: list(
        Type.Object({
          board_id: boardId,
          reason: oneOf(['no-write', 'missing'], 'Why it was not deleted.'),
        }),
        'The boards that were not deleted.',
      ),
    }),
  },
  async handle({ database, closeBoard }, { principal, body }) {
    const ids = [...new Set(body.board_ids.map((id) => id.toLowerCase()))]
    const trashed = await database.asUser(principal.userId, async (tx) => {
      const trashed = await trashBoards(tx, ids)
      currentOperation()?.concerns({ type: 'board', ids: trashed.deleted })
      return trashed
    })
    for (const id of trashed.deleted) closeBoard(id)
    return { body: trashed }
  },
})
