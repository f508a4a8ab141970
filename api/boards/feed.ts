/** `GET /boards?since=`: the changes of all boards that the caller may see. */
import { badRequest } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { feedEnd, feedHorizon, parseTime, sinceOf, type FeedPosition } from '../http/feed.ts'
import { uuidPattern } from '../http/schemas.ts'
import { boardPage } from './board-page.ts'
import { presentBoard, type BoardRow } from './board.ts'

export interface BoardFeedQuery {
  since?: string
  cursor?: string
  workspace?: string
  /** A board id, or `root`. */
  parent?: string
  /** Whether to include boards in the trash. */
  trash: boolean
  include: { props: boolean; identifiers: boolean }
  limit: number
}

/** Reads the horizon and the page, in two statements of one transaction. */
export async function readBoardFeed(tx: Transaction, query: BoardFeedQuery) {
  const from = query.cursor === undefined ? sinceOf(query.since!) : cursorPosition(query.cursor)
  const horizon = await feedHorizon(tx)
  const rows = await boardFeed(tx, query, from, horizon)
  const positionOf = (row: BoardRow) => ({ at: row.updated_at!, id: row.id })
  const { page, end } = feedEnd(rows, query.limit, { from, positionOf, cursorOf })
  return { boards: page.map((row) => presentBoard(row, query.include)), ...end }
}

/**
 * The changes of boards. With `trash`, a board's parent is shown even when it is in the trash. Otherwise a follower
 * would miss that, because the child's own row does not change when its parent is trashed or restored.
 */
export const boardFeed = (
  tx: Transaction,
  { workspace, parent, trash, limit }: Pick<BoardFeedQuery, 'workspace' | 'parent' | 'trash' | 'limit'>,
  { at, id }: FeedPosition,
  horizon: Date,
) =>
  boardPage(tx, {
    order: 'updated_at',
    condition: tx`
      (b.updated_at, b.id) > (${at}, ${id ?? beforeAll}) and b.updated_at < ${horizon}
      ${trash ? tx`` : tx`and b.deleted_at is null`}`,
    workspace,
    parent,
    trashedParents: trash,
    limit: limit + 1,
  })

/** An id before all others, which no board has. */
const beforeAll = '00000000-0000-0000-0000-000000000000'

const cursorOf = ({ at, id }: FeedPosition) => `${at.toISOString()}|${id ?? beforeAll}`

/** @throws ServiceError `bad_request`, also for the cursor of another feed */
function cursorPosition(cursor: string): FeedPosition {
  const [time = '', id = '', ...more] = cursor.split('|')
  const at = parseTime(time)
  if (!at || !uuidPattern.test(id) || more.length > 0)
    throw badRequest('cursor must be the next_cursor of an earlier page of this feed.')
  return { at, id }
}
