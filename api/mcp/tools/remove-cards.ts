import Type from 'typebox'
import { createCardsRoute } from '../../cards/create.ts'
import { deleteManyCards } from '../../cards/delete.ts'
import { live, uuid } from '../../schemas.ts'
import { boardId, cardIds, cardsPerCall, count, notFound, tool } from '../tool.ts'
import { missingNote } from './write-cards.ts'
import { placedCard, showPlaced, withoutEmpty, type Card } from './shown.ts'

const removedCard = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  title: Type.Optional(Type.String()),
  x: Type.Number(),
  y: Type.Number(),
  restore_token: uuid,
})

export const deleteCards = tool({
  name: 'delete_cards',
  title: 'Delete cards',
  description:
    'Removes cards from a board, for everybody. Keep the cards of the answer: given to restore_cards, they come back whole within 30 days, under new ids.',
  route: deleteManyCards,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, card_ids: cardIds(cardsPerCall) },
  output: {
    board_id: uuid,
    deleted: Type.Integer(),
    cards: Type.Array(removedCard),
    not_found: notFound,
    live,
  },
  call: ({ board_id, card_ids }) => ({ params: { id: board_id }, body: { card_ids } }),
  show({
    board_id,
    deleted,
    cards,
    not_found,
    live,
  }: {
    board_id: string
    deleted: number
    cards: Card[]
    not_found: string[]
    live: boolean
  }) {
    const removed = cards.map(({ id, kind, title, x, y, restore_token }) =>
      withoutEmpty({ id, kind, title, x, y, restore_token }),
    )
    return {
      said: `Deleted ${count(deleted, 'card')}.${missingNote(not_found)} restore_cards brings them back.`,
      lines: removed,
      content: { board_id, deleted, cards: removed, not_found, live },
    }
  },
})

export const restoreCards = tool({
  name: 'restore_cards',
  title: 'Restore deleted cards',
  description:
    'Brings cards back that delete_cards removed, whole, under new ids. Call it once for each removal.',
  route: createCardsRoute,
  input: {
    board_id: boardId,
    cards: Type.Array(removedCard, {
      minItems: 1,
      maxItems: cardsPerCall,
      description: 'As delete_cards answered them.',
    }),
  },
  output: { board_id: uuid, cards: Type.Array(placedCard), live },
  call: ({ board_id, cards }) => ({
    params: { id: board_id },
    body: { cards: cards.map(({ kind, x, y, restore_token }) => ({ kind, x, y, restore_token })) },
  }),
  show({ board_id, cards, live }: { board_id: string; cards: Card[]; live: boolean }) {
    const shown = cards.map(showPlaced)
    return {
      said: `Restored ${count(cards.length, 'card')}.`,
      lines: shown,
      content: { board_id, cards: shown, live },
    }
  },
})
