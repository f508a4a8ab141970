/** Finds cards that a restore leaves as they are: they were moved between boards, or their past was expunged. */
import type { Database } from '../../sql/database.ts'

/**
 * Returns the cards that left the board by a move, or came by one.
 *
 * @param gone cards that are not on the board any more. For 30 days their tombstones tell why. After that they are looked
 * for on the other boards of the workspace.
 * @param come cards that are on the board
 */
export async function readMoved(
  database: Database,
  boardId: string,
  { gone, come }: { gone: string[]; come: string[] },
): Promise<Set<string>> {
  if (gone.length + come.length === 0) return new Set()
  const rows = await database.asSystem(
    (tx) => tx<{ id: string }[]>`
      select v.id
      from unnest(${gone}::text[]) as v(id)
      left join card_index c on c.board_id = ${boardId} and c.card_id = v.id
      where case when c.card_id is null
        then exists (
          select
          from boards o
          join card_index e on e.board_id = o.id and e.card_id = v.id
          where o.workspace_id = (select b.workspace_id from boards b where b.id = ${boardId})
            and o.id <> ${boardId} and e.deleted_at is null and e.moved_from is not null
        )
        else c.deleted_at is not null and c.cause = 'move'
      end
      union all
      select c.card_id
      from card_index c
      where c.board_id = ${boardId} and c.card_id = any (${come}) and c.moved_from is not null`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Returns those of the cards whose past at a position was expunged. */
export async function readExpunged(
  database: Database,
  boardId: string,
  position: number,
  ids: string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await database.asSystem(
    (tx) => tx<{ id: string }[]>`
      select e.id from expunged_since(${boardId}, ${position}) as e(id) where e.id = any (${ids})`,
  )
  return new Set(rows.map(({ id }) => id))
}
