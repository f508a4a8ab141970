/**
 * Change feeds: sorted by (updated_at, id), continued with a cursor that contains both. A client that follows the pages
 * gets every change, despite concurrent writes; see sql/functions/feed.sql.
 */
import Type from 'typebox'
import { text } from './vocabulary.ts'
import { badRequest } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'

/** The last row that a client has seen. A null `id`: the position before all rows of that time. */
export interface FeedPosition {
  at: Date
  id: string | null
}

export const since = Type.Optional(
  text(
    'Starts a change feed: lists changes at or after this time, oldest first. RFC 3339, such as `2026-01-31T09:00:00Z`.',
    { format: 'date-time' },
  ),
)

/** @throws ServiceError `bad_request` */
export function sinceOf(given: string): FeedPosition {
  const at = parseTime(given)
  if (!at) throw badRequest('since must be an RFC 3339 time such as 2026-01-31T09:00:00.000Z.')
  return { at, id: null }
}

const timePattern = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** With an offset a time can be in the year 10000, which RFC 3339 cannot write and PostgreSQL does not read. */
const lastTime = Date.UTC(10_000, 0) - 1

/** Parses an RFC 3339 time. Null when it is invalid. Times before 1970 become 1970, those after 9999 its end. */
export function parseTime(text: string): Date | null {
  const milliseconds = timePattern.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(milliseconds) ? null : new Date(Math.min(Math.max(0, milliseconds), lastTime))
}

/** The horizon for a feed: the next statement must read only rows with `updated_at < horizon`. */
export async function feedHorizon(tx: Transaction): Promise<Date> {
  const [row] = await tx<{ horizon: Date }[]>`select feed_horizon() as horizon`
  return row!.horizon
}

/** The page and its end, from rows read with one row more than `limit`. A feed always has a `next_cursor`. */
export function feedEnd<Row>(
  rows: Row[],
  limit: number,
  walk: {
    from: FeedPosition
    positionOf(row: Row): FeedPosition
    cursorOf(position: FeedPosition): string
  },
): { page: Row[]; end: { limit: number; has_more: boolean; next_cursor: string } } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const next_cursor = walk.cursorOf(last === undefined ? walk.from : walk.positionOf(last))
  return { page, end: { limit, has_more: rows.length > limit, next_cursor } }
}
