/** Edits of texts by positions in UTF-16, as text fields and Yjs count them. */

export interface TextEdit {
  start: number
  deleted: number
  inserted: string
}

/** A change of a `Y.Text`, as its events tell it. */
export type Delta = readonly { retain?: number; insert?: unknown; delete?: number }[]

const isLow = (text: string, at: number) => at < text.length && (text.charCodeAt(at) & 0xfc00) === 0xdc00

/**
 * The smallest edit that makes `after` of `before`. Where more than one would, `caret` decides: what was typed ends there.
 *
 * @param caret in `after`; undefined: nobody has typed it
 * @returns null when nothing has changed. An edit never parts a surrogate pair
 */
export function editBetween(before: string, after: string, caret?: number): TextEdit | null {
  if (before === after) return null
  const isTyped = caret !== undefined && before.endsWith(after.slice(caret))
  let tail = Math.min(isTyped ? after.length - caret : sameEnd(before, after), before.length)
  let start = 0
  const room = Math.min(before.length, after.length) - tail
  while (start < room && before[start] === after[start]) start += 1
  if (start > 0 && (isLow(before, start) || isLow(after, start))) start -= 1
  if (tail > 0 && (isLow(before, before.length - tail) || isLow(after, after.length - tail))) tail -= 1
  return {
    start,
    deleted: before.length - tail - start,
    inserted: after.slice(start, after.length - tail),
  }
}

function sameEnd(a: string, b: string): number {
  const room = Math.min(a.length, b.length)
  let same = 0
  while (same < room && a[a.length - 1 - same] === b[b.length - 1 - same]) same += 1
  return same
}

/** Where a position is after a change. What is inserted right at a caret goes behind it, so no two people mix words. */
export function moveIndex(index: number, delta: Delta): number {
  let at = 0
  let moved = index
  for (const { retain = 0, insert, delete: deleted = 0 } of delta) {
    const length = typeof insert === 'string' ? insert.length : insert === undefined ? 0 : 1
    if (length > 0 && at < moved) moved += length
    if (deleted > 0 && at < moved) moved -= Math.min(deleted, moved - at)
    at += retain + length
  }
  return moved
}

/**
 * The position in a text of a position in a text field that shows it. A field shows `\r\n` as `\n`, and an `<input>` shows
 * no line ends at all.
 */
export function indexInText(text: string, shown: string, index: number): number {
  if (text === shown) return index
  let at = 0
  for (let n = 0; n < index; n++) {
    while (at < text.length && !isShownAs(text, at, shown[n]!)) at += 1
    at += 1
  }
  return at
}

/** The inverse of `indexInText`. */
export function indexInField(text: string, shown: string, index: number): number {
  if (text === shown) return index
  let at = 0
  let n = 0
  while (n < shown.length) {
    while (at < text.length && !isShownAs(text, at, shown[n]!)) at += 1
    if (at >= index) break
    at += 1
    n += 1
  }
  return n
}

const isShownAs = (text: string, at: number, shown: string) =>
  text[at] === shown || (shown === '\n' && text[at] === '\r' && text[at + 1] !== '\n')
