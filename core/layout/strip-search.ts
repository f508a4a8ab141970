import { clamp } from '../card-values.ts'
import { board, type Box, type Point, type Size } from './box.ts'
import type { Columns } from './columns.ts'
import { Strip } from './strip.ts'

/** Searches all strips of one width, in order. A strip is created when the search reaches it. */
export class StripSearch {
  readonly #unsearched: (() => Strip)[]
  readonly #strips: Strip[] = []
  /** Sizes for which no strip has a place. Larger sizes have no place either, because free space only shrinks. */
  readonly #tooLarge: Size[] = []

  /**
   * The first strip begins at `start`, or as near as the board's edges allow. After each downward strip comes the
   * upward strip above it. Further pairs follow side by side, alternately to the right and to the left.
   */
  constructor(start: Point, stripWidth: number, gap: number, content: Columns) {
    const { least, most } = board
    const top = clamp(start.y, least, most)
    const above = clamp(start.y - gap, least, most)
    const lefts = leftEdges(start.x, stripWidth, stripWidth + gap)
    this.#unsearched = lefts.toReversed().flatMap((left) => {
      const right = left + stripWidth
      return [
        () => new Strip(left, right, above, least, content.between(left, right)),
        () => new Strip(left, right, top, most, content.between(left, right)),
      ]
    })
  }

  add(box: Box): void {
    for (const strip of this.#strips) strip.add(box)
  }

  /** Finds the first place at which a card of this size fits. Returns its top left corner, or undefined if it fits nowhere. */
  find(w: number, h: number): Point | undefined {
    if (this.#tooLarge.some((size) => size.w <= w && size.h <= h)) return undefined
    for (const strip of this.#inOrder()) {
      const place = strip.find(w, h)
      if (place) return place
    }
    this.#tooLarge.push({ w, h })
    return undefined
  }

  *#inOrder(): Generator<Strip> {
    yield* this.#strips
    for (let make = this.#unsearched.pop(); make; make = this.#unsearched.pop()) {
      const strip = make()
      this.#strips.push(strip)
      yield strip
    }
  }
}

function leftEdges(x: number, width: number, step: number): number[] {
  const { least } = board
  const most = Math.max(least, board.most - width)
  let left = clamp(x, least, most)
  let right = left
  const lefts = [left]
  while (right < most || left > least) {
    if (right < most) lefts.push((right = Math.min(right + step, most)))
    if (left > least) lefts.push((left = Math.max(left - step, least)))
  }
  return lefts
}
