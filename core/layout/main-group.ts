import type { Box } from './box.ts'

/**
 * The side of the largest card. Boxes belong to one group if their centres are in adjacent cells of this size.
 */
const CELL_SIZE = 4_000

interface Cell {
  column: number
  row: number
  boxes: Box[]
  grouped: boolean
}

/**
 * Returns the largest group of boxes that are near each other. This is the board's main content, without cards far
 * away. If two groups have the same size, it is the one further up, then further left. Empty if there are no boxes.
 */
export function mainGroup(boxes: readonly Box[]): Box[] {
  const cells = cellsOf(boxes)
  let largest: Cell[] = []
  let largestSize = 0
  const inReadingOrder = [...cells.values()].sort((a, b) => a.row - b.row || a.column - b.column)
  for (const cell of inReadingOrder) {
    if (cell.grouped) continue
    const group = groupAround(cell, cells)
    const size = group.reduce((sum, member) => sum + member.boxes.length, 0)
    if (size > largestSize) [largest, largestSize] = [group, size]
  }
  return largest.flatMap((cell) => cell.boxes)
}

function cellsOf(boxes: readonly Box[]): Map<number, Cell> {
  const cells = new Map<number, Cell>()
  for (const box of boxes) {
    const column = Math.floor((box.left + box.right) / 2 / CELL_SIZE)
    const row = Math.floor((box.top + box.bottom) / 2 / CELL_SIZE)
    const key = keyOf(column, row)
    const cell = cells.get(key)
    if (cell) cell.boxes.push(box)
    else cells.set(key, { column, row, boxes: [box], grouped: false })
  }
  return cells
}

function groupAround(first: Cell, cells: ReadonlyMap<number, Cell>): Cell[] {
  first.grouped = true
  const group = [first]
  for (const cell of group) {
    for (let row = cell.row - 1; row <= cell.row + 1; row++) {
      for (let column = cell.column - 1; column <= cell.column + 1; column++) {
        const neighbour = cells.get(keyOf(column, row))
        if (!neighbour || neighbour.grouped) continue
        neighbour.grouped = true
        group.push(neighbour)
      }
    }
  }
  return group
}

function keyOf(column: number, row: number): number {
  return row * 2 ** 20 + column
}
