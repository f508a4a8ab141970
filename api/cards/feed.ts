/** `GET /boards/{id}/cards?source=index&since=`: the changes of a board's cards, from the index. */
import { indexedFields, isCardId, type IndexedFields } from '../../core/card.ts'
import { badRequest } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { requireVisible } from '../boards/board.ts'
import { feedEnd, feedHorizon, parseTime, sinceOf, type FeedPosition } from '../http/feed.ts'
import type { Answer } from '../http/route.ts'

export interface CardFeedQuery {
  since?: string
  cursor?: string
  limit: number
  /** Null: only live cards. Otherwise also cards that were removed at or after this time. */
  removedSince: Date | null
  /** Whether each card contains its identifiers. */
  identifiers?: boolean
}

interface CardFeedRow extends IndexedFields {
  id: string
  version: string
  updated_at: Date
  deleted: boolean
}

/** Reads the horizon and the page, in two statements of one transaction. */
export async function readCardFeed(tx: Transaction, boardId: string, query: CardFeedQuery): Promise<Answer> {
  const from = query.cursor === undefined ? sinceOf(query.since!) : cursorPosition(boardId, query.cursor)
  const [horizon] = await Promise.all([feedHorizon(tx), requireVisible(tx, boardId)])
  const rows = await tx<CardFeedRow[]>`${cardFeed(tx, boardId, query, from, horizon)}`
  const { page, end } = feedEnd(rows, query.limit, {
    from,
    positionOf: ({ updated_at: at, id }) => ({ at, id }),
    cursorOf: ({ at, id }) => `${at.toISOString()}|${boardId}|${id ?? ''}`,
  })
  return { body: { board_id: boardId, source: 'index', cards: page.map(presentChange), ...end } }
}

/** The columns that lists of the index show. */
export const indexedColumns = (tx: Transaction, include: { identifiers?: boolean | undefined }) =>
  tx([...indexedFields, ...(include.identifiers ? ['identifiers'] : [])])

export function cardFeed(
  tx: Transaction,
  boardId: string,
  { limit, removedSince, identifiers }: Omit<CardFeedQuery, 'since' | 'cursor'>,
  { at, id }: FeedPosition,
  horizon: Date,
) {
  return tx`
    select card_id as id, ${indexedColumns(tx, { identifiers })}, hash as version, updated_at, deleted_at is not null as deleted
    from card_index
    where board_id = ${boardId} and (updated_at, card_id) > (${at}, ${id ?? ''}) and updated_at < ${horizon}
      and (deleted_at is null ${removedSince ? tx`or deleted_at >= ${removedSince}` : tx``})
    order by updated_at, card_id
    limit ${limit + 1}`
}

const presentChange = ({ deleted, ...card }: CardFeedRow) =>
  deleted ? { id: card.id, deleted: true, updated_at: card.updated_at } : card

/** Whether a cursor belongs to the feed. Cursors of the list by id have another form. */
export const isFeedCursor = (cursor: string) => parseTime(cursor.split('|')[0] ?? '') !== null

/**
 * Parses `<timestamp>|<board_id>|<card_id>`. Without a card id the position is before all cards of that time.
 *
 * @throws ServiceError `bad_request`, also for the cursor of another feed
 */
function cursorPosition(boardId: string, cursor: string): FeedPosition {
  const [time = '', board, card, ...more] = cursor.split('|')
  const at = parseTime(time)
  if (!at || board !== boardId || card === undefined || (card !== '' && !isCardId(card)) || more.length > 0)
    throw badRequest('cursor must be the next_cursor of an earlier page of this board.')
  return { at, id: card || null }
}
