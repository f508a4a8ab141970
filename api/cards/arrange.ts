import Type, { type Static } from 'typebox'
import { flag, integer, list, listOf, named, nullable } from '../http/vocabulary.ts'
import { arrangeCards } from '../../collab/boards/arrange.ts'
import { defaultOptions, type LayoutOptions } from '../../core/layout/arrangement.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, cardId, layout, live, notFound } from '../http/schemas.ts'

const option = ({ min, max }: { min: number; max: number }, description: string) =>
  Type.Optional(Type.Number({ minimum: min, maximum: max, description }))

const options = Type.Object({
  layout: Type.Optional({ ...layout, description: 'How the cards are arranged; `justified` when absent.' }),
  card_ids: Type.Optional(
    listOf(
      Type.String(),
      limits.cardsPerRequest,
      'Ids of the cards to arrange. Without it the whole board is arranged.',
    ),
  ),
  gap: option(
    limits.arrange.gap,
    `Distance between cards in canvas pixels; ${defaultOptions.gap} when absent. Rounded.`,
  ),
  width: option(limits.arrange.width, 'Width of the arranged block in canvas pixels. Rounded.'),
  row_height: option(
    limits.arrange.rowHeight,
    `Preferred height of a row in canvas pixels, of \`justified\` only; ${defaultOptions.rowHeight} when absent. Rounded.`,
  ),
  columns: option(limits.arrange.columns, 'The most columns, of `grid` and `masonry` only. Rounded down.'),
  dry_run: Type.Optional(flag('`true`: compute the layout and write nothing.')),
})

const cardPlace = named('CardPlace', 'Where a layout puts a card.', {
  id: cardId,
  x: integer('Left edge in canvas pixels.'),
  y: integer('Top edge in canvas pixels.'),
  w: integer('Width in canvas pixels.'),
  h: integer('Height in canvas pixels.'),
})

export const arrangeBoard = route('POST /boards/:id/arrange', 'write', {
  refuses: ['forbidden'],
  summary: 'Arrange the cards of a board.',
  schemas: { params: boardParams, body: nullable(options) },
  answers: {
    200: Type.Object({
      board_id: boardId,
      layout,
      cards: list(cardPlace, 'The cards that the layout is for.'),
      moved: integer('How many cards get another place or size by it.'),
      not_found: notFound,
      dry_run: flag('True when nothing was written.'),
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const { layout = 'justified', card_ids, dry_run = false, ...given } = body ?? {}
    const answer = { board_id: params.id, layout, dry_run }
    const operation = currentOperation()
    const { cards, moved, notFound, live } = await arrangeCards(context.live, {
      account: principal.userId,
      boardId: params.id,
      layout,
      options: layoutOptions(given),
      ids: card_ids ?? null,
      dryRun: dry_run,
      remember: ({ places, moved, notFound }) =>
        operation?.draft({
          ...answer,
          cards: places,
          moved: moved.length,
          not_found: notFound,
          live: true,
        }) ?? [],
    })
    return { body: { ...answer, cards, moved, not_found: notFound, live } }
  },
})

function layoutOptions({ gap, width, row_height, columns }: Static<typeof options>): LayoutOptions {
  return {
    gap: Math.round(gap ?? defaultOptions.gap),
    width: width === undefined ? defaultOptions.width : Math.round(width),
    rowHeight: Math.round(row_height ?? defaultOptions.rowHeight),
    columns: columns === undefined ? defaultOptions.columns : Math.floor(columns),
  }
}
