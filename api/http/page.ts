import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'

export interface Page {
  limit: number
  offset: number
}

export const pageOf = (query: { limit?: number; offset?: number }): Page => ({
  limit: query.limit ?? limits.pageSize.default,
  offset: query.offset ?? 0,
})

/** Of rows of which one more than `limit` was read: those of the page, and what follows it. */
export const cutPage = <Row>(page: Page, rows: readonly Row[]) => ({
  shown: rows.slice(0, page.limit),
  end: pageEnd(page, rows.length),
})

/** What follows a page from whose offset on there are so many rows, or at least one more than `limit`. */
export function pageEnd(page: Page, rows: number) {
  const more = rows > page.limit
  return {
    limit: page.limit,
    offset: page.offset,
    has_more: more,
    next_offset: more ? page.offset + page.limit : null,
  }
}

/** A comma list of known words. @param what begins the message. @throws ServiceError `bad_request` that names them */
export function includeOf<Word extends string>(
  include: string | undefined,
  known: readonly Word[],
  what = 'include',
): Record<Word, boolean> {
  const words = (include ?? '').split(',').filter((word) => word !== '')
  const wrong = words.find((word) => !known.some((one) => one === word))
  if (wrong !== undefined) {
    throw new ServiceError(
      'bad_request',
      `${what} takes a comma list of ${known.join(', ')}; ${JSON.stringify(wrong)} is none of them.`,
    )
  }
  return Object.fromEntries(known.map((word) => [word, words.includes(word)])) as Record<Word, boolean>
}
