/** Follows the change feeds of boards and cards. */
import { expect } from 'vitest'
import { until } from '../support/editor.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { succeeded, type Shown } from './board.ts'

export const everything = 'since=1970-01-01T00:00:00Z'
export const cardFeed = (boardId: string) => `/boards/${boardId}/cards?source=index`
export const cursorOf = (cursor: string) => `cursor=${encodeURIComponent(cursor)}`

/** Follows a feed until it has no more, and gives what came with the cursor to go on from. */
export async function follow(
  who: TestUser,
  path: string,
  start: string,
  limit = 3,
): Promise<{ found: Shown[]; cursor: string }> {
  const found: Shown[] = []
  let query = start
  for (;;) {
    const body: any = succeeded(
      await who.api.get(`${path}${path.includes('?') ? '&' : '?'}${query}&limit=${limit}`),
    )
    const page: Shown[] = body.boards ?? body.cards ?? body.notifications
    expect(page.length).toBeLessThanOrEqual(limit)
    expect(body).toMatchObject({ limit, next_cursor: expect.any(String) })
    expect(body).not.toHaveProperty('offset')
    found.push(...page)
    query = cursorOf(body.next_cursor)
    if (!body.has_more) return { found, cursor: body.next_cursor }
  }
}

export const ids = (rows: Shown[]) => rows.map(({ id }) => id)
/** Whatever was written is in the feed as soon as its millisecond is over and its transaction has ended. */
export const settled = (service: TestService) =>
  until(async () => {
    const [row] = await service.admin`select feed_horizon() > (select max(updated_at) from boards) and
    feed_horizon() > coalesce((select max(updated_at) from card_index), '-infinity') as all`
    return row!['all'] === true
  }, 'all changes are in the feeds')
