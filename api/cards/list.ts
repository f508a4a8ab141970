import Type, { type Static } from 'typebox'
import { readPage } from '../../collab/read.ts'
import { isCardId } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { trashCutoff } from '../../core/limits.ts'
import { requireVisible } from '../boards/board.ts'
import { since } from '../feed.ts'
import { showImages } from '../files/show-images.ts'
import { includeOf, pageEnd, pageOf } from '../page.ts'
import { route, type Answer, type ApiContext } from '../route.ts'
import {
  boardParams,
  cardAnswer,
  cursorAnswer,
  indexCardAnswer,
  pageAnswer,
  pageQuery,
  removedCardAnswer,
  uuid,
} from '../schemas.ts'
import { isFeedCursor, readCardFeed } from './feed.ts'

const listQuery = Type.Object({
  source: Type.Optional(
    Type.Literal('index', { description: 'Read the row-per-card mirror instead of the live board.' }),
  ),
  since,
  deleted: Type.Optional(
    Type.Enum(['1', '0'], {
      description:
        '`1`, of a walk with `since`: with the cards that were removed, or moved away, in the last 30 days.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'The `next_cursor` of the page before, of a walk with `source=index`. Send the same filters with it.',
    }),
  ),
  include: Type.Optional(Type.String({ description: 'Comma list of `props`, `identifiers`, `raw`.' })),
  ...pageQuery,
})

export const listCards = route({
  method: 'GET',
  path: '/boards/:id/cards',
  scope: 'read',
  summary: 'List the cards of a board, from the live board or from the index.',
  schemas: { params: boardParams, query: listQuery },
  answers: {
    200: Type.Union([
      Type.Object({ board_id: uuid, cards: Type.Array(cardAnswer), total: Type.Integer(), ...pageAnswer }),
      Type.Object({
        board_id: uuid,
        source: Type.Literal('index'),
        cards: Type.Array(Type.Union([indexCardAnswer, removedCardAnswer])),
        ...cursorAnswer,
      }),
    ]),
  },
  opensDocument: true,
  async handle(context, { principal, params, query }) {
    const include = includeOf(query.include, ['props', 'identifiers', 'raw'])
    const page = pageOf(query)
    const follows = query.since !== undefined || isFeedCursor(query.cursor ?? '')
    requireFeed(query, follows)
    if (follows) {
      const removedSince = query.deleted === '1' ? trashCutoff(context.clock.now()) : null
      const feed = { ...query, limit: page.limit, removedSince }
      return context.database.asUser(principal.userId, (tx) => readCardFeed(tx, params.id, feed))
    }
    if (query.source === 'index' || query.cursor !== undefined)
      return listIndex(context, principal.userId, params.id, query.cursor, page.limit)
    await context.database.asUser(principal.userId, (tx) => requireVisible(tx, params.id))
    const { cards: found, total } = await readPage(context.live, params.id, page, include)
    const cards = await showImages(context, principal.userId, found)
    return { body: { board_id: params.id, cards, total, ...pageEnd(page, total - page.offset) } }
  },
})

/** What only a feed knows of would be missed in silence elsewhere. */
function requireFeed(query: Static<typeof listQuery>, follows: boolean): void {
  if (query.since !== undefined && query.source !== 'index')
    throw new ServiceError('bad_request', 'since goes with source=index.')
  if (query.deleted === '1' && !follows)
    throw new ServiceError('bad_request', 'deleted=1 goes with source=index and since.')
}

interface IndexRow {
  id: string
  kind: string
  title: string | null
  x: number
  y: number
  image_key: string | null
  updated_at: Date
}

async function listIndex(
  { database }: ApiContext,
  userId: string,
  boardId: string,
  cursor: string | undefined,
  limit: number,
): Promise<Answer> {
  const after = cursor === undefined ? '' : cardAfter(boardId, cursor)
  const rows = await database.asUser(userId, async (tx) => {
    const visible = requireVisible(tx, boardId)
    const rows = tx<IndexRow[]>`
      select card_id as id, kind, title, x, y, image_key, updated_at
      from card_index
      where board_id = ${boardId} and card_id > ${after} and deleted_at is null
      order by card_id
      limit ${limit + 1}`
    return (await Promise.all([visible, rows]))[1]
  })
  const cards = rows.slice(0, limit).map((row) => ({ ...row, updated_at: row.updated_at.toISOString() }))
  const more = rows.length > limit
  return {
    body: {
      board_id: boardId,
      source: 'index',
      cards,
      limit,
      has_more: more,
      next_cursor: more ? `${boardId}|${cards.at(-1)!.id}` : null,
    },
  }
}

/** The last card of the page before. @throws ServiceError `bad_request` for the cursor of another walk */
function cardAfter(boardId: string, cursor: string): string {
  const [board, card, ...more] = cursor.split('|')
  if (board !== boardId || card === undefined || !isCardId(card) || more.length > 0)
    throw new ServiceError('bad_request', 'cursor must be the next_cursor of an earlier page of this board.')
  return card
}
