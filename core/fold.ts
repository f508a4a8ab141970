/**
 * Folds text for the search. Two texts match when their folded texts are equal. The index contains folded texts, and
 * queries are folded before the search. The rules are:
 *
 * - Compatibility forms are unified (NFKC): `ﬁ` becomes `fi`, `Ａ` becomes `a`, `①` becomes `1`.
 * - Case is removed with full case folding, for all languages alike: `ß` becomes `ss`, `İ` and `ı` become `i`, `ς`
 *   becomes `σ`.
 * - Accents are removed: those of Latin, Greek and Cyrillic letters (`é`, `ё`), the points of Hebrew and the vowel
 *   signs of Arabic. Marks that make another letter are kept: the dakuten of Japanese, the vowels of Devanagari and
 *   Thai.
 * - Letters with a stroke and ligatures become the letters that people type for them: `ø` becomes `o`, `æ` becomes
 *   `ae`, `ł` becomes `l`.
 * - Invisible characters are removed (soft hyphens, joiners, variation selectors). White space becomes one space.
 * - A run of more than 30 combining marks, not counting accents, is removed. No script has such runs.
 *
 * The cost is linear in the length of the text. A text at the limits takes up to 15 ms.
 */
const accents =
  '\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f'
const leftOut = new RegExp(`[${accents}]|\\p{Default_Ignorable_Code_Point}`, 'gu')
const letters: Record<string, string> = Object.fromEntries(
  'æ ae, œ oe, ø o, đ d, ð d, ł l, ħ h, ŧ t, þ th, ŋ n, ĸ k, ς σ'.split(', ').map((pair) => pair.split(' ')),
)
const others = new RegExp(`[${Object.keys(letters).join('')}]`, 'gu')
const onlyAscii = /^[\0-\x7f]*$/

/**
 * Normalizing sorts each run of combining marks in quadratic time, for example 20,000 marks in 185 ms. So U+034F is
 * inserted after 30 marks, as in Unicode's Stream-Safe Text Format (UAX #15, section 13).
 */
const combining = combiningMarks()
// The halfwidth marks of Japanese are letters, but normalizing turns them into combining marks.
const longestRun = new RegExp(`[${combining}\\uff9e\\uff9f]{30}`, 'gu')
const tooLongRun = new RegExp(`[${combining}]{31,}`, 'gu')
const normalize = (text: string) =>
  text.replace(longestRun, '$&\u034f').normalize('NFKD').replace(leftOut, '')

/**
 * Returns the marks that normalizing reorders, for a character class. Regular expressions can't test combining classes.
 */
function combiningMarks(): string {
  const moves = (mark: string, other: string) =>
    (other + mark).normalize('NFD') !== other + mark.normalize('NFD') ||
    (mark + other).normalize('NFD') !== mark.normalize('NFD') + other
  let all = ''
  for (let code = 0x300; code < 0x20000; code += 1) all += String.fromCodePoint(code)
  // Each mark is tested next to marks of the lowest and of the highest combining class.
  return all
    .match(/\p{M}/gu)!
    .filter((mark) => moves(mark, '\u0334') || moves(mark, '\u0345'))
    .join('')
}

export function fold(text: string): string {
  return foldLetters(text).replace(/\s+/gu, ' ').trim()
}

function foldLetters(text: string): string {
  if (onlyAscii.test(text)) return text.toLowerCase()
  return normalize(
    normalize(text)
      .replace(tooLongRun, '') // accents between the marks are already removed
      .toLowerCase() // for `ẞ`
      .toUpperCase() // for letters whose upper case is another letter, such as `ß` and `ı`
      .toLowerCase(),
  )
    .replace(others, (letter) => letters[letter]!)
    .normalize('NFC')
}

/** A folded query: as a phrase, and as separate words. */
export interface FoldedQuery {
  phrase: string
  words: string[]
}

/**
 * Folds a query. If all its words have one character, it is searched only as a phrase, as such words match too much.
 */
export function foldQuery(query: string): FoldedQuery {
  const phrase = fold(query)
  const words = [...new Set(phrase.split(' '))]
  return { phrase, words: words.some((word) => Array.from(word).length > 1) ? words : [phrase] }
}

