import type { Point } from './box.ts'

/**
 * A skyline: the lowest occupied level at each x between two edges, as steps from left to right. Levels grow downwards,
 * as y does.
 */
export class Skyline {
  readonly #left: number
  readonly #right: number
  /** The x at which each step begins. Its level has the same index in `#levels`. */
  readonly #begins: number[]
  readonly #levels: number[]

  constructor(left: number, right: number, level: number) {
    this.#left = left
    this.#right = right
    this.#begins = [left]
    this.#levels = [level]
  }

  /**
   * Returns the highest place on the skyline for a width of `w`, the leftmost of equal ones. Undefined if `w` is too
   * wide.
   */
  highest(w: number): Point | undefined {
    let best: Point | undefined
    for (let step = 0; step < this.#begins.length; step++) {
      const x = this.#begins[step]!
      if (x + w > this.#right) break
      let y = -Infinity
      let under = step
      for (; under < this.#begins.length && this.#begins[under]! < x + w; under++) {
        y = Math.max(y, this.#levels[under]!)
        if (best && y >= best.y) break
      }
      if (!best || y < best.y) best = { x, y }
      // Step `under` is too low. A place that begins before its end would rest on it, too, so skip those places.
      else step = under
    }
    return best
  }

  /** Lowers the skyline to at least `level` between `left` and `right`. */
  reach(left: number, right: number, level: number): void {
    if (this.#isReached(left, right, level)) return
    const first = this.#stepFrom(Math.max(left, this.#left))
    const end = right < this.#right ? this.#stepFrom(right) : this.#begins.length
    for (let step = first; step < end; step++) this.#levels[step] = Math.max(this.#levels[step]!, level)
    for (let step = Math.min(end, this.#begins.length - 1); step >= Math.max(first, 1); step--) {
      if (this.#levels[step] === this.#levels[step - 1]) this.#remove(step)
    }
  }

  #isReached(left: number, right: number, level: number): boolean {
    for (let step = this.#begins.length - 1; step >= 0; step--) {
      const end = this.#begins[step + 1] ?? this.#right
      if (end <= left) return true
      if (this.#begins[step]! < right && this.#levels[step]! < level) return false
    }
    return true
  }

  /** Returns the index of the step that begins at `x`. Splits the step that crosses `x`, if there is one. */
  #stepFrom(x: number): number {
    let step = this.#begins.length
    while (this.#begins[step - 1]! >= x) step--
    if (this.#begins[step] === x) return step
    this.#begins.splice(step, 0, x)
    this.#levels.splice(step, 0, this.#levels[step - 1]!)
    return step
  }

  #remove(step: number): void {
    this.#begins.splice(step, 1)
    this.#levels.splice(step, 1)
  }
}
