import { boundingBox, boxAround, clip, union } from './box.ts'
import type { Box, Rect } from './box.ts'
import { Columns } from './columns.ts'
import { LineSearch } from './line-search.ts'
import { mainGroup } from './main-group.ts'
import { StripSearch } from './strip-search.ts'

export { boundingBox }
export type { Rect }

/** The board, on both axes. */
const EDGES = { least: -1_000_000, most: 1_000_000 }

/** Six cards of the default width and the gaps between them. */
const ROW_WIDTH = 6 * 280 + 5 * 20

/** Rows are doubled in width until this many cards of the width that is asked for fit. */
const LEAST_CARDS_IN_ROW = 4

/**
 * The free space of one board, for cards that come without a position. Tell it all that lies there with
 * `occupy`, then ask for places. The order in which it was told makes no difference to the answers.
 *
 * Cards go in rows, 1,780 units wide, wider for large cards. The rows begin at the left edge of the largest
 * group of cards, level with the highest that lies there, and go on downwards; where the board ends, they go
 * on above the first row, and then to the right and left of all these. Where they begin is settled when the
 * first place is asked for.
 */
export class FreeSpace {
  readonly #gap: number
  readonly #boxes: Box[] = []
  #start: { x: number; y: number } | undefined
  #content: Columns | undefined
  readonly #lines = { x: new LineSearch('x'), y: new LineSearch('y') }
  /** By the width of the rows. */
  readonly #searches = new Map<number, StripSearch>()
  readonly #searchedAgain = new Set<number>()

  /** `gap`: the least distance between a placed card and any other, in whole canvas units. */
  constructor(gap = 20) {
    this.#gap = gap
  }

  /**
   * Marks a rectangle as taken, for a rotated card its bounding box. Rectangles may overlap and stick out of
   * the board; one that lies outside, or has numbers that are none, takes up nothing.
   */
  occupy(rect: Rect): void {
    const box = clip(boxAround(rect, this.#gap), EDGES.least - this.#gap, EDGES.most + this.#gap)
    if (box) this.#take(box)
  }

  /**
   * Takes the first free place in reading order for a card, and returns the position of its top left corner
   * in whole numbers. The card lies within the board and keeps the gap to all others; a rotated one
   * (`rotation` in degrees) both as it lies and turned upright, as its position is that of the upright card.
   *
   * Only if there is no such place, which takes tens of thousands of the largest cards spread all over the
   * board, the card lies where the rows begin, on top of others. Sizes must be finite.
   *
   * With one of `x` and `y` the card goes there: to the first free place on that line from where the rows begin, else
   * from the board's edge.
   */
  place(card: { w: number; h: number; rotation?: number; x?: number | undefined; y?: number | undefined }): {
    x: number
    y: number
  } {
    const upright = { x: 0, y: 0, w: card.w, h: card.h }
    const rotated = boundingBox({ ...upright, rotation: card.rotation ?? 0 })
    const outline = union(boxAround(upright, 0), boxAround(rotated, 0))
    const w = outline.right - outline.left
    const h = outline.bottom - outline.top
    this.#start ??= startOfRows(this.#boxes, this.#gap)
    this.#content ??= columnsOf(this.#boxes)
    const line = this.#onLine(card, outline)
    if (line) {
      this.#take(boxAround({ ...line, w, h }, this.#gap))
      return { x: line.x - outline.left, y: line.y - outline.top }
    }
    const { x, y } =
      this.#search(this.#start, this.#content, w, h) ??
      this.#searchAgain(this.#start, this.#content, w, h) ??
      withinBoard(this.#start, w, h)

    this.#take(boxAround({ x, y, w, h }, this.#gap))
    return { x: x - outline.left, y: y - outline.top }
  }

  /** The corner of a card's outline, of which one coordinate is given. Null when neither is, or both are. */
  #onLine(
    card: { x?: number | undefined; y?: number | undefined },
    outline: Box,
  ): { x: number; y: number } | null {
    if ((card.x === undefined) === (card.y === undefined)) return null
    const [w, h] = [outline.right - outline.left, outline.bottom - outline.top]
    if (card.x !== undefined) {
      const x = card.x + outline.left
      return { x, y: this.#lines.x.find(this.#boxes, { at: x, across: w, along: h, from: this.#start!.y }) }
    }
    const y = card.y! + outline.top
    return { x: this.#lines.y.find(this.#boxes, { at: y, across: h, along: w, from: this.#start!.x }), y }
  }

  #take(box: Box): void {
    this.#boxes.push(box)
    this.#content?.add(box)
    for (const search of this.#searches.values()) search.add(box)
  }

  #search(start: { x: number; y: number }, content: Columns, w: number, h: number) {
    const rowWidth = rowWidthFor(w, this.#gap)
    let search = this.#searches.get(rowWidth)
    if (!search) {
      search = new StripSearch(start, rowWidth, this.#gap, EDGES, content)
      this.#searches.set(rowWidth, search)
    }
    return search.find(w, h)
  }

  /**
   * The search passes over holes that were too small for an earlier card. A board that seems full is
   * therefore searched anew from the start: once for each power of two in size, which bounds the time.
   */
  #searchAgain(start: { x: number; y: number }, content: Columns, w: number, h: number) {
    const magnitude = Math.ceil(Math.log2(Math.max(w, h)))
    if (this.#searchedAgain.has(magnitude)) return undefined
    this.#searchedAgain.add(magnitude)
    this.#searches.delete(rowWidthFor(w, this.#gap))
    return this.#search(start, content, w, h)
  }
}

function rowWidthFor(w: number, gap: number): number {
  const least = LEAST_CARDS_IN_ROW * (w + gap)
  const most = EDGES.most - EDGES.least
  let rowWidth = ROW_WIDTH
  while (rowWidth < least && rowWidth < most) rowWidth *= 2
  return Math.min(rowWidth, most)
}

function startOfRows(boxes: readonly Box[], gap: number): { x: number; y: number } {
  if (boxes.length === 0) return { x: 0, y: 0 }
  const group = mainGroup(boxes)
  const left = group.reduce((least, box) => Math.min(least, box.left), Infinity)
  const atLeft = group.filter((box) => box.left < left + ROW_WIDTH)
  const top = atLeft.reduce((least, box) => Math.min(least, box.top), Infinity)
  return { x: left + gap, y: top + gap }
}

function columnsOf(boxes: readonly Box[]): Columns {
  const columns = new Columns(EDGES.least, EDGES.most)
  for (const box of boxes) columns.add(box)
  return columns
}

function withinBoard(position: { x: number; y: number }, w: number, h: number): { x: number; y: number } {
  return {
    x: Math.max(EDGES.least, Math.min(position.x, EDGES.most - w)),
    y: Math.max(EDGES.least, Math.min(position.y, EDGES.most - h)),
  }
}
