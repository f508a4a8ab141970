import { shortestEdit, type Change, type Effort } from './shortest-edit.ts'

/**
 * One edit of a text: removes `remove` characters at `index` and inserts `insert` there. Offsets are in UTF-16 units,
 * as in JavaScript strings and in Y.Text, and relate to the text before any of the edits. A list of edits is in
 * ascending order, and its edits do not touch. In well-formed texts no edit splits a surrogate pair.
 */
export interface TextEdit {
  index: number
  remove: number
  insert: string
}

/**
 * Most tokens that a difference may remove and insert. The time of the search grows with the square of this number; at
 * this limit it is 30 ms. Without a limit, two different texts of 20,000 characters would take seconds.
 */
const EDITS_AT_MOST = 2_000

/**
 * Returns the edits that turn `from` into `to`, with the fewest code points removed and inserted. If these are more
 * than 2,000, it compares whole words instead. If that is not enough either, or the effort is used up, it returns one
 * edit from the first to the last character that differs.
 */
export function diffText(from: string, to: string, effort: Effort = { left: Infinity }): TextEdit[] {
  if (from === to) return []
  const range = changedRange(from, to)
  const { index, remove, insert } = range
  effort.left -= (from.length + to.length) / CHARACTERS_PER_STEP + remove + insert.length
  if (effort.left < 0 || remove === 0 || insert === '') return [range]
  const removed = from.slice(index, index + remove)
  for (const split of [splitCodePoints, wordSplitter()]) {
    const [a, b] = [split(removed), split(insert)]
    const changes = shortestEdit(a.tokens, b.tokens, EDITS_AT_MOST, effort)
    if (changes) return editsOf(changes, a, b, range)
    effort.left -= (remove + insert.length) * STEPS_PER_WORD_CHARACTER
    if (effort.left < 0) break
  }
  return [range]
}

/** Number of characters that can be compared in the time of one step of a search. */
const CHARACTERS_PER_STEP = 8
/** Splitting into words takes this many steps of a search for each character. */
const STEPS_PER_WORD_CHARACTER = 8

/** Returns one edit from the first to the last character that differs. It splits no surrogate pair. */
function changedRange(from: string, to: string): TextEdit {
  const shorter = Math.min(from.length, to.length)
  let start = 0
  while (start < shorter && from.charCodeAt(start) === to.charCodeAt(start)) start++
  if (splitsPair(from, start) || splitsPair(to, start)) start--
  let kept = 0
  while (
    kept < shorter - start &&
    from.charCodeAt(from.length - 1 - kept) === to.charCodeAt(to.length - 1 - kept)
  )
    kept++
  if (splitsPair(from, from.length - kept) || splitsPair(to, to.length - kept)) kept--
  return { index: start, remove: from.length - kept - start, insert: to.slice(start, to.length - kept) }
}

function splitsPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at))
}
const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000

export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = ''
  let done = 0
  for (const edit of edits) {
    result += text.slice(done, edit.index) + edit.insert
    done = edit.index + edit.remove
  }
  return result + text.slice(done)
}

/**
 * Three-way merge. Returns edits of `current` that make the changes from `base` to `wanted` and keep the changes from
 * `base` to `current`:
 *
 * - If both inserted text at one place, both texts are kept, that of `current` first.
 * - Text that either side removed is removed.
 * - Text that `current` inserted into a range that `wanted` removed is kept.
 * - A change that both made is made once.
 *
 * If the effort is used up, the changes of each side count as one range, and the text of `current` there is kept.
 */
export function mergeText(
  base: string,
  current: string,
  wanted: string,
  effort: Effort = { left: Infinity },
): TextEdit[] {
  const theirs = diffText(base, current, effort)
  let ours = diffText(base, wanted, effort)
  effort.left -= theirs.length * ours.length
  if (effort.left < 0 && ours.length > 1) ours = [changedRange(base, wanted)]
  const merged: TextEdit[] = []
  for (const edit of ours) {
    if (!theirs.some((their) => isSame(their, edit)))
      rebase(edit, theirs).forEach((part) => append(merged, part))
  }
  return merged
}

function rebase(edit: TextEdit, theirs: readonly TextEdit[]): TextEdit[] {
  const end = edit.index + edit.remove
  const parts: TextEdit[] = [{ index: moved(edit.index, theirs), remove: 0, insert: edit.insert }]
  let start = edit.index
  for (const their of theirs) {
    const theirEnd = their.index + their.remove
    if (their.index >= end) break
    if (their.index > start)
      parts.push({ index: moved(start, theirs), remove: their.index - start, insert: '' })
    start = Math.max(start, theirEnd)
  }
  if (start < end) parts.push({ index: moved(start, theirs), remove: end - start, insert: '' })
  return parts
}

/** Converts an offset in the base into an offset after `theirs`. It is after text that they inserted at the offset. */
function moved(offset: number, theirs: readonly TextEdit[]): number {
  let result = offset
  for (const their of theirs) {
    if (their.index > offset) break
    result += their.insert.length - (Math.min(offset, their.index + their.remove) - their.index)
  }
  return result
}

function append(edits: TextEdit[], edit: TextEdit): void {
  const last = edits.at(-1)
  if (last && last.index + last.remove === edit.index) {
    last.remove += edit.remove
    last.insert += edit.insert
  } else if (edit.remove > 0 || edit.insert !== '') {
    edits.push({ ...edit })
  }
}

function isSame(a: TextEdit, b: TextEdit): boolean {
  return a.index === b.index && a.remove === b.remove && a.insert === b.insert
}

/** The tokens of a text, and the offset of each token. A last offset is the end of the text. */
interface Split {
  tokens: ArrayLike<number>
  offsets: ArrayLike<number>
}

function splitCodePoints(text: string): Split {
  const tokens = new Uint32Array(text.length)
  const offsets = new Uint32Array(text.length + 1)
  let count = 0
  for (let at = 0; at < text.length; count++) {
    const codePoint = text.codePointAt(at)!
    tokens[count] = codePoint
    offsets[count] = at
    at += codePoint > 0xffff ? 2 : 1
  }
  offsets[count] = text.length
  return { tokens: tokens.subarray(0, count), offsets }
}

/** Returns a function that splits texts into words. Each code point outside words is a token. */
function wordSplitter(): (text: string) => Split {
  const ids = new Map<string, number>()
  return (text) => {
    const tokens: number[] = []
    const offsets = [0]
    let end = 0
    for (const word of text.match(/[\p{L}\p{M}\p{N}]+|[^]/gu) ?? []) {
      tokens.push(ids.getOrInsert(word, ids.size))
      offsets.push((end += word.length))
    }
    return { tokens, offsets }
  }
}

/** Converts changes of the tokens in a range into edits of the whole text. */
function editsOf(
  changes: readonly Change[],
  { offsets: a }: Split,
  { offsets: b }: Split,
  { index, insert }: TextEdit,
): TextEdit[] {
  return changes.map(({ start, end, otherStart, otherEnd }) => ({
    index: index + a[start]!,
    remove: a[end]! - a[start]!,
    insert: insert.slice(b[otherStart], b[otherEnd]),
  }))
}
