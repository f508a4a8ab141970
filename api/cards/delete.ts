import Type from 'typebox'
import { removeCards } from '../../collab/write.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { showWritten } from '../files/show-images.ts'
import { route } from '../route.ts'
import { boardParams, cardAnswer, live, uuid } from '../schemas.ts'

const hint = (boardId: string) => `POST /boards/${boardId}/cards`

export const deleteCard = route({
  method: 'DELETE',
  path: '/boards/:id/cards/:cardId',
  scope: 'delete',
  refuses: ['forbidden', 'conflict'],
  summary: 'Remove a card. Post it back to restore it.',
  schemas: { params: Type.Object({ id: uuid, cardId: Type.String() }) },
  answers: {
    200: Type.Object({ deleted: Type.Literal(true), card: cardAnswer, restore_with: Type.String(), live }),
  },
  opensDocument: true,
  async handle(context, { principal, params }) {
    const { cards, live } = await removeCards(context.live, {
      account: principal.userId,
      boardId: params.id,
      ids: [params.cardId],
    })
    const [card] = await showWritten(context, principal.userId, cards)
    if (!card) throw new ServiceError('not_found', 'No such card on this board.')
    return { body: { deleted: true, card, restore_with: hint(params.id), live } }
  },
})

export const deleteManyCards = route({
  method: 'DELETE',
  path: '/boards/:id/cards',
  scope: 'delete',
  refuses: ['forbidden', 'conflict'],
  summary: 'Remove up to 1,000 cards.',
  schemas: {
    params: boardParams,
    body: Type.Object({
      card_ids: Type.Array(Type.String(), { minItems: 1, maxItems: limits.cardsPerRequest }),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: uuid,
      deleted: Type.Integer(),
      cards: Type.Array(cardAnswer),
      not_found: Type.Array(Type.String()),
      restore_with: Type.String(),
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const { cards, notFound, live } = await removeCards(context.live, {
      account: principal.userId,
      boardId: params.id,
      ids: body.card_ids,
    })
    return {
      body: {
        board_id: params.id,
        deleted: cards.length,
        cards: await showWritten(context, principal.userId, cards),
        not_found: notFound,
        restore_with: hint(params.id),
        live,
      },
    }
  },
})
