/** Finds the place of an arrangement on the board. */
import { board, boxAround, withinBoard, type Box, type Point, type Rect } from './box.ts'
import { FreeSpace } from './free-space.ts'

const side = board.most - board.least

export const fitsBoard = ({ left, top, right, bottom }: Box) => right - left <= side && bottom - top <= side

/**
 * Returns a place for a block where it overlaps no rectangle of `rest`: `at` if that is free, or else a place in free
 * space. For rotated cards `rest` has their bounding boxes.
 *
 * @returns null when the board has no free place of that size
 */
export function besides(rest: readonly Rect[], extent: Box, at: Point, gap: number): Point | null {
  const here = withinBoard(extent, at)
  if (isFree(rest, extent, here, gap)) return here
  const space = new FreeSpace(gap)
  for (const rect of rest) space.occupy(rect)
  const there = inFreeSpace(space, extent)
  return isFree(rest, extent, there, gap) ? there : null
}

/** Occupies a place for a block in free space. */
export function inFreeSpace(space: FreeSpace, extent: Box): Point {
  const corner = space.place({ w: extent.right - extent.left, h: extent.bottom - extent.top })
  return { x: corner.x - extent.left + 0, y: corner.y - extent.top + 0 }
}

function isFree(rest: readonly Rect[], extent: Box, at: Point, gap: number): boolean {
  const [left, right] = [extent.left + at.x, extent.right + at.x]
  const [top, bottom] = [extent.top + at.y, extent.bottom + at.y]
  return rest.every((rect) => {
    const box = boxAround(rect, gap)
    return box.right <= left || box.left >= right || box.bottom <= top || box.top >= bottom
  })
}
