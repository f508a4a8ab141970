import { clamp } from '../card-values.ts'
import { board, type Box } from './box.ts'

const COLUMN_WIDTH = 8_192
const FIRST = Math.floor(board.least / COLUMN_WIDTH)
const LAST = Math.floor(board.most / COLUMN_WIDTH)

/** Indexes boxes by the columns of the canvas that they touch, so that a strip need not scan the whole board. */
export class Columns {
  readonly #columns = Array.from({ length: LAST - FIRST + 1 }, (): Box[] => [])

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
    return clamp(Math.floor(x / COLUMN_WIDTH), FIRST, LAST) - FIRST
  }
}
