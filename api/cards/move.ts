import Type from 'typebox'
import { moveCards } from '../../collab/move.ts'
import { readCards } from '../../collab/read.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { requireVisible } from '../boards/board.ts'
import { showWritten } from '../files/show-images.ts'
import { route } from '../route.ts'
import { boardParams, cardAnswer, live, uuid } from '../schemas.ts'

export const moveCardsRoute = route({
  method: 'POST',
  path: '/boards/:id/cards/move',
  scope: 'write',
  refuses: ['forbidden', 'limit_reached'],
  summary: 'Move up to 1,000 cards to another board.',
  schemas: {
    params: boardParams,
    body: Type.Object({
      to_board_id: uuid,
      card_ids: Type.Array(Type.String(), { minItems: 1, maxItems: limits.cardsPerRequest }),
    }),
  },
  answers: {
    200: Type.Object({
      to_board_id: uuid,
      moved: Type.Integer(),
      cards: Type.Array(cardAnswer),
      not_found: Type.Array(Type.String()),
      renamed: Type.Record(Type.String(), Type.String(), {
        description: 'By their old id, new ids of cards whose id was on the target board already.',
      }),
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const toBoardId = body.to_board_id.toLowerCase()
    if (toBoardId === params.id) throw new ServiceError('bad_request', 'to_board_id must be another board.')
    const { cards, notFound, ...rest } = await moveCards(context.live, {
      account: principal.userId,
      boardId: params.id,
      toBoardId,
      ids: body.card_ids,
    })
    const shown = await showWritten(context, principal.userId, cards)
    return {
      body: { to_board_id: toBoardId, moved: cards.length, cards: shown, not_found: notFound, ...rest },
    }
  },
  async rebuild(context, { principal, body }, made) {
    const { database, live } = context
    const toBoardId = body.to_board_id.toLowerCase()
    await database.asUser(principal.userId, (tx) => requireVisible(tx, toBoardId))
    const moved = made.map((pair) => pair.split('>') as [was: string, id: string])
    const sources = new Set(moved.map(([was]) => was))
    const read = await readCards(live, toBoardId, moved.map(([, id]) => id)) // prettier-ignore
    const cards = await showWritten(context, principal.userId, read)
    return {
      body: {
        to_board_id: toBoardId,
        moved: moved.length,
        cards,
        not_found: [...new Set(body.card_ids)].filter((id) => !sources.has(id)),
        renamed: Object.fromEntries(moved.filter(([was, id]) => was !== id)),
        live: true,
      },
    }
  },
})
