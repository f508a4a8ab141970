import Type from 'typebox'
import { integer, list, listOf, text } from '../http/vocabulary.ts'
import { removeCards, type CardToRemove } from '../../collab/boards/write.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { changedAnswer, ifVersion, isVersion } from '../http/if-match.ts'
import { route, type ApiContext } from '../http/route.ts'
import { boardId, boardParams, Card, cardId, cardParams, conflicts, live, notFound } from '../http/schemas.ts'
import { requireWritten, showOutcome } from './outcome.ts'

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
    412: changedAnswer({ card: Card }),
  },
  conditional: true,
  opensDocument: true,
  async handle(context, { principal, params, expects }) {
    const outcome = await remove(context, principal.userId, params.id, [{ id: params.cardId, expects }])
    const card = requireWritten(outcome)
    return { body: { deleted: true, card, restore_with: hint(params.id), live: outcome.live } }
  },
})

export const deleteManyCards = route('DELETE /boards/:id/cards', 'delete', {
  refuses: ['forbidden', 'conflict'],
  summary: `Remove up to ${limits.cardsPerRequest} cards.`,
  schemas: {
    params: boardParams,
    body: Type.Object({
      card_ids: Type.Optional(
        listOf(
          Type.String(),
          limits.cardsPerRequest,
          'Ids of the cards to remove. Required without `cards`.',
        ),
      ),
      cards: Type.Optional(
        listOf(
          Type.Object({ id: cardId, if_version: ifVersion }),
          limits.cardsPerRequest,
          'The cards to remove, in place of `card_ids`.',
        ),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      deleted: integer('How many cards were removed.'),
      cards: list(Card, 'The cards that were removed, each with its `restore_token`.'),
      conflicts,
      not_found: notFound,
      restore_with: restoreWith,
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const board_id = params.id
    const { card_ids: ids, cards: entries } = body
    if ((ids === undefined) === (entries === undefined))
      throw badRequest('Exactly one of card_ids and cards is required.')
    const asked = entries?.map(({ id, if_version }) => ({ id, expects: isVersion(if_version) }))
    const removed = asked ?? ids!.map((id) => ({ id }))
    const { cards, notFound, ...rest } = await remove(context, principal.userId, board_id, removed)
    const answer = { board_id, deleted: cards.length, cards, not_found: notFound, ...rest }
    return { body: { ...answer, restore_with: hint(board_id) } }
  },
})

async function remove(context: ApiContext, account: string, boardId: string, cards: CardToRemove[]) {
  return showOutcome(context, account, await removeCards(context.live, { account, boardId, cards }))
}
