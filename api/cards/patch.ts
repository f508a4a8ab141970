import Type, { type Static } from 'typebox'
import { integer, list, named, nullable, text } from '../http/vocabulary.ts'
import type { CardPatch } from '../../collab/boards/build.ts'
import { patchCards } from '../../collab/boards/write.ts'
import { cardFields } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { mapInTurns } from '../../platform/work/loop-turn.ts'
import { refuseUnwritable } from '../boards/refuse-unwritable.ts'
import { nameFiles } from '../files/named-files.ts'
import { showWritten } from '../files/show-images.ts'
import { route, type ApiContext } from '../http/route.ts'
import { boardId, boardParams, Card, cardId, cardInput, cardParams, live, notFound } from '../http/schemas.ts'
import { cardChange, sanitizeChanges } from './card-input.ts'

const patchFields = {
  ...cardInput,
  body_base: Type.Optional(
    nullable(
      text(
        'The `body` that your edit started from. With it your edit is merged into what others wrote since; without it `body` replaces theirs. A merged text that would be longer than `body` may be is refused.',
        { maxLength: cardFields.body.limit },
      ),
    ),
  ),
}
const patch = named('CardPatch', 'The fields of a card to change.', patchFields)

function toPatch(id: string, input: Static<typeof patch>, where: string): CardPatch {
  const change = cardChange(input, where)
  return input.body_base === undefined ? { id, change } : { id, change, bodyBase: input.body_base ?? '' }
}

export const patchCard = route('PATCH /boards/:id/cards/:cardId', 'write', {
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: 'Change the fields of a card that are sent.',
  schemas: { params: cardParams, body: patch },
  answers: { 200: Type.Object({ card: Card, live }) },
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  refuseEarly: refuseUnwritable,
  async handle(context, { principal, params, body }) {
    const patches = [toPatch(params.cardId, body, '')]
    const { cards, live } = await write(context, principal.userId, params.id, patches, () => '')
    const [card] = cards
    if (!card) throw new ServiceError('not_found', 'No such card on this board.')
    return { body: { card, live } }
  },
})

export const patchManyCards = route('PATCH /boards/:id/cards', 'write', {
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: `Change up to ${limits.cardsPerRequest} cards.`,
  schemas: {
    params: boardParams,
    body: Type.Object({
      cards: Type.Array(Type.Object({ id: cardId, ...patchFields }), {
        minItems: 1,
        description: 'The cards to change, each with its id and the fields to change.',
        maxItems: limits.cardsPerRequest,
      }),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      cards: list(Card, 'The cards that were found, as they are now.'),
      updated: integer('How many cards were found.'),
      not_found: notFound,
      live,
    }),
  },
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  refuseEarly: refuseUnwritable,
  async handle(context, { principal, params, body }) {
    const where = (at: number) => `cards[${at}].`
    const patches = await mapInTurns(body.cards, (input, at) => toPatch(input.id, input, where(at)))
    const { cards, notFound, live } = await write(context, principal.userId, params.id, patches, where)
    return { body: { board_id: params.id, cards, updated: cards.length, not_found: notFound, live } }
  },
})

async function write(
  context: ApiContext,
  account: string,
  boardId: string,
  patches: CardPatch[],
  where: (at: number) => string,
) {
  const target = { account, boardId }
  const changes = patches.map(({ change }) => change)
  const files = await nameFiles(context, target, changes, where)
  await sanitizeChanges(context, { ...target, adds: 0 }, changes, where)
  const written = await patchCards(context.live, { ...target, patches, files })
  return { ...written, cards: await showWritten(context, account, written.cards) }
}
