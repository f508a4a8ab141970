/** Places cards that are moved from another board. */
import { boundingBox, boxAround, union, type Box, type Point, type Rect, type Rotated } from './box.ts'
import { FreeSpace } from './free-space.ts'
import { besides, fitsBoard } from './place-block.ts'

/** Distance to other cards, when the moved cards can't keep their places. */
const gap = 20

/**
 * Returns the places of moved cards. They keep their places if no card overlaps the `rest`. Otherwise they are placed
 * in free space as one block, which keeps their relative positions. If there is no free place for the block, they are
 * placed one by one, in the given order.
 */
export function placeMoved({ cards, rest }: Record<'cards' | 'rest', readonly Rotated[]>): Point[] {
  const others = rest.map(boundingBox)
  const boxes = cards.map((card) => boxAround(boundingBox(card), 0))
  if (!touches(boxes, others)) return cards.map(({ x, y }) => ({ x, y }))
  const extent = boxes.reduce(union)
  const offset = fitsBoard(extent) ? besides(others, extent, { x: 0, y: 0 }, gap) : null
  if (offset) return cards.map(({ x, y }) => ({ x: x + offset.x, y: y + offset.y }))
  const space = new FreeSpace(gap)
  for (const rect of others) space.occupy(rect)
  return cards.map((card) => space.place(card))
}

/** Side of the square cells of the spatial index. */
const cellSize = 1024

function touches(boxes: readonly Box[], rects: readonly Rect[]): boolean {
  const byCell = new Map<string, Box[]>()
  for (const box of boxes) for (const cell of cellsOf(box)) byCell.getOrInsert(cell, []).push(box)
  return rects.some((rect) => {
    const box = boxAround(rect, 0)
    for (const cell of cellsOf(box)) if (byCell.get(cell)?.some((other) => overlap(box, other))) return true
    return false
  })
}

function* cellsOf({ left, top, right, bottom }: Box): Generator<string> {
  for (let column = Math.floor(left / cellSize); column * cellSize < right; column++)
    for (let row = Math.floor(top / cellSize); row * cellSize < bottom; row++) yield `${column} ${row}`
}

const overlap = (a: Box, b: Box) =>
  a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top
