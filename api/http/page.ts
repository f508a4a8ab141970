import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'

export interface Page {
  limit: number
  offset: number
}

export const pageOf = (query: { limit?: number; offset?: number }): Page => ({
  limit: query.limit ?? limits.pageSize.default,
  offset: query.offset ?? 0,
})

/** The page and its end, from rows read with one row more than `limit`. */
export const cutPage = <Row>(page: Page, rows: readonly Row[]) => ({
  shown: rows.slice(0, page.limit),
  end: pageEnd(page, rows.length),
})

/** The same for a list that is continued by the cursor of its last row. */
export function cutAfter<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string) {
  const shown = rows.slice(0, limit)
  const more = rows.length > limit
  return { shown, end: { limit, has_more: more, next_cursor: more ? cursorOf(shown.at(-1)!) : null } }
}

/** @param rows the number of rows from the page's offset on. `limit + 1` stands for any greater number */
export function pageEnd(page: Page, rows: number) {
  const more = rows > page.limit
  return {
    limit: page.limit,
    offset: page.offset,
    has_more: more,
    next_offset: more ? page.offset + page.limit : null,
  }
}

/**
 * Parses a list of words separated by commas.
 *
 * @param what the parameter's name, for the message
 * @throws ServiceError `bad_request` for an unknown word
 */
export function includeOf<Word extends string>(
  include: string | undefined,
  known: readonly Word[],
  what = 'include',
): Record<Word, boolean> {
  const words = (include ?? '').split(',').filter((word) => word !== '')
  const wrong = words.find((word) => !known.some((one) => one === word))
  if (wrong !== undefined) {
    throw badRequest(
      `${what} must be a list of ${known.join(', ')}, separated by commas. ${JSON.stringify(wrong)} is not accepted.`,
    )
  }
  return Object.fromEntries(known.map((word) => [word, words.includes(word)])) as Record<Word, boolean>
}
