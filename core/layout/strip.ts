import type { Box, Point } from './box.ts'
import { Skyline } from './skyline.ts'

/**
 * A vertical strip of the board. Cards fill it from a starting line downwards (direction 1) or upwards (-1).
 *
 * The skyline covers boxes from the starting line on. The highest place on the skyline is free when the skyline covers
 * all boxes that begin above the card's far edge. Each box is covered once, however many cards are placed, so the total
 * cost is linear in the boxes of the strip. The drawback: a hole that was too small for one card is not used for a
 * later card.
 *
 * Inside this class every strip is filled downwards. An upward strip is mirrored at y = 0.
 */
export class Strip {
  readonly #left: number
  readonly #right: number
  readonly #from: number
  readonly #to: number
  readonly #direction: 1 | -1
  readonly #skyline: Skyline
  /** Boxes that the skyline does not cover yet, the highest last. */
  readonly #pending: Box[]

  /** Cards are placed between `left` and `right`, from the line `from` to the line `to`. */
  constructor(left: number, right: number, from: number, to: number, boxes: readonly Box[]) {
    this.#left = left
    this.#right = right
    this.#direction = from <= to ? 1 : -1
    this.#from = from * this.#direction
    this.#to = to * this.#direction
    this.#skyline = new Skyline(left, right, this.#from)
    this.#pending = highestLast(
      boxes.filter((box) => this.#holds(box)).map((box) => this.#inside(box)),
      this.#from,
    )
  }

  add(box: Box): void {
    if (!this.#holds(box)) return
    const added = this.#inside(box)
    let index = 0
    for (let end = this.#pending.length; index < end;) {
      const middle = Math.floor((index + end) / 2)
      if (this.#pending[middle]!.top > added.top) index = middle + 1
      else end = middle
    }
    this.#pending.splice(index, 0, added)
  }

  /** Finds the first place in the strip at which a card of this size fits. Returns its top left corner, or undefined. */
  find(w: number, h: number): Point | undefined {
    for (;;) {
      const place = this.#skyline.highest(w)
      if (!place || place.y + h > this.#to) return undefined
      if (!this.#sinkTo(place.y + h)) return { x: place.x, y: this.#direction === 1 ? place.y : -place.y - h }
    }
  }

  /** Extends the skyline over the boxes that begin above `y`. Returns false if there were none. */
  #sinkTo(y: number): boolean {
    const before = this.#pending.length
    for (let box = this.#pending.at(-1); box && box.top < y; box = this.#pending.at(-1)) {
      this.#pending.pop()
      this.#skyline.reach(box.left, box.right, box.bottom)
    }
    return this.#pending.length < before
  }

  #holds(box: Box): boolean {
    const { top, bottom } = this.#inside(box)
    return box.left < this.#right && box.right > this.#left && bottom > this.#from && top < this.#to
  }

  #inside(box: Box): Box {
    return this.#direction === 1 ? box : { ...box, top: -box.bottom, bottom: -box.top }
  }
}

/**
 * Sorts boxes, the highest last. Top and index are packed into one number, because sorting numbers takes a tenth of the
 * time of comparing boxes. Tops above `from` count as equal.
 */
function highestLast(boxes: readonly Box[], from: number): Box[] {
  const count = boxes.length
  const keys = Float64Array.from(boxes, (box, index) => index - Math.max(box.top, from) * count).sort()
  return Array.from(keys, (key) => boxes[((key % count) + count) % count]!)
}
