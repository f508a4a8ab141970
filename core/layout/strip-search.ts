import type { Box } from './box.ts'
import type { Columns } from './columns.ts'
import { Strip } from './strip.ts'

/** All strips of one width, in the order in which they are searched, each made when it is needed. */
export class StripSearch {
  readonly #unsearched: (() => Strip)[]
  readonly #strips: Strip[] = []
  /** Sizes that no strip has a place for. Nor has it for larger ones, as space only gets less. */
  readonly #tooLarge: { w: number; h: number }[] = []

  /**
   * The first strip begins at `start`, as near as the edges of the board allow. Each strip downwards is
   * followed by the one upwards above it, and these pairs lie side by side, further out in turns to the right
   * and to the left.
   */
  constructor(
    start: { x: number; y: number },
    stripWidth: number,
    gap: number,
    edges: { least: number; most: number },
    content: Columns,
  ) {
    const { least, most } = edges
    const top = Math.max(least, Math.min(start.y, most))
    const above = Math.max(least, Math.min(start.y - gap, most))
    const lefts = leftEdges(start.x, stripWidth, stripWidth + gap, edges)
    this.#unsearched = lefts.toReversed().flatMap((left) => {
      const right = left + stripWidth
      return [
        () => new Strip(left, right, above, least, content.between(left, right)),
        () => new Strip(left, right, top, most, content.between(left, right)),
      ]
    })
  }

  /** Takes notice of a box that came after the search was made. */
  add(box: Box): void {
    for (const strip of this.#strips) strip.add(box)
  }

  /** The first free place for the top left corner of a card of this size; undefined if there is none. */
  find(w: number, h: number): { x: number; y: number } | undefined {
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

function leftEdges(x: number, width: number, step: number, edges: { least: number; most: number }): number[] {
  const least = edges.least
  const most = Math.max(least, edges.most - width)
  let left = Math.max(least, Math.min(x, most))
  let right = left
  const lefts = [left]
  while (right < most || left > least) {
    if (right < most) lefts.push((right = Math.min(right + step, most)))
    if (left > least) lefts.push((left = Math.max(left - step, least)))
  }
  return lefts
}
