/** Shows the difference of two texts, word by word. */
import { shortestEdit } from './shortest-edit.ts'

/** A piece of the texts. Kept and removed pieces make the first text, kept and added ones the second. */
export interface TextPiece {
  op: 'kept' | 'removed' | 'added'
  text: string
}

/** Texts that differ in more words are shown as replaced. About 5 ms. */
const maxWords = 2000
const maxSteps = 300_000

/** Longer texts are shown as replaced. Finding the words of two that have this many characters together takes up to 18 ms. */
const maxChars = 100_000

export function textDiff(before: string, after: string): TextPiece[] {
  if (before.length + after.length > maxChars) return replaced(before, after)
  const [a, b] = [wordsOf(before), wordsOf(after)]
  const numbers = new Map<string, number>()
  const numberOf = (word: string) => numbers.getOrInsertComputed(word, () => numbers.size)
  const changes = shortestEdit(a.map(numberOf), b.map(numberOf), maxWords, { left: maxSteps }) ?? [
    { start: 0, end: a.length, otherStart: 0, otherEnd: b.length },
  ]
  const pieces: TextPiece[] = []
  const add = (op: TextPiece['op'], words: string[]) => {
    if (words.length > 0) pieces.push({ op, text: words.join('') })
  }
  let at = 0
  for (const { start, end, otherStart, otherEnd } of changes) {
    add('kept', a.slice(at, start))
    add('removed', a.slice(start, end))
    add('added', b.slice(otherStart, otherEnd))
    at = end
  }
  add('kept', a.slice(at))
  return pieces
}

const replaced = (before: string, after: string): TextPiece[] =>
  [{ op: 'removed', text: before } as const, { op: 'added', text: after } as const].filter(
    ({ text }) => text !== '',
  )

/** Words and what is between them. Together they are the text. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
