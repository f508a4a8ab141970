import { shortestEdit } from './shortest-edit.ts'
import type { Change, Effort } from './shortest-edit.ts'

/**
 * One change of a text: at `index`, `remove` characters go and `insert` comes. Offsets are in UTF-16 units,
 * as in JavaScript strings and in Y.Text, and relate to the text before any of the edits. In a list, edits
 * are in ascending order and do not touch. None splits a surrogate pair, given that the texts are well
 * formed.
 */
export interface TextEdit {
  index: number
  remove: number
  insert: string
}

/**
 * Beyond this many tokens removed and inserted a difference is no longer searched for, as the search takes
 * time by the square of it: 30 ms here. Without a limit, two different texts of 20,000 characters would take
 * seconds.
 */
const EDITS_AT_MOST = 2_000

/** Enough for any two texts within the limits. */
export const anyEffort = (): Effort => ({ left: Infinity })

/**
 * The edits that turn `from` into `to`: as few code points removed and inserted as can be. If these are more
 * than 2,000, whole words are compared instead of code points; if that is not enough, or the effort is used up, all
 * between the first and the last character that differ is replaced.
 */
export function diffText(from: string, to: string, effort: Effort = anyEffort()): TextEdit[] {
  if (from === to) return []
  const range = changedRange(from, to)
  const { index, remove, insert } = range
  effort.left -= (from.length + to.length) / CHARACTERS_PER_STEP + remove + insert.length
  if (effort.left < 0 || remove === 0 || insert === '') return [range]
  const removed = from.slice(index, index + remove)
  for (const split of [codePointsOf, wordsOf]) {
    const { a, b } = split(removed, insert)
    const changes = shortestEdit(a.tokens, b.tokens, EDITS_AT_MOST, effort)
    if (changes) return editsOf(changes, a, b, range)
    effort.left -= (remove + insert.length) * STEPS_PER_WORD_CHARACTER
    if (effort.left < 0) break
  }
  return [range]
}

/** Characters that are compared in the time of one step of a search. */
const CHARACTERS_PER_STEP = 8
/** Splitting into words takes this many steps of a search for each character. */
const STEPS_PER_WORD_CHARACTER = 8

/** All between the first and the last character that differ, as one edit. It splits no surrogate pair. */
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

/** The text after all of the edits. */
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
 * The edits that bring into `current` what changed from `base` to `wanted`, so that what changed from `base`
 * to `current` stays as well. Where both inserted at one place, both texts stay, that of `current` first.
 * What both removed is gone. What `current` has inserted into a range that `wanted` removed stays. A change
 * that both made alike is made once. When the effort is used up, the changes of each side are taken as one range: all
 * that `current` has there stays.
 */
export function mergeText(
  base: string,
  current: string,
  wanted: string,
  effort: Effort = anyEffort(),
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

/** An edit of the base as edits of the text that `theirs` have made of it. */
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

/** Where an offset in the base lies once `theirs` are made; after what they inserted right there. */
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

/** A text as tokens, and where each begins; one offset more for the end. */
interface Split {
  tokens: ArrayLike<number>
  offsets: ArrayLike<number>
}

function codePointsOf(from: string, to: string): { a: Split; b: Split } {
  return { a: splitCodePoints(from), b: splitCodePoints(to) }
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

/** Words as a whole, all else code point by code point. */
function wordsOf(from: string, to: string): { a: Split; b: Split } {
  const ids = new Map<string, number>()
  const split = (text: string): Split => {
    const tokens: number[] = []
    const offsets = [0]
    let end = 0
    for (const word of text.match(/[\p{L}\p{M}\p{N}]+|[^]/gu) ?? []) {
      const id = ids.get(word) ?? ids.size
      ids.set(word, id)
      tokens.push(id)
      offsets.push((end += word.length))
    }
    return { tokens, offsets }
  }
  return { a: split(from), b: split(to) }
}

/** Changes of the tokens of a range as edits of the whole text. */
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