/**
 * Returns at most `length` characters of a text around the match of a query. The match is in the middle, unless it is
 * near an end of the text. Without a match the excerpt is the beginning of the text. The text is folded piece by piece
 * up to the match. A text at the limits takes up to 20 ms.
 */
export function excerptOf(text: string, query: FoldedQuery, length: number): string {
  if (text.length <= length) return text
  const middle = findMiddle(text, query)
  // A character is a code point, which may have two UTF-16 units.
  const around = { from: Math.max(0, middle - 2 * length), to: middle + 2 * length }
  if (splitsPair(text, around.from)) around.from += 1
  if (splitsPair(text, around.to)) around.to -= 1
  const before = Array.from(text.slice(around.from, middle)).length
  const characters = Array.from(text.slice(around.from, around.to))
  const start = Math.max(0, Math.min(before - Math.floor(length / 2), characters.length - length))
  return characters.slice(start, start + length).join('')
}

/** A part of a text that can be folded alone with the same result as within the text. */
interface Piece {
  from: number
  to: number
  /** Length of the folded text before the piece. */
  foldedFrom: number
  /** True when the folded text before the piece is empty or ends with a space. */
  afterSpace: boolean
}

/** Returns the offset of the middle of the phrase, or else of the first word found, or else 0. */
function findMiddle(text: string, { phrase, words }: FoldedQuery): number {
  const parts = [phrase, ...words].map((part) => ({ part, at: -1 }))
  const longest = Math.max(...parts.map(({ part }) => part.length))
  const pieces: Piece[] = []
  let piece: Piece = { from: 0, to: 0, foldedFrom: 0, afterSpace: true }
  let last = '' // the end of the folded text so far, for matches that begin there
  while (parts[0]!.at < 0 && piece.to < text.length) {
    piece = { ...piece, from: piece.to, to: pieceEnd(text, piece.to) }
    pieces.push(piece)
    let folded = foldLetters(text.slice(piece.from, piece.to)).replace(/\s+/gu, ' ')
    if (piece.afterSpace && folded.startsWith(' ')) folded = folded.slice(1)
    const seen = last + folded
    for (const found of parts) {
      if (found.at >= 0) continue
      const at = seen.indexOf(found.part)
      if (at >= 0) found.at = piece.foldedFrom - last.length + at
    }
    last = seen.slice(-longest)
    piece = {
      ...piece,
      foldedFrom: piece.foldedFrom + folded.length,
      afterSpace: seen === '' || seen.endsWith(' '),
    }
  }
  const match =
    parts[0]!.at >= 0 ? parts[0]! : parts.filter(({ at }) => at >= 0).toSorted((a, b) => a.at - b.at)[0]
  if (!match) return 0
  const [from, to] = [match.at, match.at + match.part.length].map((place) => unfoldedAt(text, pieces, place))
  return Math.floor((from! + to!) / 2)
}

const pieceUnits = { least: 500, most: 1000 }
/** Characters that folding may join with the previous one: marks, invisible characters, Korean vowels and finals. */
const joins = /^[\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f\u1160-\u11ff\u314f-\u3163\uffc2-\uffdc]/u

function pieceEnd(text: string, from: number): number {
  let end = from + pieceUnits.least
  while (end < from + pieceUnits.most && (splitsPair(text, end) || joins.test(text.slice(end, end + 2))))
    end += 1
  if (splitsPair(text, end)) end += 1
  return Math.min(end, text.length)
}

const clusters =
  /\s+|[^\p{M}\s][\u1160-\u11a7\u314f-\u3163\uffc2-\uffdc]?[\u11a8-\u11ff]?[\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]*|\p{M}+/gu

/** Converts an offset in the folded text into an offset in the text. `pieces` must extend beyond the offset. */
function unfoldedAt(text: string, pieces: Piece[], place: number): number {
  const { from, to, foldedFrom, afterSpace } = pieces.findLast((piece) => piece.foldedFrom <= place)!
  let folded = foldedFrom
  for (const { 0: cluster, index } of text.slice(from, to).matchAll(clusters)) {
    const skipped = afterSpace && folded === foldedFrom
    const size = /^\s/u.test(cluster) ? Number(!skipped) : foldLetters(cluster).length
    if (folded + size > place) return from + index + Math.min(cluster.length, place - folded)
    folded += size
  }
  return to
}

function splitsPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff
}
