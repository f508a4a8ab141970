/** A page of the boards that the caller may see, in an order that their workspaces have an index for. */
import type { Query, Transaction } from '../../sql/database.ts'
import { selectBoard, type BoardRow } from './board.ts'

export interface BoardPage {
  /** Then the id. */
  order: 'created_at' | 'updated_at'
  /** Of a board `b`. */
  condition: Query<never[]>
  workspace?: string | undefined
  /** A board id, or `root`. */
  parent?: string | undefined
  /** A parent in the trash is shown, and boards are listed below it. */
  trashedParents: boolean
  limit: number
  offset?: number
}

/**
 * Workspace by workspace along the index, and look-ups one by one (`offset 0` keeps them so), so that a page costs what
 * it holds: no plan may go through the boards of all tenants.
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
        from board_shares s
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
