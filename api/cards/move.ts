import Type from 'typebox'
import { id, integer, list, listOf } from '../http/vocabulary.ts'
import { moveCards } from '../../collab/boards/move.ts'
import { readCards } from '../../collab/boards/read.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { requireVisibleTo } from '../boards/board.ts'
import { showWritten } from '../files/show-images.ts'
import { route } from '../http/route.ts'
import { boardParams, Card, live, notFound } from '../http/schemas.ts'

export const moveCardsRoute = route('POST /boards/:id/cards/move', 'write', {
  refuses: ['forbidden', 'limit_reached'],
  summary: `Move up to ${limits.cardsPerRequest} cards to another board.`,
  schemas: {
    params: boardParams,
    body: Type.Object({
      to_board_id: id('Id of the board to move the cards to.'),
      card_ids: listOf(Type.String(), limits.cardsPerRequest, 'Ids of the cards to move.'),
    }),
  },
  answers: {
    200: Type.Object({
      to_board_id: id('Id of the board that the cards are on now.'),
      moved: integer('How many cards were moved.'),
      cards: list(Card, 'The cards that were moved, as they are now.'),
      not_found: notFound,
      renamed: Type.Record(Type.String(), Type.String(), {
        description: 'New ids by old ids, for cards whose id was already on the target board.',
      }),
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const toBoardId = body.to_board_id.toLowerCase()
    if (toBoardId === params.id) throw badRequest('to_board_id must be another board.')
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
    await requireVisibleTo(database, principal.userId, toBoardId)
    const moved = made.filter((one) => one.type === 'moved')
    const sources = new Set(moved.map(({ from }) => from))
    const ids = moved.map(({ id }) => id)
    const read = await readCards(live, toBoardId, ids, principal.userId)
    const cards = await showWritten(context, principal.userId, read)
    return {
      body: {
        to_board_id: toBoardId,
        moved: moved.length,
        cards,
        not_found: [...new Set(body.card_ids)].filter((id) => !sources.has(id)),
        renamed: Object.fromEntries(moved.flatMap(({ from, id }) => (from === id ? [] : [[from, id]]))),
        live: true,
      },
    }
  },
})
