import Type from 'typebox'
import { arrangeBoard } from '../../cards/arrange.ts'
import { layoutNames } from '../../../core/layout/arrangement.ts'
import { limits } from '../../../core/limits.ts'
import { live, uuid } from '../../schemas.ts'
import { fitting } from '../fit.ts'
import { boardId, cardIds, count, notFound, tool } from '../tool.ts'
import { missingNote } from './write-cards.ts'

const { gap, width, rowHeight, columns } = limits.arrange
const between = ({ min, max }: { min: number; max: number }, description: string) =>
  Type.Optional(Type.Number({ minimum: min, maximum: max, description }))
const box = Type.Object({
  id: Type.String(),
  x: Type.Integer(),
  y: Type.Integer(),
  w: Type.Integer(),
  h: Type.Integer(),
})

export const arrangeCards = tool({
  name: 'arrange_cards',
  title: 'Arrange cards',
  description:
    'Lays out the cards of a board, or those of card_ids, in their reading order: justified rows, masonry columns, a grid, one row, one column. Cards of a group stay together. Use dry_run to see the result first.',
  route: arrangeBoard,
  destructive: true,
  idempotent: true,
  input: {
    board_id: boardId,
    layout: Type.Optional(Type.Enum([...layoutNames], { default: 'justified' })),
    card_ids: Type.Optional(cardIds(limits.cardsPerRequest)),
    gap: between(gap, 'Between cards; 20 when absent.'),
    width: between(width, 'Of the block; 1,780 when absent.'),
    row_height: between(rowHeight, 'Of justified rows; 180 when absent.'),
    columns: between(columns, 'At most so many; grid and masonry.'),
    dry_run: Type.Optional(Type.Boolean({ description: 'Compute and write nothing.' })),
  },
  output: {
    board_id: uuid,
    layout: Type.String(),
    moved: Type.Integer({ description: 'Cards with another place or size.' }),
    cards: Type.Array(box, { description: 'Of a large board the first ones; read_cards shows all.' }),
    not_found: notFound,
    dry_run: Type.Boolean(),
    live,
  },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show: ({
    cards,
    ...rest
  }: {
    board_id: string
    layout: string
    cards: { id: string; x: number; y: number; w: number; h: number }[]
    moved: number
    not_found: string[]
    dry_run: boolean
    live: boolean
  }) => ({
    said: `${rest.dry_run ? 'Would move' : 'Moved'} ${count(rest.moved, 'card')} of ${cards.length}, layout ${rest.layout}.${missingNote(rest.not_found)}`,
    lines: [],
    content: { ...rest, cards: fitting(cards) },
  }),
})
