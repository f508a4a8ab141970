import { changedRange, shortestEdit } from './shortest-edit.ts'
import type { Change } from './shortest-edit.ts'

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

/**
 * The edits that turn `from` into `to`: as few code points removed and inserted as can be. If these are more
 * than 2,000, whole words are compared instead of code points; if that is not enough, all between the first
 * and the last word that differ is replaced.
 */
export function diffText(from: string, to: string): TextEdit[] {
  const codePoints = tokensOf(from, to, splitCodePoints)
  const fewest = shortestEdit(codePoints.a, codePoints.b, EDITS_AT_MOST)
  if (fewest) return editsOf(fewest, codePoints, to)
  const words = tokensOf(from, to, splitWords)
  const changes = shortestEdit(words.a, words.b, EDITS_AT_MOST) ?? [changedRange(words.a, words.b)]
  return editsOf(changes, words, to)
}

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
 * that both made alike is made once.
 */
export function mergeText(base: string, current: string, wanted: string): TextEdit[] {
  const theirs = diffText(base, current)
  const merged: TextEdit[] = []
  for (const edit of diffText(base, wanted)) {
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

/**
 * Two texts as lists of numbers, equal for equal tokens, and where each token begins; one offset more for the
 * end.
 */
interface Tokens {
  a: number[]
  b: number[]
  aOffsets: number[]
  bOffsets: number[]
}

function tokensOf(from: string, to: string, split: (text: string) => string[]): Tokens {
  const ids = new Map<string, number>()
  const idOf = (token: string) => {
    const id = ids.get(token) ?? ids.size
    ids.set(token, id)
    return id
  }
  const a = split(from)
  const b = split(to)
  return { a: a.map(idOf), b: b.map(idOf), aOffsets: offsetsOf(a), bOffsets: offsetsOf(b) }
}

function editsOf(changes: readonly Change[], { aOffsets, bOffsets }: Tokens, to: string): TextEdit[] {
  return changes.map(({ start, end, otherStart, otherEnd }) => ({
    index: aOffsets[start]!,
    remove: aOffsets[end]! - aOffsets[start]!,
    insert: to.slice(bOffsets[otherStart], bOffsets[otherEnd]),
  }))
}

function splitCodePoints(text: string): string[] {
  return Array.from(text)
}

/** Words as a whole, all else code point by code point. */
function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+|[^]/gu) ?? []
}

function offsetsOf(tokens: readonly string[]): number[] {
  let offset = 0
  return [0, ...tokens.map((token) => (offset += token.length))]
}
