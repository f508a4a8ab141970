import Type, { type Static } from 'typebox'
import type { CardPatch } from '../../collab/build.ts'
import { patchCards } from '../../collab/write.ts'
import { bodyLimit } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { requireReadableFiles } from '../files/require-readable.ts'
import { showWritten } from '../files/show-images.ts'
import { route } from '../route.ts'
import { boardParams, cardAnswer, cardFields, live, nullable, uuid } from '../schemas.ts'
import { cardChange } from './card-input.ts'

const patchFields = {
  ...cardFields,
  body_base: Type.Optional(
    nullable(
      Type.String({
        maxLength: bodyLimit,
        description: 'The text that the edit of `body` started from: what others wrote since stays.',
      }),
    ),
  ),
}
const patch = Type.Object(patchFields)

function toPatch(id: string, input: Static<typeof patch>, where: string): CardPatch {
  const change = cardChange(input, where)
  return input.body_base === undefined ? { id, change } : { id, change, bodyBase: input.body_base ?? '' }
}

export const patchCard = route({
  method: 'PATCH',
  path: '/boards/:id/cards/:cardId',
  scope: 'write',
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: 'Change the fields of a card that are sent.',
  schemas: { params: Type.Object({ id: uuid, cardId: Type.String() }), body: patch },
  answers: { 200: Type.Object({ card: cardAnswer, live }) },
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const patches = [toPatch(params.cardId, body, '')]
    const target = { account: principal.userId, boardId: params.id }
    const files = await requireReadableFiles(context, target, [body], () => '')
    const { cards, live } = await patchCards(context.live, { ...target, patches, files })
    const [card] = await showWritten(context, principal.userId, cards)
    if (!card) throw new ServiceError('not_found', 'No such card on this board.')
    return { body: { card, live } }
  },
})

export const patchManyCards = route({
  method: 'PATCH',
  path: '/boards/:id/cards',
  scope: 'write',
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: 'Change up to 1,000 cards.',
  schemas: {
    params: boardParams,
    body: Type.Object({
      cards: Type.Array(Type.Object({ id: Type.String(), ...patchFields }), {
        minItems: 1,
        maxItems: limits.cardsPerRequest,
      }),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: uuid,
      cards: Type.Array(cardAnswer),
      updated: Type.Integer(),
      not_found: Type.Array(Type.String()),
      live,
    }),
  },
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const patches = body.cards.map((input, at) => toPatch(input.id, input, `cards[${at}].`))
    const target = { account: principal.userId, boardId: params.id }
    const files = await requireReadableFiles(context, target, body.cards, (at) => `cards[${at}].`)
    const { cards, notFound, live } = await patchCards(context.live, { ...target, patches, files })
    const shown = await showWritten(context, principal.userId, cards)
    return { body: { board_id: params.id, cards: shown, updated: cards.length, not_found: notFound, live } }
  },
})
