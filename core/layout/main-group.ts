import type { Box } from './box.ts'

/**
 * The side of the largest card. Boxes belong to one group if their centres are in adjacent cells of this size.
 */
const CELL_SIZE = 4_000

/**
 * Returns the largest group of boxes that are near each other. This is the board's main content, without cards far
 * away. If two groups have the same size, it is the one further up, then further left. Empty if there are no boxes.
 */
export function mainGroup(boxes: readonly Box[]): Box[] {
  const cells = Map.groupBy(boxes, ({ left, right, top, bottom }) =>
    keyOf(Math.floor((left + right) / 2 / CELL_SIZE), Math.floor((top + bottom) / 2 / CELL_SIZE)),
  )
  const remaining = new Set([...cells.keys()].sort((a, b) => a - b))
  let largest: Box[] = []
  for (const cell of remaining) {
    const group = takeGroup(cell, remaining).flatMap((key) => cells.get(key)!)
    if (group.length > largest.length) largest = group
  }
  return largest
}

/** Removes a cell and all that it touches, directly or by others. Returns their keys. */
function takeGroup(first: number, remaining: Set<number>): number[] {
  remaining.delete(first)
  const group = [first]
  for (const cell of group) {
    for (let row = -1; row <= 1; row++) {
      for (let column = -1; column <= 1; column++) {
        const neighbour = cell + keyOf(column, row)
        if (remaining.delete(neighbour)) group.push(neighbour)
      }
    }
  }
  return group
}

/** Keys ascend in reading order. A neighbour's key differs by the key of its offset. */
function keyOf(column: number, row: number): number {
  return row * 2 ** 20 + column
}
