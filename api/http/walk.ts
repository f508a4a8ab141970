/** Lists that a client reads backwards, newest entry first, or follows with `since` as a feed of new entries. */
import { badRequest } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { feedEnd, feedHorizon, parseTime, since, sinceOf, type FeedPosition } from './feed.ts'
import { cursor, pageQuery } from './schemas.ts'

/** A position in such a list, and the direction: `after` follows new entries, `before` reads backwards. */
export interface Walk extends FeedPosition {
  id: string
  direction: 'after' | 'before'
}

/** The properties of a list that its cursors depend on. */
export interface WalkedList {
  /** For messages: `an earlier page of <name>`. */
  name: string
  /** Whether this is the id of an entry in a cursor. */
  isId(id: string): boolean
  /** Stands for the position before all entries of a time. */
  firstId: string
}

export const walkQuery = { since, cursor, limit: pageQuery.limit }

/**
 * The start of the page; null: the newest entry.
 *
 * @throws ServiceError `bad_request`, also for the cursor of another list
 */
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
    throw badRequest(`cursor must be next_cursor of an earlier page of ${list.name}.`)
  return { at, id, direction }
}

/** The feed's horizon for the next statement (see `feedHorizon`). Null when reading backwards. */
export const walkHorizon = async (tx: Transaction, walk: Walk | null): Promise<Date | null> =>
  walk?.direction === 'after' ? feedHorizon(tx) : null

/** The page and its end, from rows read with one row more than `limit`. Only reading backwards has a last page. */
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
