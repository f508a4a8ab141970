import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { excerptOf, fold, foldQuery } from '../../core/fold.ts'

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
    ['STRAẞE', 'straße'], ['İıIi', 'iiii'], ['Ἀθῆναι', 'αθηναι'], ['ΣΊΣΥΦΟΣ', 'σίσυφος'], ['Ё Й', 'е и'], ['Łødź', 'lodz'], ['ﬀi½', 'ffi1⁄2'],
    ['أحمد', 'احمد'], ['שָׁלוֹם', 'שלום'], ['❤️', '❤'], ['a\u200bb\u00adc', 'abc'], ['ﾊﾟ', 'パ'],
  ] // prettier-ignore
  for (const [one, other] of same) expect([one, fold(one!)]).toEqual([one, fold(other!)])
  for (const [one, other] of [['が', 'か'], ['कि', 'कु'], ['한', '하'], ['ที', 'ทื']] as const)
    expect([one, fold(one)]).not.toEqual([one, fold(other)])
}) // prettier-ignore

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
