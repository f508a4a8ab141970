/** Lists that are read back in time, the newest entry first, or followed with `since` as they grow. */
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { feedEnd, feedHorizon, parseTime, since, sinceOf, type FeedPosition } from './feed.ts'
import { cursor, pageQuery } from './schemas.ts'

/** Where a walk stands, and which of the two it is: `after` follows what comes, `before` goes back in time. */
export interface Walk extends FeedPosition {
  id: string
  direction: 'after' | 'before'
}

/** What is walked. */
export interface WalkedList {
  /** In words, after `an earlier page of`. */
  name: string
  /** Whether this is the id of an entry, as its cursors have it. */
  isId(id: string): boolean
  /** In the place of an id: before all of that time. */
  firstId: string
}

export const walkQuery = { since, cursor, limit: pageQuery.limit }

/** Null: from the newest on. @throws ServiceError `bad_request`, also for the cursor of another list */
export function walkOf(query: { since?: string; cursor?: string }, list: WalkedList): Walk | null {
  if (query.cursor === undefined) {
    if (query.since === undefined) return null
    return { at: sinceOf(query.since).at, id: list.firstId, direction: 'after' }
  }
  const [direction, time = '', ...rest] = query.cursor.split('|')
  const at = parseTime(time)
  const id = rest.join('|')
  const isWalk = direction === 'after' || (direction === 'before' && query.since === undefined)
  const isPlace = list.isId(id) || (id === list.firstId && direction === 'after')
  if (!isWalk || !at || !isPlace)
    throw new ServiceError(
      'bad_request',
      `cursor must be the next_cursor of an earlier page of ${list.name}.`,
    )
  return { at, id, direction }
}

/** Up to where a walk that follows may read, for the statement after this one; null for one that goes back. */
export const walkHorizon = async (tx: Transaction, walk: Walk | null): Promise<Date | null> =>
  walk?.direction === 'after' ? feedHorizon(tx) : null

/** What follows a page of which one row more than `limit` was read. The past has an end, the future has none. */
export function walkEnd<Row>(
  rows: Row[],
  limit: number,
  walk: Walk | null,
  positionOf: (row: Row) => FeedPosition,
): { page: Row[]; end: { limit: number; has_more: boolean; next_cursor: string | null } } {
  const direction = walk?.direction ?? 'before'
  const { page, end } = feedEnd(rows, limit, {
    from: walk ?? { at: new Date(0), id: '' },
    positionOf,
    cursorOf: ({ at, id }) => `${direction}|${at.toISOString()}|${id ?? ''}`,
  })
  const isOver = direction === 'before' && !end.has_more
  return { page, end: { ...end, next_cursor: isOver ? null : end.next_cursor } }
}
