import { limits } from '../../../core/limits.ts'
import Type from 'typebox'
import { cardFields } from '../../../core/card.ts'
import { createCardsRoute } from '../../cards/create.ts'
import { deleteManyCards } from '../../cards/delete.ts'
import { boardId, cardIds, id, ids, ifVersion, integer, items, listOf, number, text } from '../fields.ts'
import { cardsPerCall, count, tool } from '../tool.ts'
import { conflictNote, missingNote, showConflicts } from './write-cards.ts'
import { showPlaced, withoutEmpty } from './shown.ts'

const removedCard = {
  kind: text('As returned by delete_cards.'),
  x: number(cardFields.x.tells),
  y: number(cardFields.y.tells),
  restore_token: id('As returned by delete_cards.'),
}

export const deleteCards = tool('delete_cards', 'Delete cards', {
  description: `Deletes cards from a board, for everybody. Keep the returned cards: pass them unchanged to restore_cards within ${limits.trashDays} days to undo.`,
  route: deleteManyCards,
  destructive: true,
  idempotent: true,
  input: {
    board_id: boardId,
    card_ids: Type.Optional(cardIds(cardsPerCall)),
    cards: Type.Optional(
      listOf(
        Type.Object({ id: text('Id of the card.'), if_version: ifVersion }),
        cardsPerCall,
        'In place of card_ids.',
      ),
    ),
  },
  output: {
    deleted: integer,
    cards: items('Input for restore_cards.'),
    not_found: ids,
  },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show({ board_id, deleted, cards, conflicts, not_found, live }) {
    const changed = showConflicts(conflicts)
    const removed = cards.map(({ id, kind, title, x, y, restore_token }) =>
      withoutEmpty({ id, kind, title, x, y, restore_token }),
    )
    return {
      said: `Deleted ${count(deleted, 'card')}.${conflictNote(conflicts)}${missingNote(not_found)} To undo, call restore_cards with the returned cards.`,
      lines: [...removed, ...changed],
      content: { board_id, deleted, cards: removed, conflicts: changed, not_found, live },
    }
  },
})

export const restoreCards = tool('restore_cards', 'Restore deleted cards', {
  description:
    'Restores cards that delete_cards deleted, with all fields but new ids. Call it once for each deletion: a second call creates copies.',
  route: createCardsRoute,
  input: {
    board_id: boardId,
    cards: listOf(Type.Object(removedCard), cardsPerCall, 'Cards as returned by delete_cards.'),
  },
  call: ({ board_id, cards }) => ({
    params: { id: board_id },
    body: { cards: cards.map(({ kind, x, y, restore_token }) => ({ kind, x, y, restore_token })) },
  }),
  show({ board_id, cards, live }) {
    const shown = cards.map(showPlaced)
    return {
      said: `Restored ${count(cards.length, 'card')}.`,
      lines: shown,
      content: { board_id, cards: shown, live },
    }
  },
})
