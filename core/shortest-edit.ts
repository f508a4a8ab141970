/**
 * Replaces a run of tokens of the first list by a run of the second list. Either run may be empty. Ends are exclusive.
 */
export interface Change {
  start: number
  end: number
  otherStart: number
  otherEnd: number
}

/** A list of tokens. Equal tokens have equal numbers. */
export type Tokens = ArrayLike<number>

/**
 * The remaining budget of searches, in steps of about 15 ns. Searches that share a budget end when it is below zero.
 */
export interface Effort {
  left: number
}

/**
 * Returns the changes that turn `a` into `b` with the fewest tokens removed and inserted, in ascending order. Undefined
 * if more than `limit` tokens change, or if the effort is used up. The time grows with the square of the number of
 * changed tokens, and the memory with the length of the lists.
 *
 * The algorithm is from Myers, An O(ND) Difference Algorithm and Its Variations (1986), section 4b. Searches from both
 * ends meet at a point of a shortest path. The ranges before and after that point are then solved in the same way.
 */
export function shortestEdit(a: Tokens, b: Tokens, limit: number, effort: Effort): Change[] | undefined {
  const found: Change[] = []
  return collect({ start: 0, end: a.length, otherStart: 0, otherEnd: b.length }) ? found : undefined

  function collect(range: Change): boolean {
    const { start, end, otherStart, otherEnd } = trim(a, b, range)
    if (start === end || otherStart === otherEnd) {
      if (start < end || otherStart < otherEnd) append({ start, end, otherStart, otherEnd })
      return true
    }
    const middle = meetingPoint(a, b, { start, end, otherStart, otherEnd }, limit, effort)
    if (!middle) return false
    return (
      collect({ start, end: middle.x, otherStart, otherEnd: middle.y }) &&
      collect({ start: middle.x, end, otherStart: middle.y, otherEnd })
    )
  }

  function append(change: Change): void {
    const last = found.at(-1)
    if (last?.end === change.start && last.otherEnd === change.otherStart) {
      last.end = change.end
      last.otherEnd = change.otherEnd
    } else found.push(change)
  }
}

function trim(a: Tokens, b: Tokens, range: Change): Change {
  let { start, end, otherStart, otherEnd } = range
  while (start < end && otherStart < otherEnd && a[start] === b[otherStart]) {
    start++
    otherStart++
  }
  while (start < end && otherStart < otherEnd && a[end - 1] === b[otherEnd - 1]) {
    end--
    otherEnd--
  }
  return { start, end, otherStart, otherEnd }
}

/**
 * Returns the point at which the searches from both ends of a range meet. In round n each search stores, for every
 * diagonal (x - y), the farthest point that it reaches with n edits. Points outside the range are ignored.
 */
function meetingPoint(
  a: Tokens,
  b: Tokens,
  { start, end, otherStart, otherEnd }: Change,
  limit: number,
  effort: Effort,
): { x: number; y: number } | undefined {
  const width = end - start
  const height = otherEnd - otherStart
  const delta = width - height
  const rounds = Math.ceil(Math.min(width + height, limit) / 2)
  const ahead = new Int32Array(2 * rounds + 3)
  const back = new Int32Array(2 * rounds + 3)
  const zero = rounds + 1

  for (let round = 0; round <= rounds; round++) {
    effort.left -= 2 * round + 2
    if (effort.left < 0) return undefined
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      let x = stepOn(ahead, diagonal, round)
      let y = x - diagonal
      while (x < width && y < height && a[start + x] === b[otherStart + y]) {
        x++
        y++
        effort.left -= 1
      }
      ahead[zero + diagonal] = x
      const opposite = delta - diagonal
      if (delta % 2 === 0 || x > width || y > height || Math.abs(opposite) >= round) continue
      if (x + back[zero + opposite]! >= width) return { x: start + x, y: otherStart + y }
    }
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      let x = stepOn(back, diagonal, round)
      let y = x - diagonal
      while (x < width && y < height && a[end - 1 - x] === b[otherEnd - 1 - y]) {
        x++
        y++
        effort.left -= 1
      }
      back[zero + diagonal] = x
      const opposite = delta - diagonal
      if (delta % 2 !== 0 || x > width || y > height || Math.abs(opposite) > round) continue
      if (x + ahead[zero + opposite]! >= width) return { x: end - x, y: otherEnd - y }
    }
  }
  return undefined

  function stepOn(reached: Int32Array, diagonal: number, round: number): number {
    if (round === 0) return 0
    const below = diagonal > -round ? reached[zero + diagonal - 1]! + 1 : 0
    const above = diagonal < round ? reached[zero + diagonal + 1]! : 0
    return Math.max(below, above)
  }
}
