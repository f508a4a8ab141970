import { clamp } from '../card-values.ts'
import { board, type Box } from './box.ts'

/**
 * A card to place on a line. `at` and `across` are its position and size across the line, `along` its size along the
 * line.
 */
interface Wanted {
  at: number
  across: number
  along: number
  /** Position along the line at which the search begins. */
  from: number
}

/** A box in coordinates of the line: `near` and `far` across the line, `start` and `end` along the line. */
interface Taken {
  near: number
  far: number
  start: number
  end: number
}

/**
 * Finds free places on a line: downwards for a given `x`, to the right for a given `y`. Boxes are sorted along the
 * line, so a search is one pass over the boxes that begin before the place found.
 */
export class LineSearch {
  readonly #given: 'x' | 'y'
  readonly #sorted: Taken[] = []
  #seen = 0

  constructor(given: 'x' | 'y') {
    this.#given = given
  }

  /**
   * Returns the first free place at or after `from`, or else at or after the board's edge, or else `from`.
   *
   * @param boxes callers may only append to this list between calls
   */
  find(boxes: readonly Box[], wanted: Wanted): number {
    this.#sort(boxes)
    return (
      this.#findFrom(wanted, wanted.from) ??
      this.#findFrom(wanted, board.least) ??
      clamp(wanted.from, board.least, board.most - wanted.along)
    )
  }

  #findFrom({ at, across, along }: Wanted, from: number): number | undefined {
    let place = from
    for (const box of this.#sorted) {
      if (box.start >= place + along) break
      if (box.end > place && box.near < at + across && box.far > at) place = box.end
    }
    return place + along <= board.most ? place : undefined
  }

  #sort(boxes: readonly Box[]): void {
    const added = boxes.slice(this.#seen).map((box) => this.#lie(box))
    this.#seen = boxes.length
    // The first call adds all boxes of the board, later calls add few.
    if (added.length > 8) {
      for (const box of added) this.#sorted.push(box)
      this.#sorted.sort((a, b) => a.start - b.start)
    } else for (const box of added) this.#sorted.splice(this.#positionOf(box.start), 0, box)
  }

  #positionOf(start: number): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]!.start < start) low = middle + 1
      else high = middle
    }
    return low
  }

  #lie({ left, right, top, bottom }: Box): Taken {
    return this.#given === 'x'
      ? { near: left, far: right, start: top, end: bottom }
      : { near: top, far: bottom, start: left, end: right }
  }
}
