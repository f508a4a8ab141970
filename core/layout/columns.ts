import type { Box } from './box.ts'

const COLUMN_WIDTH = 8_192

/** Indexes boxes by the columns of the canvas that they touch, so that a strip need not scan the whole board. */
export class Columns {
  readonly #first: number
  readonly #columns: Box[][]

  /** Covers the canvas from `left` to `right`. */
  constructor(left: number, right: number) {
    this.#first = Math.floor(left / COLUMN_WIDTH)
    this.#columns = Array.from({ length: Math.floor(right / COLUMN_WIDTH) - this.#first + 1 }, () => [])
  }

  add(box: Box): void {
    const last = this.#indexOf(box.right)
    for (let index = this.#indexOf(box.left); index <= last; index++) this.#columns[index]?.push(box)
  }

  /** Returns the boxes that are at least partly between two edges. */
  between(left: number, right: number): Box[] {
    const first = this.#indexOf(left)
    return this.#columns
      .slice(first, this.#indexOf(right) + 1)
      .flatMap((column, offset) =>
        column.filter(
          (box) =>
            box.left < right &&
            box.right > left &&
            first + offset === Math.max(first, this.#indexOf(box.left)),
        ),
      )
  }

  #indexOf(x: number): number {
    const index = Math.floor(x / COLUMN_WIDTH) - this.#first
    return Math.max(0, Math.min(index, this.#columns.length - 1))
  }
}
