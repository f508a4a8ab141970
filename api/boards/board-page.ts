/** A page of the boards that the caller may see, in an order for which each workspace has an index. */
import type { Query, Transaction } from '../../sql/database.ts'
import { selectBoard, type BoardRow } from './board.ts'

export interface BoardPage {
  /** The first sort key; the second is the id. */
  order: 'created_at' | 'updated_at'
  /** The SQL condition for a board `b`. */
  condition: Query<never[]>
  workspace?: string | undefined
  /** A board id, or `root`. */
  parent?: string | undefined
  /** Whether a parent in the trash is shown, and boards below it can be listed. */
  trashedParents: boolean
  limit: number
  offset?: number
}

/**
 * Reads each workspace along its index, with single look-ups (`offset 0` forces them). So the cost depends only on the
 * size of the page, and no plan scans the boards of all tenants.
 */
export function boardPage(tx: Transaction, page: BoardPage): Query<BoardRow[]> {
  const { workspace, parent, limit, offset = 0 } = page
  const key = tx(page.order)
  const shownParent = tx`
    left join boards p on p.id = b.parent_board_id ${page.trashedParents ? tx`` : tx`and p.deleted_at is null`}`
  const below = parent === 'root' ? tx`and p.id is null` : tx`and p.id = ${parent ?? null}`
  const listed = tx`
    select b.${key} as at, b.id
    from boards b ${parent === undefined ? tx`` : shownParent}
    where ${page.condition} ${parent === undefined ? tx`` : below}`
  return tx<BoardRow[]>`
    select shown.*
    from (
      select f.at, f.id
      from (
        select f.at, f.id
        from workspaces w
        cross join lateral (
          ${listed} and b.workspace_id = w.id
          order by b.${key}, b.id
          limit ${offset + limit}
        ) f
        ${workspace === undefined ? tx`` : tx`where w.id = ${workspace}`}
        union
        select f.at, f.id
        from readable_shared_boards(current_user_id()) as s(board_id)
        cross join lateral (
          ${listed} and b.id = s.board_id ${workspace === undefined ? tx`` : tx`and b.workspace_id = ${workspace}`}
          offset 0
        ) f
      ) f
      order by f.at, f.id
      limit ${limit} offset ${offset}
    ) page
    cross join lateral (
      select ${selectBoard(tx)} from boards b ${shownParent} where b.id = page.id offset 0
    ) shown
    order by page.at, page.id`
}
