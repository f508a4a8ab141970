/**
 * Change feeds: ascending by (updated_at, id), continued by a cursor that carries both. The pages of a walk that is
 * followed for ever hold every change, whoever writes at the same time; see sql/functions/feed.sql.
 */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { timestamp } from './schemas.ts'

/** The last row of a page. Before all rows of its time when `id` is null. */
export interface FeedPosition {
  at: Date
  id: string | null
}

export const since = Type.Optional(
  Type.String({
    ...timestamp,
    description:
      'Start a change feed: list what changed at or after this time, oldest change first. RFC 3339, such as `2026-01-31T09:00:00Z`.',
  }),
)

/** @throws ServiceError `bad_request` */
export function sinceOf(given: string): FeedPosition {
  const at = parseTime(given)
  if (!at) throw new ServiceError('bad_request', 'since must be a time such as 2026-01-31T09:00:00.000Z.')
  return { at, id: null }
}

const timePattern = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Null for what is no time. Nothing is older than the epoch. */
export function parseTime(text: string): Date | null {
  const milliseconds = timePattern.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(milliseconds) ? null : new Date(Math.max(0, milliseconds))
}

/** Up to where a statement that comes after this one may read: `updated_at < horizon`. */
export async function feedHorizon(tx: Transaction): Promise<Date> {
  const [row] = await tx<{ horizon: Date }[]>`select feed_horizon() as horizon`
  return row!.horizon
}

/** What follows a page of which one row more than `limit` was read: there is always something to go on from. */
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
