/**
 * The table of a board's columns that clients may write. Reading requests, creating, updating and showing boards, and
 * the schemas of answers and tools follow from it.
 *
 * A new column is one entry, and a migration. The migration adds the column to `boards`, and lets `corkboard_app`
 * insert and update it.
 */
import { distinctIdentifiers, type Identifier } from './card-values.ts'
import type { JsonType } from './field-types.ts'
import { limits } from './limits.ts'

interface ColumnType<Value, Given> {
  /** The value of a new board that is created without it. */
  unset: Value
  /** Converts a request's value to the stored one. */
  accept(given: Given): Value
}

/** Describes a column: `says` in answers, `asks` in requests, `tells` in tools. Null clears it. */
interface Description {
  json: JsonType
  says: string
  asks: string
  tells: string
}

const same = <Value>(value: Value): Value => value

const name: ColumnType<string, string> = { unset: '', accept: same }
const parent: ColumnType<string | null, string | null> = {
  unset: null,
  accept: (id) => id?.toLowerCase() ?? null,
}
const view: ColumnType<'canvas' | 'list', unknown> = {
  unset: 'canvas',
  accept: (given) => (given === 'list' ? 'list' : 'canvas'),
}
const props: ColumnType<object | null, object | null> = { unset: null, accept: same }
const identifiers: ColumnType<Identifier[], Identifier[] | null> = {
  unset: [],
  accept: (given) => distinctIdentifiers(given ?? []),
}

const described = (description: Description): ColumnType<string | null, string | null> & Description => ({
  unset: null,
  accept: same,
  ...description,
})
const date: JsonType = { type: 'string', format: 'date' }

/** Columns that have the same description wherever they are written. */
export const describedColumns = {
  scheduled_date: described({
    json: date,
    says: 'The day that it is scheduled for, `YYYY-MM-DD`.',
    asks: 'The day that the board is scheduled for. `YYYY-MM-DD`. Null clears it.',
    tells: 'Day as YYYY-MM-DD; empty for none.',
  }),
  scheduled_end: described({
    json: date,
    says: 'The last scheduled day, if there are several.',
    asks: 'The last day, if there are several. Needs a `scheduled_date`. `YYYY-MM-DD`. Null clears it.',
    tells: 'Last day of several, as YYYY-MM-DD.',
  }),
  day_label: described({
    json: { type: 'string', maxLength: limits.dayLabel },
    says: 'The name of the scheduled day, such as `Day 3`.',
    asks: 'The name of the scheduled day, such as `Day 3`. Null clears it.',
    tells: 'Name of the scheduled day.',
  }),
}

export const boardColumns = { name, parent_board_id: parent, view, ...describedColumns, props, identifiers }

// ---- what follows from the table

type Table = typeof boardColumns
export type BoardColumn = keyof Table
export type BoardValues = { [Name in BoardColumn]: Table[Name]['unset'] }
export type BoardInput = { [Name in BoardColumn]?: Parameters<Table[Name]['accept']>[0] }

export const boardColumnNames = Object.keys(boardColumns) as BoardColumn[]
export const describedEntries = Object.entries(describedColumns) as [
  keyof typeof describedColumns,
  Description,
][]

export const newBoard = Object.fromEntries(
  Object.entries(boardColumns).map(([name, { unset }]) => [name, unset]),
) as BoardValues

/** Returns the stored values of the columns in a request. */
export function acceptColumns(given: BoardInput): Partial<BoardValues> {
  const columns: Partial<Record<BoardColumn, unknown>> = {}
  for (const name of boardColumnNames) {
    const column: ColumnType<unknown, never> = boardColumns[name]
    if (given[name] !== undefined) columns[name] = column.accept(given[name] as never)
  }
  return columns as Partial<BoardValues>
}
