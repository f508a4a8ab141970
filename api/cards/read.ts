import Type from 'typebox'
import { text } from '../http/vocabulary.ts'
import { readCards } from '../../collab/boards/read.ts'
import { ServiceError } from '../../core/errors.ts'
import { requireVisibleTo } from '../boards/board.ts'
import { showImages } from '../files/show-images.ts'
import { showUrls } from '../files/show-urls.ts'
import { tagged } from '../http/if-match.ts'
import { includeOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { Card, cardParams } from '../http/schemas.ts'

export const readCard = route('GET /boards/:id/cards/:cardId', 'read', {
  summary: 'Read a card, with its properties and identifiers.',
  schemas: {
    params: cardParams,
    query: Type.Object({
      include: Type.Optional(
        text(
          'Which fields to add: a comma list of `props`, `identifiers`, `raw`, `urls`. A single card has the first two in any case.',
        ),
      ),
    }),
  },
  answers: { 200: Type.Object({ card: Card }) },
  answerHeaders: ['etag'],
  opensDocument: true,
  async handle(context, call) {
    const { principal, params, query } = call
    const { raw, urls } = includeOf(query.include, ['props', 'identifiers', 'raw', 'urls'])
    await requireVisibleTo(context.database, principal.userId, params.id)
    const found = await readCards(context.live, params.id, [params.cardId], principal.userId, { raw })
    const sized = await showImages(context, principal.userId, found)
    const [card] = urls ? await showUrls(context, call, sized) : sized
    if (!card) throw new ServiceError('not_found', 'No such card on this board.')
    return { body: { card }, headers: tagged(card) }
  },
})
