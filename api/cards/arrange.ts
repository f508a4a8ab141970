import Type, { type Static } from 'typebox'
import { arrangeCards } from '../../collab/arrange.ts'
import { defaultOptions, type LayoutOptions } from '../../core/layout/arrangement.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../route.ts'
import { boardParams, layout, live, nullable, uuid } from '../schemas.ts'

const option = ({ min, max }: { min: number; max: number }, description: string) =>
  Type.Optional(Type.Number({ minimum: min, maximum: max, description }))

const options = Type.Object({
  layout: Type.Optional(layout),
  card_ids: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: limits.cardsPerRequest,
      description: 'Without it the whole board is arranged.',
    }),
  ),
  gap: option(limits.arrange.gap, `Between cards; ${defaultOptions.gap} when absent. Rounded.`),
  width: option(limits.arrange.width, 'Of the block. Rounded.'),
  row_height: option(limits.arrange.rowHeight, 'Wanted height of rows; `justified` only. Rounded.'),
  columns: option(limits.arrange.columns, 'At most so many; `grid` and `masonry` only. Rounded down.'),
  dry_run: Type.Optional(Type.Boolean({ description: 'Compute the layout and write nothing.' })),
})

export const arrangeBoard = route({
  method: 'POST',
  path: '/boards/:id/arrange',
  scope: 'write',
  refuses: ['forbidden'],
  summary: 'Lay out cards that are on a board.',
  schemas: { params: boardParams, body: nullable(options) },
  answers: {
    200: Type.Object({
      board_id: uuid,
      layout,
      cards: Type.Array(
        Type.Object({
          id: Type.String(),
          x: Type.Integer(),
          y: Type.Integer(),
          w: Type.Integer(),
          h: Type.Integer(),
        }),
      ),
      moved: Type.Integer({ description: 'Cards that the layout gives another place or size.' }),
      not_found: Type.Array(Type.String()),
      dry_run: Type.Boolean(),
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
      remember: ({ seats, moved, notFound }) =>
        operation?.draft({
          ...answer,
          cards: seats,
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
