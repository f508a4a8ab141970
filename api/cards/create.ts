import Type, { type Static } from 'typebox'
import type { NewCard } from '../../collab/new-cards.ts'
import { readCards } from '../../collab/read.ts'
import { matchedMark, upsertCards } from '../../collab/upsert.ts'
import { createCards } from '../../collab/write.ts'
import { kinds } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { requireVisible } from '../boards/board.ts'
import { requireReadableFiles } from '../files/require-readable.ts'
import { showWritten } from '../files/show-images.ts'
import { route, type ApiContext } from '../route.ts'
import { boardParams, cardAnswer, cardFields, layout, live, uuid } from '../schemas.ts'
import { cardChange } from './card-input.ts'

const card = Type.Object({
  ...cardFields,
  restore_token: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Of a removed card: what the API does not show of it comes back too.',
    }),
  ),
})
const body = Type.Object({
  ...card.properties,
  cards: Type.Optional(Type.Array(card, { minItems: 1, maxItems: limits.cardsPerRequest })),
  layout: Type.Optional(layout),
  on_conflict: Type.Optional(
    Type.Literal('identifier', {
      description: 'A card of the board that carries one of the identifiers is changed in place.',
    }),
  ),
})

const count = (what: string) => Type.Optional(Type.Integer({ description: `${what}, with \`on_conflict\`.` }))

export const createCardsRoute = route({
  method: 'POST',
  path: '/boards/:id/cards',
  scope: 'write',
  refuses: ['forbidden', 'limit_reached'],
  summary: 'Create a card, or up to 1,000 at once; or change those that are there, by their identifiers.',
  schemas: { params: boardParams, body },
  answers: {
    201: Type.Object({
      board_id: uuid,
      cards: Type.Array(cardAnswer),
      created: count('Cards that are new'),
      updated: count('Cards that were there'),
      live,
    }),
  },
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const inputs = body.cards ?? [body]
    const where = (at: number) => (body.cards ? `cards[${at}].` : '')
    const target = { account: principal.userId, boardId: params.id }
    const files = await requireReadableFiles(context, target, inputs, where)
    const kept = await removedCards(context, principal.userId, inputs)
    const cards = inputs.map((input, at): NewCard => {
      if (input.kind === undefined)
        throw new ServiceError('bad_request', `${where(at)}kind is required, one of: ${kinds.join(', ')}.`)
      const removed =
        input.restore_token === undefined ? undefined : kept.get(input.restore_token.toLowerCase())
      if (input.restore_token !== undefined && !removed) {
        throw new ServiceError(
          'bad_request',
          `${where(at)}restore_token must be one that a removal gave in the last 30 days.`,
        )
      }
      const change = cardChange(input, where(at), { anyKind: removed !== undefined })
      return removed ? { change, removed } : { change }
    })
    const request = { ...target, cards, layout: body.layout, files }
    const written = body.on_conflict
      ? await upsertCards(context.live, request)
      : await createCards(context.live, request)
    const shown = await showWritten(context, principal.userId, written.cards)
    return { status: 201, body: { board_id: params.id, ...written, cards: shown } }
  },
  async rebuild(context, { principal, params, body }, made) {
    const { database, live } = context
    await database.asUser(principal.userId, (tx) => requireVisible(tx, params.id))
    const read = await readCards(live, params.id, made.map((id) => id.replace(matchedMark, ''))) // prettier-ignore
    const cards = await showWritten(context, principal.userId, read)
    const answer = { board_id: params.id, cards, live: true }
    if (!body.on_conflict) return { status: 201, body: answer }
    const found = new Set(made.filter((id) => id.startsWith(matchedMark)).map((id) => id.slice(1)))
    const told = cards.map((card) => ({ ...card, created: !found.has(card['id'] as string) }))
    const counts = { created: made.length - found.size, updated: found.size }
    return { status: 201, body: { ...answer, cards: told, ...counts } }
  },
})

/** What is kept of removed cards, for those tokens that the caller may see. */
async function removedCards(
  { database }: ApiContext,
  userId: string,
  inputs: Static<typeof card>[],
): Promise<Map<string, Uint8Array>> {
  const tokens = inputs.flatMap(({ restore_token }) => restore_token ?? [])
  if (tokens.length === 0) return new Map()
  const rows = await database.asUser(
    userId,
    (tx) => tx<{ restore_token: string; state: Buffer }[]>`
      select restore_token, state
      from removed_cards
      where restore_token = any (${tokens}::uuid[]) and removed_at > now() - interval '30 days'`,
  )
  return new Map(rows.map((row) => [row.restore_token, row.state]))
}
