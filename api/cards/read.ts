import Type from 'typebox'
import { readCards } from '../../collab/read.ts'
import { ServiceError } from '../../core/errors.ts'
import { requireVisible } from '../boards/board.ts'
import { showImages } from '../files/show-images.ts'
import { route } from '../route.ts'
import { cardAnswer, uuid } from '../schemas.ts'

export const readCard = route({
  method: 'GET',
  path: '/boards/:id/cards/:cardId',
  scope: 'read',
  summary: 'Read a card, with its properties and identifiers.',
  schemas: { params: Type.Object({ id: uuid, cardId: Type.String() }) },
  answers: { 200: Type.Object({ card: cardAnswer }) },
  opensDocument: true,
  async handle(context, { principal, params }) {
    await context.database.asUser(principal.userId, (tx) => requireVisible(tx, params.id))
    const found = await readCards(context.live, params.id, [params.cardId])
    const [card] = await showImages(context, principal.userId, found)
    if (!card) throw new ServiceError('not_found', 'No such card on this board.')
    return { body: { card } }
  },
})
