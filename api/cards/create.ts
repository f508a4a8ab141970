import Type, { type Static } from 'typebox'
import { id, integer, list, listOf, named } from '../http/vocabulary.ts'
import { requireAlive } from '../../collab/boards/named-files.ts'
import type { NewCard } from '../../collab/canvas/new-cards.ts'
import { readCards } from '../../collab/boards/read.ts'
import { upsertCards } from '../../collab/boards/upsert.ts'
import { createCards } from '../../collab/boards/write.ts'
import { kinds } from '../../core/card.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { mapInTurns } from '../../platform/work/loop-turn.ts'
import { idsOf } from '../../sql/made.ts'
import { requireVisibleTo } from '../boards/board.ts'
import { refuseUnwritable } from '../boards/refuse-unwritable.ts'
import { nameFiles } from '../files/named-files.ts'
import { showWritten } from '../files/show-images.ts'
import { route, type ApiContext } from '../http/route.ts'
import { boardId, boardParams, Card, cardInput, layout, live } from '../http/schemas.ts'
import { cardChange, sanitizeChanges } from './card-input.ts'

const card = named('CardInput', 'A card to create.', {
  ...cardInput,
  restore_token: Type.Optional(
    id(
      `The \`restore_token\` of a removed card, at most ${limits.trashDays} days old. What the API does not show of that card is restored with it.`,
    ),
  ),
})
const body = Type.Object({
  ...card.properties,
  cards: Type.Optional(
    listOf(card, limits.cardsPerRequest, 'The batch form: all of these cards are created, or none.'),
  ),
  layout: Type.Optional(layout),
  on_conflict: Type.Optional(
    Type.Literal('identifier', {
      description: 'A card of the board that has one of the identifiers is changed, and no card is created.',
    }),
  ),
})

const count = (what: string) => Type.Optional(integer(`With \`on_conflict\`: how many cards ${what}.`))

export const createCardsRoute = route('POST /boards/:id/cards', 'write', {
  refuses: ['forbidden', 'limit_reached'],
  summary: `Create a card, or up to ${limits.cardsPerRequest} at once.`,
  schemas: { params: boardParams, body },
  answers: {
    201: Type.Object({
      board_id: boardId,
      cards: list(Card, 'The cards, in the order of the request.'),
      created: count('are new'),
      updated: count('were changed'),
      live,
    }),
  },
  bodyLimitBytes: limits.cardBatchBodyBytes,
  opensDocument: true,
  refuseEarly: refuseUnwritable,
  async handle(context, { principal, params, body }) {
    const inputs = body.cards ?? [body]
    const where = (at: number) => (body.cards ? `cards[${at}].` : '')
    const target = { account: principal.userId, boardId: params.id }
    const kept = await removedCards(context, principal.userId, inputs)
    const cards = await mapInTurns(inputs, (input, at): NewCard => {
      if (input.kind === undefined)
        throw badRequest(`${where(at)}kind is required, one of: ${kinds.join(', ')}.`)
      const removed =
        input.restore_token === undefined ? undefined : kept.get(input.restore_token.toLowerCase())
      if (input.restore_token !== undefined && !removed) {
        throw badRequest(
          `${where(at)}restore_token must be one that a removal gave in the last ${limits.trashDays} days.`,
        )
      }
      const change = cardChange(input, where(at), { anyKind: removed !== undefined })
      return removed ? { change, removed } : { change }
    })
    const changes = cards.map(({ change }) => change)
    const files = await nameFiles(context, target, changes, where)
    if (!body.on_conflict)
      for (const [at, { change, removed }] of cards.entries())
        if (!removed) requireAlive(files, at, change, null)
    await sanitizeChanges(context, { ...target, adds: body.on_conflict ? 0 : cards.length }, changes, where)
    const request = { ...target, cards, layout: body.layout, files }
    const written = body.on_conflict
      ? await upsertCards(context.live, request)
      : await createCards(context.live, request)
    const shown = await showWritten(context, principal.userId, written.cards)
    return { status: 201, body: { board_id: params.id, ...written, cards: shown } }
  },
  async rebuild(context, { principal, params, body }, made) {
    const { database, live } = context
    await requireVisibleTo(database, principal.userId, params.id)
    const read = await readCards(live, params.id, idsOf(made), principal.userId)
    const cards = await showWritten(context, principal.userId, read)
    const answer = { board_id: params.id, cards, live: true }
    if (!body.on_conflict) return { status: 201, body: answer }
    const found = new Set(idsOf(made.filter(({ type }) => type === 'changed')))
    const told = cards.map((card) => ({ ...card, created: !found.has(card['id'] as string) }))
    const counts = { created: made.length - found.size, updated: found.size }
    return { status: 201, body: { ...answer, cards: told, ...counts } }
  },
})

/** The stored states of removed cards, by token, for the tokens that the caller may see. */
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
      where restore_token = any (${tokens}::uuid[]) and removed_at > now() - make_interval(days => ${limits.trashDays})`,
  )
  return new Map(rows.map((row) => [row.restore_token, row.state]))
}
