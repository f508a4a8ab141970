/** The rows of a tree of boards: those below an opened board, parents before their children. */
import type { ListedBoard } from '../service/boards.ts'

export interface Row {
  board: ListedBoard
  /** 1 at the top. */
  level: number
  /** The place among its siblings, from 1. */
  place: number
  siblings: number
  /** Null: there is no board below it. */
  isOpen: boolean | null
}

export function rowsOf(boards: readonly ListedBoard[], opened: ReadonlySet<string>): Row[] {
  const below = Map.groupBy(boards, ({ parent_board_id: parent }) => parent)
  const rowsBelow = (parent: string | null, level: number): Row[] =>
    (below.get(parent) ?? []).flatMap((board, at, { length }) => {
      const isOpen = below.has(board.id) ? opened.has(board.id) : null
      const row = { board, level, place: at + 1, siblings: length, isOpen }
      return isOpen ? [row, ...rowsBelow(board.id, level + 1)] : [row]
    })
  return rowsBelow(null, 1)
}

/** The ids of the boards above this one. */
export function aboveOf(boards: readonly ListedBoard[], id: string): string[] {
  const parent = boards.find((board) => board.id === id)?.parent_board_id
  return parent ? [parent, ...aboveOf(boards, parent)] : []
}

/** Whether a board can be moved below another, or to the top level: that is another place, and makes no circle. */
export function canMove(boards: readonly ListedBoard[], id: string, parent: string | null): boolean {
  const board = boards.find((one) => one.id === id)
  if (!board || board.parent_board_id === parent || id === parent) return false
  return parent === null || !aboveOf(boards, parent).includes(id)
}

/** The row that a key leads to. Null: the key has another meaning. */
export function rowAfter(rows: Row[], at: number, key: string): Row | null {
  const { level, isOpen } = rows[at]!
  switch (key) {
    case 'ArrowDown':
      return rows[at + 1] ?? null
    case 'ArrowUp':
      return rows[at - 1] ?? null
    case 'Home':
      return rows[0]!
    case 'End':
      return rows.at(-1)!
    case 'ArrowRight':
      return isOpen === true ? rows[at + 1]! : null
    case 'ArrowLeft':
      return isOpen === true ? null : (rows.slice(0, at).findLast((row) => row.level < level) ?? null)
    default:
      return key.length === 1 && key !== ' ' ? named(rows, at, key.toLowerCase()) : null
  }
}

/** The next row whose name begins with this letter. */
const named = (rows: Row[], at: number, letter: string) =>
  [...rows.slice(at + 1), ...rows.slice(0, at)].find(({ board }) =>
    board.name.toLowerCase().startsWith(letter),
  ) ?? null
