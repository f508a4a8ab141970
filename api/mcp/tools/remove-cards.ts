import { limits } from '../../../core/limits.ts'
import Type from 'typebox'
import { cardFields } from '../../../core/card.ts'
import { createCardsRoute } from '../../cards/create.ts'
import { deleteManyCards } from '../../cards/delete.ts'
import { boardId, cardIds, id, ids, integer, items, listOf, number, string } from '../fields.ts'
import { cardsPerCall, count, tool } from '../tool.ts'
import { missingNote } from './write-cards.ts'
import { showPlaced, withoutEmpty, type Card } from './shown.ts'

const removedCard = {
  kind: string('As delete_cards answered it.'),
  x: number(cardFields.x.tells),
  y: number(cardFields.y.tells),
  restore_token: id('As delete_cards answered it.'),
}

export const deleteCards = tool({
  name: 'delete_cards',
  title: 'Delete cards',
  description: `Removes cards from a board, for everybody. Keep the cards of the answer: restore_cards takes them as they are and brings them back within ${limits.trashDays} days.`,
  route: deleteManyCards,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, card_ids: cardIds(cardsPerCall) },
  output: {
    deleted: integer,
    cards: items('What restore_cards takes.'),
    not_found: ids,
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
    'Brings back cards that delete_cards removed, whole but under new ids. Call it once for each removal: a second call makes copies.',
  route: createCardsRoute,
  input: {
    board_id: boardId,
    cards: listOf(Type.Object(removedCard), cardsPerCall, 'Cards as delete_cards answered them.'),
  },
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
