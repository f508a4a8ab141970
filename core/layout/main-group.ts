import type { Box } from './box.ts'

/**
 * The side of the largest card. Boxes whose centres lie in touching cells of this size belong to one group.
 */
const CELL_SIZE = 4_000

interface Cell {
  column: number
  row: number
  boxes: Box[]
  grouped: boolean
}

/**
 * The largest group of boxes that lie near each other: where the board's content is, whatever somebody lost
 * far out. Of groups of the same size it is the higher one, then the one further left. Empty if there are no
 * boxes.
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
