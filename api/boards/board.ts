/** Reads boards from their rows, and presents them. */
import { boardColumnNames, describedEntries, type BoardValues } from '../../core/board-columns.ts'
import { noBoard, notWritable } from '../../core/board.ts'
import { hashOf, type Expects } from '../../core/version.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { hasChanged } from '../http/if-match.ts'

export interface BoardRow extends BoardValues {
  id: string
  workspace_id: string
  deleted: boolean
  created_at: Date
  updated_at: Date | null
  sched_status: string
  sched_version: number
  sched_published_at: Date | null
}

/**
 * The columns of boards that the caller may see. An invisible parent reads as null. So does a parent in the trash, for
 * its live children.
 */
export const selectBoard = (tx: Transaction, parent = tx`p.id`) => tx`
  b.id, b.name, b.workspace_id, ${parent} as parent_board_id, b.view, b.deleted_at is not null as deleted, b.created_at, b.updated_at,
  ${describedColumnsOf(tx)}, b.sched_status, b.sched_version, b.sched_published_at,
  b.props, b.identifiers`

/** Dates are read as text, without a time zone. */
const describedColumnsOf = (tx: Transaction) =>
  describedEntries
    .map(([name, { json }]) =>
      json.format === 'date' ? tx`b.${tx(name)}::text as ${tx(name)}` : tx`b.${tx(name)}`,
    )
    .reduce((list, column) => tx`${list}, ${column}`)

export const boardsWithParent = (tx: Transaction) => tx`
  boards b
  left join boards p on p.id = b.parent_board_id and (p.deleted_at is null or b.deleted_at is not null)`

/** @param include only lists leave fields out */
export function presentBoard(
  row: BoardRow,
  include = { props: true, identifiers: true },
): Record<string, unknown> {
  const { props, identifiers, ...fields } = row
  return {
    ...fields,
    version: versionOf(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at?.toISOString() ?? null,
    sched_published_at: row.sched_published_at?.toISOString() ?? null,
    ...(include.props ? { props } : {}),
    ...(include.identifiers ? { identifiers } : {}),
  }
}

/**
 * The version of a board: a hash over its row. The parent is left out, because not everybody sees it. When it changes,
 * `updated_at` does too.
 */
const versionOf = ({ parent_board_id: _parent, ...row }: BoardRow): string => hashOf(row)

/**
 * Checks the condition of a write. Call it after locking the board.
 *
 * @throws ServiceError `precondition_failed`
 */
export function requireVersion(row: BoardRow, expects: Expects | undefined): void {
  if (expects && !expects(versionOf(row))) throw hasChanged({ board: presentBoard(row) })
}

/** @throws ServiceError `not_found` when the board does not exist, or the caller may not see it */
export async function readBoard(tx: Transaction, id: string): Promise<BoardRow> {
  const [row] = await tx<BoardRow[]>`
    select ${selectBoard(tx)}
    from ${boardsWithParent(tx)}
    where b.id = ${id}`
  if (!row) throw noBoard()
  return row
}

/** The boards of these ids that the caller may see, by id. */
export async function readBoards(tx: Transaction, ids: string[]): Promise<Map<string, BoardRow>> {
  const rows = await tx<BoardRow[]>`
    select ${selectBoard(tx)}
    from ${boardsWithParent(tx)}
    where b.id = any (${ids}::uuid[])`
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Changes the columns that each entry contains.
 *
 * @throws ServiceError `forbidden` when the caller's access to one of the boards has ended
 */
export async function updateBoards(
  tx: Transaction,
  entries: (Partial<BoardValues> & { id: string })[],
): Promise<void> {
  if (entries.length === 0) return
  const names = tx(boardColumnNames)
  const written = await tx`
    update boards b
    set (${names}) = (select ${names} from json_populate_record(b, e.entry))
    from json_array_elements(${JSON.stringify(entries)}::text::json) as e(entry)
    where b.id = (e.entry ->> 'id')::uuid`
  if (written.count !== entries.length) throw notWritable()
}

/** Suppresses notifications for schedule changes of these boards in this transaction. */
export async function changeQuietly(tx: Transaction, boardIds: string[]): Promise<void> {
  await tx`select set_config('corkboard.quiet_boards', ${boardIds.join(',')}, true)`
}

/** @throws ServiceError `not_found` when the caller may not see the board */
export async function requireVisible(tx: Transaction, id: string): Promise<void> {
  requireRow(await visibleBoard(tx, id))
}

/** The same in a transaction of its own. */
export async function requireVisibleTo(database: Database, account: string, id: string): Promise<void> {
  requireRow(await database.asUser(account, (tx) => visibleBoard(tx, id)))
}

const visibleBoard = (tx: Transaction, id: string) => tx`select from boards where id = ${id}`

function requireRow(rows: readonly unknown[]): void {
  if (rows.length === 0) throw noBoard()
}
