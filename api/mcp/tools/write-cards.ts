import Type from 'typebox'
import { layoutNames } from '../../../core/layout/solve.ts'
import { limits } from '../../../core/limits.ts'
import { createCardsRoute } from '../../cards/create.ts'
import { moveCardsRoute } from '../../cards/move.ts'
import { patchManyCards } from '../../cards/patch.ts'
import {
  boardId,
  cardIds,
  cardParameters,
  flag,
  id,
  ifVersion,
  kind,
  listOf,
  oneOf,
  text,
} from '../fields.ts'
import { cardsPerCall, count, tool } from '../tool.ts'
import { fitting } from '../fit.ts'
import { showCard, showPlaced, type Card } from './shown.ts'

const { defaultW, defaultH } = limits.cardSize

const newCard = Type.Object({ kind, ...cardParameters })
const changedCard = Type.Object({
  id: text('Id of the card.'),
  if_version: ifVersion,
  kind: Type.Optional(kind),
  ...cardParameters,
})

export const createCards = tool('create_cards', 'Create cards', {
  description: `Creates cards on a board. Cards without x and y get a free place, cards without w and h get ${defaultW} by ${defaultH}. File keys come from upload_from_url. For cards from URLs, use import_urls.`,
  route: createCardsRoute,
  input: {
    board_id: boardId,
    cards: listOf(newCard, cardsPerCall, 'The new cards, in reading order.'),
    layout: Type.Optional(oneOf(layoutNames, 'Arranges all cards of the call.')),
    update_existing: flag('If a card already has one of the identifiers, update it instead of creating one.'),
  },
  call: ({ board_id, cards, layout, update_existing }) => ({
    params: { id: board_id },
    body: { cards, layout, ...(update_existing ? { on_conflict: 'identifier' } : {}) },
  }),
  show({ board_id, cards, created = cards.length, updated = 0, live }) {
    const shown = cards.map(showPlaced)
    return {
      said: `Created ${count(created, 'card')}${updated > 0 ? `, updated ${updated} existing` : ''}.${liveNote(live)}`,
      lines: shown,
      content: { board_id, cards: shown, created, updated, live },
    }
  },
})

export const updateCards = tool('update_cards', 'Change cards', {
  description:
    'Changes the given fields of cards on a board. An empty string clears a field. Cards of another version than if_version stay as they are.',
  route: patchManyCards,
  destructive: true,
  idempotent: true,
  input: {
    board_id: boardId,
    cards: listOf(changedCard, cardsPerCall, 'Ids of cards, with the fields to change.'),
  },
  call: ({ board_id, cards }) => ({ params: { id: board_id }, body: { cards } }),
  show({ board_id, cards, updated, conflicts, not_found, live }) {
    const shown = cards.map(showPlaced)
    const changed = showConflicts(conflicts)
    return {
      said: `Changed ${count(updated, 'card')}.${conflictNote(conflicts)}${missingNote(not_found)}${liveNote(live)}`,
      lines: [...shown, ...changed],
      content: { board_id, cards: shown, updated, conflicts: changed, not_found, live },
    }
  },
})

export const moveCards = tool('move_cards', 'Move cards to another board', {
  description:
    'Moves cards to another board. They keep their position and content, leave their group, and may get new ids.',
  route: moveCardsRoute,
  input: { board_id: boardId, to_board_id: id('Board to move them to.'), card_ids: cardIds(cardsPerCall) },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show({ to_board_id, moved, cards, not_found, renamed, live }) {
    const shown = cards.map(showPlaced)
    return {
      said: `Moved ${count(moved, 'card')}.${missingNote(not_found)}${liveNote(live)}`,
      lines: shown,
      content: { to_board_id, moved, cards: shown, not_found, renamed, live },
    }
  },
})

export const missingNote = (ids: string[]) =>
  ids.length > 0 ? ` Not on this board: ${count(ids.length, 'id')} (not_found). Read the cards again.` : ''

export const conflictNote = (cards: Card[]) =>
  cards.length > 0
    ? ` Left alone, because they have another version than if_version: ${count(cards.length, 'card')} (conflicts). Check your change against them, then send it again with the new version.`
    : ''

export const showConflicts = (cards: Card[]) => fitting(cards.map(showCard))

const liveNote = (live: boolean) => (live ? '' : ' Saved. An open canvas may show it only after a reload.')
