import Type, { type Static } from 'typebox'
import { integer, list, oneOf, text } from '../http/vocabulary.ts'
import { readPage } from '../../collab/boards/read.ts'
import { isCardId, type IndexedFields } from '../../core/card.ts'
import { badRequest } from '../../core/errors.ts'
import { limits, trashCutoff } from '../../core/limits.ts'
import { requireVisible, requireVisibleTo } from '../boards/board.ts'
import { asOf, pastMoment } from '../boards/past.ts'
import { since } from '../http/feed.ts'
import { showImages } from '../files/show-images.ts'
import { showUrls } from '../files/show-urls.ts'
import { cutAfter, includeOf, pageEnd, pageOf } from '../http/page.ts'
import { route, type Answer, type ApiContext } from '../http/route.ts'
import {
  boardId,
  boardParams,
  Card,
  cursor,
  cursorAnswer,
  IndexCard,
  offsetPage,
  pageQuery,
  RemovedCard,
} from '../http/schemas.ts'
import { indexedColumns, isFeedCursor, readCardFeed } from './feed.ts'
import { listPast } from './past.ts'

const listQuery = Type.Object({
  source: Type.Optional(
    Type.Literal('index', {
      description:
        'Read the index instead of the live board: fewer fields, and some seconds behind open editors.',
    }),
  ),
  since,
  deleted: Type.Optional(
    oneOf(
      ['1', '0'],
      `\`1\`, with \`since\`: include the cards that were removed or moved away in the last ${limits.trashDays} days.`,
    ),
  ),
  cursor,
  include: Type.Optional(
    text(
      'Which fields to add to each card: a comma list of `props`, `identifiers`, `raw`, `urls`. With `source=index` only `identifiers`.',
    ),
  ),
  as_of: asOf,
  ...pageQuery,
})

export const listCards = route('GET /boards/:id/cards', 'read', {
  summary: 'List the cards of a board, or follow their changes.',
  description:
    'Without `source`: the live board, with all fields, in pages by `offset`. With `source=index`: the index, in pages by `cursor`. With `source=index` and `since`: a change feed. With `as_of`: the board as it was, with all fields, in pages by `offset`. A guest needs the history to be shared.',
  schemas: { params: boardParams, query: listQuery },
  answers: {
    200: Type.Union([
      offsetPage({
        board_id: boardId,
        cards: list(Card, 'The cards of this page.'),
        total: integer('How many cards are on the board.'),
        as_of: Type.Optional(pastMoment),
      }),
      Type.Object({
        board_id: boardId,
        source: Type.Literal('index', { description: 'Always `index`.' }),
        cards: list(Type.Union([IndexCard, RemovedCard]), 'The cards of this page.'),
        ...cursorAnswer,
      }),
    ]),
  },
  refuses: ['forbidden'],
  opensDocument: true,
  async handle(context, call) {
    const { principal, params, query } = call
    const page = pageOf(query)
    requireLivePast(query)
    const follows = query.since !== undefined || isFeedCursor(query.cursor ?? '')
    const fromIndex = follows || query.source === 'index' || query.cursor !== undefined
    const include = fromIndex
      ? {
          ...includeOf(query.include, ['identifiers'], 'With source=index, include'),
          props: false,
          raw: false,
          urls: false,
        }
      : includeOf(query.include, ['props', 'identifiers', 'raw', 'urls'])
    requireFeed(query, follows)
    if (follows) {
      const removedSince = query.deleted === '1' ? trashCutoff(context.clock.now()) : null
      const feed = { ...query, ...include, limit: page.limit, removedSince }
      return context.database.asUser(principal.userId, (tx) => readCardFeed(tx, params.id, feed))
    }
    if (fromIndex)
      return listIndex(context, principal.userId, params.id, {
        ...include,
        cursor: query.cursor,
        limit: page.limit,
      })
    if (query.as_of !== undefined) {
      const past = { boardId: params.id, asOf: query.as_of, page, extras: include }
      const { body } = await listPast(context, principal.userId, past)
      return include.urls ? { body: { ...body, cards: await showUrls(context, call, body.cards) } } : { body }
    }
    await requireVisibleTo(context.database, principal.userId, params.id)
    const { cards: found, total } = await readPage(context.live, params.id, page, include, principal.userId)
    const sized = await showImages(context, principal.userId, found)
    const cards = include.urls ? await showUrls(context, call, sized) : sized
    return { body: { board_id: params.id, cards, total, ...pageEnd(page, total - page.offset) } }
  },
})

/** The index has no past. */
function requireLivePast({ as_of, source, since, cursor }: Static<typeof listQuery>): void {
  if (as_of !== undefined && (source ?? since ?? cursor) !== undefined)
    throw badRequest("as_of can't be used with source=index, since or cursor. Use offset for pages.")
}

/** Refuses parameters that only a feed uses: elsewhere they would be ignored silently. */
function requireFeed(query: Static<typeof listQuery>, follows: boolean): void {
  if (query.since !== undefined && query.source !== 'index') throw badRequest('since needs source=index.')
  if (query.deleted === '1' && !follows) throw badRequest('deleted=1 needs source=index and since.')
}

interface IndexRow extends IndexedFields {
  id: string
  version: string
  updated_at: Date
}

async function listIndex(
  { database }: ApiContext,
  userId: string,
  boardId: string,
  { cursor, limit, identifiers }: { cursor: string | undefined; limit: number; identifiers: boolean },
): Promise<Answer> {
  const after = cursor === undefined ? '' : cardAfter(boardId, cursor)
  const rows = await database.asUser(userId, async (tx) => {
    const visible = requireVisible(tx, boardId)
    const rows = tx<IndexRow[]>`
      select card_id as id, ${indexedColumns(tx, { identifiers })}, hash as version, updated_at
      from card_index
      where board_id = ${boardId} and card_id > ${after} and deleted_at is null
      order by card_id
      limit ${limit + 1}`
    return (await Promise.all([visible, rows]))[1]
  })
  const { shown, end } = cutAfter(rows, limit, ({ id }) => `${boardId}|${id}`)
  return { body: { board_id: boardId, source: 'index', cards: shown, ...end } }
}

/** Returns the last card of the previous page. @throws ServiceError `bad_request` for the cursor of another list */
function cardAfter(boardId: string, cursor: string): string {
  const [board, card, ...more] = cursor.split('|')
  if (board !== boardId || card === undefined || !isCardId(card) || more.length > 0)
    throw badRequest('cursor must be the next_cursor of an earlier page of this board.')
  return card
}
