import Type, { type TSchema } from 'typebox'
import { kinds } from '../../../core/card.ts'
import { createCardsRoute } from '../../cards/create.ts'
import { moveCardsRoute } from '../../cards/move.ts'
import { patchManyCards } from '../../cards/patch.ts'
import { cardFields, layout, live, uuid } from '../../schemas.ts'
import { boardId, cardIds, cardsPerCall, count, notFound, tool } from '../tool.ts'
import { placedCard, showPlaced, type Card } from './shown.ts'

const many = <T extends TSchema>(card: T) => Type.Array(card, { minItems: 1, maxItems: cardsPerCall })
const newCard = Type.Object({ ...cardFields, kind: Type.Enum([...kinds]) })
const changedCard = Type.Object({ id: Type.String(), ...cardFields })

export const createCards = tool({
  name: 'create_cards',
  title: 'Create cards',
  description:
    'Puts cards on a board: notes (title, body), links (url, title), images and files by their keys, and so on. Cards without x and y get free space; layout arranges all cards of the call. With update_existing a card that carries one of the identifiers is changed in place, so that the call can be repeated. To make cards of what URLs lead to use import_urls.',
  route: createCardsRoute,
  input: {
    board_id: boardId,
    cards: many(newCard),
    layout: Type.Optional(layout),
    update_existing: Type.Optional(Type.Boolean({ description: 'Each card then needs identifiers.' })),
  },
  output: {
    board_id: uuid,
    cards: Type.Array(placedCard),
    created: Type.Integer(),
    updated: Type.Integer(),
    live,
  },
  call: ({ board_id, cards, layout, update_existing }) => ({
    params: { id: board_id },
    body: {
      cards,
      ...(layout === undefined ? {} : { layout }),
      ...(update_existing ? { on_conflict: 'identifier' } : {}),
    },
  }),
  show({
    board_id,
    cards,
    created = cards.length,
    updated = 0,
    live,
  }: {
    board_id: string
    cards: Card[]
    created?: number
    updated?: number
    live: boolean
  }) {
    const shown = cards.map(showPlaced)
    return {
      said: `Created ${count(created, 'card')}${updated > 0 ? `, changed ${updated} that were there` : ''}.${liveNote(live)}`,
      lines: shown,
      content: { board_id, cards: shown, created, updated, live },
    }
  },
})

export const updateCards = tool({
  name: 'update_cards',
  title: 'Change cards',
  description:
    'Changes the fields that are given of cards on a board; others stay. Null clears a text. group_id puts a card into a group.',
  route: patchManyCards,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, cards: many(changedCard) },
  output: {
    board_id: uuid,
    cards: Type.Array(placedCard),
    updated: Type.Integer(),
    not_found: notFound,
    live,
  },
  call: ({ board_id, cards }) => ({ params: { id: board_id }, body: { cards } }),
  show({
    board_id,
    cards,
    updated,
    not_found,
    live,
  }: {
    board_id: string
    cards: Card[]
    updated: number
    not_found: string[]
    live: boolean
  }) {
    const shown = cards.map(showPlaced)
    return {
      said: `Changed ${count(updated, 'card')}.${missingNote(not_found)}${liveNote(live)}`,
      lines: shown,
      content: { board_id, cards: shown, updated, not_found, live },
    }
  },
})

export const moveCards = tool({
  name: 'move_cards',
  title: 'Move cards to another board',
  description:
    'Moves cards to another board. They keep what they hold, leave their group, and may get new ids (renamed).',
  route: moveCardsRoute,
  input: { board_id: boardId, to_board_id: uuid, card_ids: cardIds(cardsPerCall) },
  output: {
    to_board_id: uuid,
    moved: Type.Integer(),
    cards: Type.Array(placedCard),
    not_found: notFound,
    renamed: Type.Record(Type.String(), Type.String(), { description: 'New ids by old ones.' }),
    live,
  },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show({
    to_board_id,
    moved,
    cards,
    not_found,
    renamed,
    live,
  }: {
    to_board_id: string
    moved: number
    cards: Card[]
    not_found: string[]
    renamed: Record<string, string>
    live: boolean
  }) {
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

const liveNote = (live: boolean) => (live ? '' : ' Saved; an open canvas may need a reload to show it.')
