import { defaultWidth } from './arrangement.ts'
import { board, boundingBox, boxAround, clip, union, withinBoard } from './box.ts'
import type { Box, Point, Rect, Size } from './box.ts'
import { Columns } from './columns.ts'
import { LineSearch } from './line-search.ts'
import { mainGroup } from './main-group.ts'
import { StripSearch } from './strip-search.ts'

/** Rows are doubled in width until they have room for this many cards of the requested width. */
const LEAST_CARDS_IN_ROW = 4

/**
 * Finds free space on a board for cards without a position. First call `occupy` for all existing cards, in any order.
 * Then call `place`.
 *
 * Cards are placed in rows that are 1,780 units wide, or wider for large cards. The rows begin at the left edge of the
 * largest group of cards, at the height of its topmost card there, and continue downwards. After the end of the board
 * they continue above the first row, and then to the right and left of these rows. The first call of `place` fixes
 * where the rows begin.
 */
export class FreeSpace {
  readonly #gap: number
  readonly #boxes: Box[] = []
  /** Where the rows begin, and an index of the boxes. */
  #rows: { start: Point; content: Columns } | undefined
  readonly #lines = { x: new LineSearch('x'), y: new LineSearch('y') }
  /** Searches by the width of their rows. */
  readonly #searches = new Map<number, StripSearch>()
  readonly #searchedAgain = new Set<number>()

  /** @param gap smallest distance between a placed card and any other card, in whole canvas units */
  constructor(gap = 20) {
    this.#gap = gap
  }

  /**
   * Marks a rectangle as occupied. For a rotated card, pass its bounding box. Rectangles may overlap each other and the
   * board's edges. A rectangle outside the board, or with NaN, is ignored.
   */
  occupy(rect: Rect): void {
    const box = clip(boxAround(rect, this.#gap), board.least - this.#gap, board.most + this.#gap)
    if (box) this.#take(box)
  }

  /**
   * Occupies the first free place for a card, in reading order. Returns the position of its top left corner in whole
   * numbers. The card is within the board and keeps the gap to all others. For a rotated card (`rotation` in degrees)
   * this is true both rotated and upright, because its position is that of the upright card. Sizes must be finite.
   *
   * If the board has no free place, the card is placed where the rows begin, on top of others. This takes tens of
   * thousands of the largest cards all over the board.
   *
   * If only `x` or only `y` is given, the card is placed on that line: at the first free place after the point where
   * the rows begin, or else after the board's edge.
   */
  place(card: Size & { rotation?: number; x?: number | undefined; y?: number | undefined }): Point {
    const upright = { x: 0, y: 0, w: card.w, h: card.h }
    const rotated = boundingBox({ ...upright, rotation: card.rotation ?? 0 })
    const outline = union(boxAround(upright, 0), boxAround(rotated, 0))
    const w = outline.right - outline.left
    const h = outline.bottom - outline.top
    this.#rows ??= { start: startOfRows(this.#boxes, this.#gap), content: columnsOf(this.#boxes) }
    const { start, content } = this.#rows
    const { x, y } =
      this.#onLine(card, outline, start) ??
      this.#search(start, content, w, h) ??
      this.#searchAgain(start, content, w, h) ??
      withinBoard({ left: 0, top: 0, right: w, bottom: h }, start)
    this.#take(boxAround({ x, y, w, h }, this.#gap))
    return { x: x - outline.left, y: y - outline.top }
  }

  /** Returns the corner of a card's outline when one coordinate is given. Null when none or both are given. */
  #onLine(
    card: { x?: number | undefined; y?: number | undefined },
    outline: Box,
    start: Point,
  ): Point | null {
    if ((card.x === undefined) === (card.y === undefined)) return null
    const [w, h] = [outline.right - outline.left, outline.bottom - outline.top]
    if (card.x !== undefined) {
      const x = card.x + outline.left
      return { x, y: this.#lines.x.find(this.#boxes, { at: x, across: w, along: h, from: start.y }) }
    }
    const y = card.y! + outline.top
    return { x: this.#lines.y.find(this.#boxes, { at: y, across: h, along: w, from: start.x }), y }
  }

  #take(box: Box): void {
    this.#boxes.push(box)
    this.#rows?.content.add(box)
    for (const search of this.#searches.values()) search.add(box)
  }

  #search(start: Point, content: Columns, w: number, h: number) {
    const rowWidth = rowWidthFor(w, this.#gap)
    const search = () => new StripSearch(start, rowWidth, this.#gap, content)
    return this.#searches.getOrInsertComputed(rowWidth, search).find(w, h)
  }

  /**
   * Searches again from the start when the board seems full, because the first search skips holes that were too small
   * for an earlier card. It does so once for each power of two in size, which limits the time.
   */
  #searchAgain(start: Point, content: Columns, w: number, h: number) {
    const magnitude = Math.ceil(Math.log2(Math.max(w, h)))
    if (this.#searchedAgain.has(magnitude)) return undefined
    this.#searchedAgain.add(magnitude)
    this.#searches.delete(rowWidthFor(w, this.#gap))
    return this.#search(start, content, w, h)
  }
}

function rowWidthFor(w: number, gap: number): number {
  const least = LEAST_CARDS_IN_ROW * (w + gap)
  const most = board.most - board.least
  let rowWidth = defaultWidth
  while (rowWidth < least && rowWidth < most) rowWidth *= 2
  return Math.min(rowWidth, most)
}

function startOfRows(boxes: readonly Box[], gap: number): Point {
  if (boxes.length === 0) return { x: 0, y: 0 }
  const group = mainGroup(boxes)
  const left = group.reduce((least, box) => Math.min(least, box.left), Infinity)
  const atLeft = group.filter((box) => box.left < left + defaultWidth)
  const top = atLeft.reduce((least, box) => Math.min(least, box.top), Infinity)
  return { x: left + gap, y: top + gap }
}

function columnsOf(boxes: readonly Box[]): Columns {
  const columns = new Columns()
  for (const box of boxes) columns.add(box)
  return columns
}
