/** Times of cards in the past. */
import type { Database } from '../../sql/database.ts'
import type { CardTimes } from '../../core/card.ts'

/**
 * When cards were created and last changed, as of a time in milliseconds. The index knows the last change only. So
 * `updated_at` is null for a card that changed later.
 */
export async function pastTimes(
  database: Database,
  boardId: string,
  ids: string[],
  at: number | null,
): Promise<Map<string, CardTimes>> {
  if (ids.length === 0) return new Map()
  const rows = await database.asSystem(
    (tx) => tx<{ card_id: string; created_at: Date; updated_at: Date }[]>`
      select card_id, created_at, updated_at
      from card_index
      where board_id = ${boardId} and card_id = any (${ids})`,
  )
  return new Map(
    rows.map(({ card_id, created_at, updated_at }) => [
      card_id,
      {
        created_at: created_at.toISOString(),
        updated_at: at !== null && updated_at.getTime() <= at ? updated_at.toISOString() : null,
      },
    ]),
  )
}
