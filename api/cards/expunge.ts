/** `DELETE /boards/{id}/cards/{cardId}/history`: removes the past of a card, such as a secret that was pasted. */
import Type from 'typebox'
import { requireWritable } from '../../collab/access.ts'
import { expungeCard } from '../../collab/history/expunge.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Database } from '../../sql/database.ts'
import { route } from '../http/route.ts'
import { boardId, cardId, cardParams } from '../http/schemas.ts'
import { list } from '../http/vocabulary.ts'

export const deleteCardHistory = route('DELETE /boards/:id/cards/:cardId/history', 'delete', {
  summary:
    'Remove the past of a card for good, such as a secret that was pasted. For the owner of the workspace.',
  description:
    'The card stays as it is now; of a removed card nothing stays, and it can’t be restored. Until this moment, the past of the board is shown without the card, also in named versions. Backups, and copies that clients have, are not reached.',
  schemas: { params: cardParams },
  answers: {
    200: Type.Object({
      deleted: Type.Literal(true, { description: 'Always true.' }),
      board_id: boardId,
      card_id: cardId,
      other_board_ids: list(
        boardId,
        'Boards that the card was moved from or to, and where it may have a past under its id there.',
      ),
    }),
  },
  refuses: ['forbidden', 'conflict'],
  opensDocument: true,
  async handle({ database, live }, { principal: { userId }, params: { id, cardId } }) {
    await requireWritable(database, userId, id)
    await requireOwner(database, userId, id)
    const { boards } = await expungeCard(live, { boardId: id, cardId, account: userId }, (swap) =>
      database.asUser(userId, swap),
    )
    const seen = await database.asUser(
      userId,
      (tx) => tx<{ id: string }[]>`select id from boards where id = any (${boards}::uuid[]) order by id`,
    )
    const other_board_ids = seen.map((board) => board.id)
    return { body: { deleted: true, board_id: id, card_id: cardId, other_board_ids } }
  },
})

/** @throws ServiceError `forbidden` */
async function requireOwner(database: Database, account: string, boardId: string): Promise<void> {
  const [own] = await database.asUser(
    account,
    (tx) =>
      tx`select from boards where id = ${boardId} and workspace_id in (select owned_workspaces(${account}))`,
  )
  if (!own)
    throw new ServiceError('forbidden', 'Only the owner of the workspace can remove the past of a card.')
}
