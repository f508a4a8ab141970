import Type from 'typebox'
import { integer, list, listOf, text } from '../http/vocabulary.ts'
import { removeCards } from '../../collab/boards/write.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { showWritten } from '../files/show-images.ts'
import { route, type ApiContext } from '../http/route.ts'
import { boardId, boardParams, Card, cardParams, live, notFound } from '../http/schemas.ts'

const restoreWith = text('The operation that restores what was removed.')
const hint = (boardId: string) => `POST /boards/${boardId}/cards`

export const deleteCard = route('DELETE /boards/:id/cards/:cardId', 'delete', {
  refuses: ['forbidden', 'conflict'],
  summary: 'Remove a card. Post it back to restore it.',
  schemas: { params: cardParams },
  answers: {
    200: Type.Object({
      deleted: Type.Literal(true, { description: 'Always true.' }),
      card: Card,
      restore_with: restoreWith,
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params }) {
    const { cards, live } = await remove(context, principal.userId, params.id, [params.cardId])
    const [card] = cards
    if (!card) throw new ServiceError('not_found', 'No such card on this board.')
    return { body: { deleted: true, card, restore_with: hint(params.id), live } }
  },
})

export const deleteManyCards = route('DELETE /boards/:id/cards', 'delete', {
  refuses: ['forbidden', 'conflict'],
  summary: `Remove up to ${limits.cardsPerRequest} cards.`,
  schemas: {
    params: boardParams,
    body: Type.Object({
      card_ids: listOf(Type.String(), limits.cardsPerRequest, 'Ids of the cards to remove.'),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      deleted: integer('How many cards were removed.'),
      cards: list(Card, 'The cards that were removed, each with its `restore_token`.'),
      not_found: notFound,
      restore_with: restoreWith,
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const board_id = params.id
    const { cards, notFound, live } = await remove(context, principal.userId, board_id, body.card_ids)
    const restore_with = hint(board_id)
    return { body: { board_id, deleted: cards.length, cards, not_found: notFound, restore_with, live } }
  },
})

async function remove(context: ApiContext, account: string, boardId: string, ids: string[]) {
  const removed = await removeCards(context.live, { account, boardId, ids })
  return { ...removed, cards: await showWritten(context, account, removed.cards) }
}
