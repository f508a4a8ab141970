import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { excerptOf, fold, foldQuery } from '../../core/fold.ts'
import { mainThreadMs } from '../support/cpu-time.ts'

const texts = fc.string({ unit: 'grapheme', maxLength: 60 })
const long = fc.string({ unit: 'grapheme', minLength: 200, maxLength: 500 })

test('[Q9] folding is the same done twice, for the composed and the decomposed, in capitals and not', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const folded = fold(text)
      expect(fold(folded)).toBe(folded)
      expect(fold(text.normalize('NFD'))).toBe(fold(text.normalize('NFC')))
      expect(folded).not.toMatch(/^\s|\s$|\s\s/u)
    }),
    { numRuns: 500 },
  )
  const same = [
    ['STRAẞE', 'straße'],
    ['İıIi', 'iiii'],
    ['Ἀθῆναι', 'αθηναι'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
    ['Ё Й', 'е и'],
    ['Łødź', 'lodz'],
    ['ﬀi½', 'ffi1⁄2'],
    ['أحمد', 'احمد'],
    ['שָׁלוֹם', 'שלום'],
    ['❤️', '❤'],
    ['a\u200bb\u00adc', 'abc'],
    ['ﾊﾟ', 'パ'],
  ]
  for (const [one, other] of same) expect([one, fold(one!)]).toEqual([one, fold(other!)])
  for (const [one, other] of [
    ['が', 'か'],
    ['कि', 'कु'],
    ['한', '하'],
    ['ที', 'ทื'],
  ] as const)
    expect([one, fold(one)]).not.toEqual([one, fold(other)])
})

test('[Q6] wherever the match is, the excerpt of 300 characters has it, is a part of the text and splits no character', () => {
  fc.assert(
    fc.property(long, long, (before, after) => {
      const text = `${before} Gneiß-Wörk ${after}`
      const query = foldQuery('gneiss-work')
      const excerpt = excerptOf(text, query, 300)
      expect(text).toContain(excerpt)
      expect(excerpt.isWellFormed()).toBe(true)
      expect(Array.from(excerpt)).toHaveLength(Math.min(300, Array.from(text).length))
      expect(fold(excerpt)).toContain(query.phrase)
    }),
    { numRuns: 200 },
  )
})

const limit = 20_000
/** Pieces of which texts at the limits are made: what is special in Unicode, and what was special to the folding. */
const units = fc.oneof(
  fc.constantFrom(
    '\u0315\u0300\u05ae\u0300',
    '\u3099\u093c',
    '\uff9e\u093c',
    '\u0f73\u0f74',
    '\u3099\u200d\u093c',
    "Σ'",
    'Ϊ́\u0345',
    '\ufdfa',
    '\u3300',
    'ı̇İ',
    'ŉ',
  ),
  fc.constantFrom(
    '한',
    '\u1112\u1161\u11ab',
    'ㅎㅏㄴ',
    'ﾊﾟ',
    '👩🏽‍🚀',
    '❤️',
    '🇩🇪',
    '漢字',
    'שָׁלוֹם',
    'مُحَمَّد',
    'ที่',
    'कि',
    '\ud800',
    '\udc00',
    ' \u00a0\n',
    'a',
    'ß',
    'é',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
  fc.string({
    unit: fc.integer({ min: 0x300, max: 0x36f }).map((code) => String.fromCodePoint(code)),
    minLength: 1,
    maxLength: 40,
  }),
)
const atTheLimit = fc
  .tuple(fc.array(units, { minLength: 1, maxLength: 6 }), fc.array(units, { maxLength: 2 }))
  .map(([repeated, last]) => {
    const unit = repeated.join('')
    const text = unit.repeat(Math.ceil((2 * limit) / unit.length)) + last.join('')
    return Array.from(text).slice(-limit).join('')
  })

test('[Q20] folding a text of 20,000 combining marks, and making an excerpt of it, takes less than 50 ms', () => {
  const query = foldQuery('zz zq')
  for (const marks of ['\u0315\u0300\u05ae\u0300', '\u3099\u093c\u3099\u093c', '\uff9e\u093c\uff9e\u093c']) {
    const text = `zq ${marks.repeat(4999)}`
    expect([marks, mainThreadMs(() => fold(text))]).toEqual([
      marks,
      expect.toSatisfy((ms: number) => ms < 50),
    ])
    expect([marks, mainThreadMs(() => excerptOf(text, query, 300))]).toEqual([
      marks,
      expect.toSatisfy((ms: number) => ms < 50),
    ])
  }
  // More marks than any script puts on a letter: they are left out, in whatever order.
  expect(fold(`が${'\u3099\u093c'.repeat(40)}い`)).toBe('かい')
  expect(fold(`a${'\u0301'.repeat(40)}b`)).toBe('ab')
})

test('[Q20, Q9, Q6] of any text at the limits, folding keeps its rules, and it and an excerpt take less than 50 ms', () => {
  fc.assert(
    fc.property(atTheLimit, fc.constantFrom('zq', 'gneiss zq', 'アパ'), (text, wanted) => {
      const folded = fold(text)
      expect(fold(folded) === folded).toBe(true)
      // The order of composed and decomposed marks is defined for well-formed text.
      if (text.isWellFormed()) expect(fold(text.normalize('NFD')) === fold(text.normalize('NFC'))).toBe(true)
      expect(/^\s|\s$|\s\s/u.test(folded)).toBe(false)
      expect(mainThreadMs(() => fold(text))).toBeLessThan(50)
      const excerpt = excerptOf(text, foldQuery(wanted), 300)
      expect(Array.from(excerpt).length).toBeLessThanOrEqual(300)
      expect(text.includes(excerpt)).toBe(true)
      expect(mainThreadMs(() => excerptOf(text, foldQuery(wanted), 300))).toBeLessThan(50)
    }),
    { numRuns: 60 },
  )
}, 120_000)
