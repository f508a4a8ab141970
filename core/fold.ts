/**
 * Folding: two texts that the search takes for equal have the same folded text. The index holds folded texts, and queries
 * are folded before they are looked for.
 *
 * - compatibility forms are one (NFKC): `ﬁ` is `fi`, `Ａ` is `a`, `①` is `1`;
 * - case does not matter, in full and whatever the language: `ß` is `ss`, `İ` and `ı` are `i`, `ς` is `σ`;
 * - accents are left out, where they are added to a letter: of Latin, Greek and Cyrillic (`é`, `ё`), the points of
 *   Hebrew and the vowel signs of Arabic. Marks that make another letter stay: the dakuten of Japanese, the vowels of
 *   Devanagari and Thai;
 * - letters with a stroke and ligatures are what people type for them: `ø` is `o`, `æ` is `ae`, `ł` is `l`;
 * - what shows nothing is left out (soft hyphens, joiners, variation selectors), and white space is one space;
 * - more than 30 combining marks in a row, accents not counted, are left out: no script writes so.
 *
 * The cost is linear in the length of the text. A text at the limits takes up to 15 ms.
 */
const accents =
  '\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f'
const leftOut = new RegExp(`[${accents}]|\\p{Default_Ignorable_Code_Point}`, 'gu')
const letters: Record<string, string> = {
  æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ħ: 'h', ŧ: 't', þ: 'th', ŋ: 'n', ĸ: 'k', ς: 'σ',
} // prettier-ignore
const others = new RegExp(`[${Object.keys(letters).join('')}]`, 'gu')
const onlyAscii = /^[\0-\x7f]*$/

/**
 * Normalising sorts each run of combining marks, in quadratic time: 185 ms for a run of 20,000. So no run may be longer
 * than 30, the bound of Unicode's Stream-Safe Text Format (UAX #15, section 13), which ends a longer one by U+034F.
 */
const combining = combiningMarks()
// The halfwidth marks of Japanese are letters, but become combining marks.
const longestRun = new RegExp(`[${combining}\\uff9e\\uff9f]{30}`, 'gu')
const tooLongRun = new RegExp(`[${combining}]{31,}`, 'gu')
const normalize = (text: string) =>
  text.replace(longestRun, '$&\u034f').normalize('NFKD').replace(leftOut, '')

/** The marks that normalising moves, as a class of an expression; expressions know no combining classes. */
function combiningMarks(): string {
  const moves = (mark: string, other: string) =>
    (other + mark).normalize('NFD') !== other + mark.normalize('NFD') ||
    (mark + other).normalize('NFD') !== mark.normalize('NFD') + other
  let all = ''
  for (let code = 0x300; code < 0x20000; code += 1) all += String.fromCodePoint(code)
  // Beside marks of the lowest and of the highest class.
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
      .replace(tooLongRun, '') // the accents between them are gone by now
      .toLowerCase() // `ẞ`
      .toUpperCase() // letters without another case of their own, `ß` and `ı` among them
      .toLowerCase(),
  )
    .replace(others, (letter) => letters[letter]!)
    .normalize('NFC')
}

/** What is looked for: the words as they stand together, and one by one. */
export interface FoldedQuery {
  phrase: string
  words: string[]
}

/** Words of one character are too many to be looked for one by one: alone they count as they stand together. */
export function foldQuery(query: string): FoldedQuery {
  const phrase = fold(query)
  const words = [...new Set(phrase.split(' '))]
  return { phrase, words: words.some((word) => Array.from(word).length > 1) ? words : [phrase] }
}

/**
 * Returns the part of a text around what was looked for: at most `length` characters, and as near to its middle as the
 * ends of the text allow. From the beginning when it is not in the text. The text is folded piece by piece up to the
 * match; one at the limits takes up to 20 ms.
 */
export function excerptOf(text: string, query: FoldedQuery, length: number): string {
  if (text.length <= length) return text
  const middle = findMiddle(text, query)
  // Characters are code points: some are two units long.
  const around = { from: Math.max(0, middle - 2 * length), to: middle + 2 * length }
  if (splitsPair(text, around.from)) around.from += 1
  if (splitsPair(text, around.to)) around.to -= 1
  const before = Array.from(text.slice(around.from, middle)).length
  const characters = Array.from(text.slice(around.from, around.to))
  const start = Math.max(0, Math.min(before - Math.floor(length / 2), characters.length - length))
  return characters.slice(start, start + length).join('')
}

/** A part of a text that folds by itself as it does within the text. */
interface Piece {
  from: number
  to: number
  /** The length of all that is before it, folded. */
  foldedFrom: number
  /** The folded text before it is empty or ends with a space. */
  afterSpace: boolean
}

/** Where in the text the middle of the phrase is; or else of the first word that the text has; or else 0. */
function findMiddle(text: string, { phrase, words }: FoldedQuery): number {
  const parts = [phrase, ...words].map((part) => ({ part, at: -1 }))
  const longest = Math.max(...parts.map(({ part }) => part.length))
  const pieces: Piece[] = []
  let piece: Piece = { from: 0, to: 0, foldedFrom: 0, afterSpace: true }
  let last = '' // the end of the folded text, for matches that begin there
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
/** What may become one with the character before: marks, what shows nothing, vowels and finals of Korean. */
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

/** The place in the text of a place in the folded text. `pieces` reach beyond it. */
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
