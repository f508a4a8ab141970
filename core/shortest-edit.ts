/**
 * A run of tokens of the first list that a run of the second one replaces; either may be empty. Ends are
 * exclusive.
 */
export interface Change {
  start: number
  end: number
  otherStart: number
  otherEnd: number
}

/** Tokens as numbers, equal for equal tokens. */
export type Tokens = ArrayLike<number>

/** What searches may still cost, in steps of about 15 ns. Searches that share it end when it is below zero. */
export interface Effort {
  left: number
}

/**
 * The fewest tokens removed and inserted that turn `a` into `b`, in ascending order; undefined if a search
 * finds that they are more than `limit`, or the effort is used up. Takes time by the square of their number, and
 * memory by the length of the lists.
 *
 * Myers, An O(ND) Difference Algorithm and Its Variations (1986), section 4b: searches from both ends meet at
 * a point of a shortest path, and what lies before and after it is solved alike.
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
 * Where the searches from both ends of a range meet. Each keeps, for every diagonal (x - y), how far it has
 * come after as many edits as the round says; what lies outside the range on either side is dead, and never
 * met.
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
