import { defaultOptions, defaultWidth } from '../../../core/layout/arrangement.ts'
import Type from 'typebox'
import { arrangeBoard } from '../../cards/arrange.ts'
import { limits } from '../../../core/limits.ts'
import { fitting } from '../fit.ts'
import { boardId, cardIds, flag, layout, number } from '../fields.ts'
import { count, tool } from '../tool.ts'
import { missingNote } from './write-cards.ts'

export const arrangeCards = tool('arrange_cards', 'Arrange cards', {
  description:
    'Arranges all cards of a board, or the cards in card_ids, in reading order. Layouts: justified rows, masonry columns, a grid, one row or one column. Cards of a group stay together. Changes the position and size of cards.',
  route: arrangeBoard,
  destructive: true,
  idempotent: true,
  input: {
    board_id: boardId,
    layout,
    card_ids: Type.Optional(cardIds(limits.cardsPerRequest)),
    gap: Type.Optional(number(`Pixels between cards; ${defaultOptions.gap} by default.`)),
    width: Type.Optional(number(`Total width in pixels; ${defaultWidth} by default.`)),
    row_height: Type.Optional(
      number(`Height of justified rows in pixels; ${defaultOptions.rowHeight} by default.`),
    ),
    columns: Type.Optional(number('Most columns; grid and masonry only.')),
    dry_run: flag('Only compute the result; write nothing.'),
  },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show: ({ cards, ...rest }) => ({
    said: `${rest.dry_run ? 'Would move' : 'Moved'} ${count(rest.moved, 'card')} of ${cards.length}, layout ${rest.layout}.${missingNote(rest.not_found)}`,
    lines: [],
    content: { ...rest, cards: fitting(cards) },
  }),
})
