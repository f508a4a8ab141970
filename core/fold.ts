/**
 * What the search takes for equal: texts that are folded alike. The index holds folded texts, and queries are folded
 * before they are looked for.
 *
 * - compatibility forms are one (NFKC): `ﬁ` is `fi`, `Ａ` is `a`, `①` is `1`;
 * - case does not matter, in full and whatever the language: `ß` is `ss`, `İ` and `ı` are `i`, `ς` is `σ`;
 * - accents are left out, where they are added to a letter: of Latin, Greek and Cyrillic (`é`, `ё`), the points of
 *   Hebrew and the vowel signs of Arabic. Marks that make another letter stay: the dakuten of Japanese, the vowels of
 *   Devanagari and Thai;
 * - letters with a stroke and ligatures are what people type for them: `ø` is `o`, `æ` is `ae`, `ł` is `l`;
 * - what shows nothing is left out (soft hyphens, joiners, variation selectors), and white space is one space.
 */
const accents =
  '\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f'
const leftOut = new RegExp(`[${accents}]|\\p{Default_Ignorable_Code_Point}`, 'gu')
const letters: Record<string, string> = {
  æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ħ: 'h', ŧ: 't', þ: 'th', ŋ: 'n', ĸ: 'k', ς: 'σ',
} // prettier-ignore
const others = new RegExp(`[${Object.keys(letters).join('')}]`, 'gu')
const onlyAscii = /^[\0-\x7f]*$/

export function fold(text: string): string {
  return foldLetters(text).replace(/\s+/gu, ' ').trim()
}

function foldLetters(text: string): string {
  if (onlyAscii.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(leftOut, '')
    .toLowerCase() // `ẞ`
    .toUpperCase() // letters without another case of their own, `ß` and `ı` among them
    .toLowerCase()
    .normalize('NFKD')
    .replace(leftOut, '')
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
 * The part of a text around what was looked for: at most `length` characters, and as near to its middle as the ends of
 * the text allow. From the beginning when it is not in the text.
 */
export function excerptOf(text: string, { phrase, words }: FoldedQuery, length: number): string {
  if (text.length <= length) return text
  const folded = fold(text)
  const found = [phrase, ...words].map((part) => ({ at: folded.indexOf(part), size: part.length }))
  const match =
    found[0]!.at >= 0 ? found[0]! : found.filter(({ at }) => at >= 0).toSorted((a, b) => a.at - b.at)[0]
  const middle = match
    ? Math.floor((unfoldedAt(text, match.at) + unfoldedAt(text, match.at + match.size)) / 2)
    : 0
  // Characters are code points: some are two units long.
  const around = { from: Math.max(0, middle - 2 * length), to: middle + 2 * length }
  if (splitsPair(text, around.from)) around.from += 1
  if (splitsPair(text, around.to)) around.to -= 1
  const before = Array.from(text.slice(around.from, middle)).length
  const characters = Array.from(text.slice(around.from, around.to))
  const start = Math.max(0, Math.min(before - Math.floor(length / 2), characters.length - length))
  return characters.slice(start, start + length).join('')
}

/** Where in a text that is which stands at a place of the folded text. */
function unfoldedAt(text: string, place: number): number {
  let folded = 0
  for (const { 0: run, index } of text.matchAll(/\s+|\S+/gu)) {
    const size = /^\s/u.test(run) ? Number(folded > 0) : foldLetters(run).length
    if (folded + size <= place) {
      folded += size
      continue
    }
    for (const { 0: cluster, index: within } of run.matchAll(/\P{M}\p{M}*|\p{M}+/gu)) {
      const next = folded + foldLetters(cluster).length
      if (next > place) return index + within
      folded = next
    }
    return index
  }
  return text.length
}

function splitsPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff
}
