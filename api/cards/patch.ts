import Type, { type Static } from 'typebox'
import { integer, list, named, nullable, text } from '../http/vocabulary.ts'
import type { CardPatch } from '../../collab/boards/build.ts'
import { patchCards } from '../../collab/boards/patch.ts'
import { cardFields } from '../../core/card.ts'
import { limits } from '../../core/limits.ts'
import type { Expects } from '../../core/version.ts'
import { mapInTurns } from '../../platform/work/loop-turn.ts'
import { refuseUnwritable } from '../boards/refuse-unwritable.ts'
import { nameFiles } from '../files/named-files.ts'
import { changedAnswer, ifVersion, isVersion, tagged } from '../http/if-match.ts'
import { route, type ApiContext } from '../http/route.ts'
import {
  boardId,
  boardParams,
  Card,
  cardId,
  cardInput,
  cardParams,
  conflicts,
  live,
  notFound,
} from '../http/schemas.ts'
import { cardChange, sanitizeChanges } from './card-input.ts'
import { requireWritten, showOutcome } from './outcome.ts'

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

function toPatch(
  id: string,
  input: Static<typeof patch>,
  where: string,
  expects: Expects | undefined,
): CardPatch {
  const change = { id, change: cardChange(input, where), expects }
  return input.body_base === undefined ? change : { ...change, bodyBase: input.body_base ?? '' }
}

export const patchCard = route('PATCH /boards/:id/cards/:cardId', 'write', {
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: 'Change the fields of a card that are sent.',
  schemas: { params: cardParams, body: patch },
  answers: { 200: Type.Object({ card: Card, live }), 412: changedAnswer({ card: Card }) },
  conditional: true,
  answerHeaders: ['etag'],
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  refuseEarly: refuseUnwritable,
  async handle(context, { principal, params, body, expects }) {
    const patches = [toPatch(params.cardId, body, '', expects)]
    const written = await write(context, principal.userId, params.id, patches, () => '')
    const card = requireWritten(written)
    return { body: { card, live: written.live }, headers: tagged(card) }
  },
})

export const patchManyCards = route('PATCH /boards/:id/cards', 'write', {
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: `Change up to ${limits.cardsPerRequest} cards.`,
  schemas: {
    params: boardParams,
    body: Type.Object({
      cards: Type.Array(Type.Object({ id: cardId, if_version: ifVersion, ...patchFields }), {
        minItems: 1,
        description: 'The cards to change, each with its id and the fields to change.',
        maxItems: limits.cardsPerRequest,
      }),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      cards: list(Card, 'The cards that were changed, as they are now.'),
      updated: integer('How many cards were changed.'),
      conflicts,
      not_found: notFound,
      live,
    }),
  },
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  refuseEarly: refuseUnwritable,
  async handle(context, { principal, params, body }) {
    const where = (at: number) => `cards[${at}].`
    const patches = await mapInTurns(body.cards, (input, at) =>
      toPatch(input.id, input, where(at), isVersion(input.if_version)),
    )
    const written = await write(context, principal.userId, params.id, patches, where)
    const { cards, notFound, ...rest } = written
    return { body: { board_id: params.id, cards, updated: cards.length, not_found: notFound, ...rest } }
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
  return showOutcome(context, account, written)
}
