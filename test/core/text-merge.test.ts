import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyEdits, diffText, mergeText } from '../../core/text-merge.ts'
import type { TextEdit } from '../../core/text-merge.ts'

/** Emoji that share one half of their surrogate pair, joiners, flags, combining marks, and plain letters. */
const tricky = fc
  .array(
    fc.constantFrom(
      '😀',
      '😁',
      '🐶',
      '👨‍👩‍👧',
      '🇩🇪',
      '𝒳',
      'e\u0301',
      '\u0301',
      '\u200d',
      'ß',
      'a',
      'b',
      ' ',
      '\n',
    ),
    {
      maxLength: 20,
    },
  )
  .map((parts) => parts.join(''))
const text = fc.oneof(tricky, fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('a', 'b') }))

function merged(base: string, current: string, wanted: string): string {
  return applyEdits(current, mergeText(base, current, wanted))
}

/** Removed and inserted code points. */
function cost(text: string, edits: readonly TextEdit[]): number {
  return edits
    .flatMap(({ index, remove, insert }) => [text.slice(index, index + remove), insert])
    .reduce((sum, part) => sum + Array.from(part).length, 0)
}

function longestCommonSubsequence(a: readonly string[], b: readonly string[]): number {
  let row = Array<number>(b.length + 1).fill(0)
  for (const one of a) {
    const above = row
    row = [0]
    b.forEach((other, index) =>
      row.push(one === other ? above[index]! + 1 : Math.max(above[index + 1]!, row[index]!)),
    )
  }
  return row.at(-1)!
}

function expectWellPlaced(text: string, edits: readonly TextEdit[]): void {
  let end = -1
  for (const { index, remove, insert } of edits) {
    expect(index).toBeGreaterThan(end)
    end = index + remove
    expect(end).toBeLessThanOrEqual(text.length)
    expect(remove + insert.length).toBeGreaterThan(0)
    for (const part of [text.slice(0, index), text.slice(index, end), text.slice(end), insert]) {
      expect(part.isWellFormed()).toBe(true)
    }
  }
}

describe('difference', () => {
  test('[T1] the edits lead from the one text to the other', () => {
    fc.assert(
      fc.property(text, text, (from, to) => {
        expect(applyEdits(from, diffText(from, to))).toBe(to)
      }),
      { numRuns: 1_000 },
    )
  })

  test('[T1] also with halves of surrogate pairs', () => {
    const halves = fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', '\ude01', 'a') })
    fc.assert(
      fc.property(halves, halves, (from, to) => {
        expect(applyEdits(from, diffText(from, to))).toBe(to)
      }),
    )
  })

  test('[T2] no edits remove and insert fewer code points', () => {
    fc.assert(
      fc.property(text, text, (from, to) => {
        const [a, b] = [Array.from(from), Array.from(to)]
        const fewest = a.length + b.length - 2 * longestCommonSubsequence(a, b)
        expect(cost(from, diffText(from, to))).toBe(fewest)
      }),
      { numRuns: 1_000 },
    )
  })

  test('[T3] edits are in order, do not touch, and split no surrogate pair', () => {
    fc.assert(
      fc.property(tricky, tricky, (from, to) => expectWellPlaced(from, diffText(from, to))),
      { numRuns: 1_000 },
    )
  })

  test('[T3] an emoji that shares half of its pair is replaced as a whole', () => {
    expect(diffText('x😀y', 'x😁y')).toEqual([{ index: 1, remove: 2, insert: '😁' }])
  })

  test('[T2] two places changed are two edits', () => {
    expect(diffText('one two three', 'one too three!')).toEqual([
      { index: 5, remove: 1, insert: 'o' },
      { index: 13, remove: 0, insert: '!' },
    ])
  })
})

describe('long texts', () => {
  const letters = (seed: number, alphabet: string) => {
    let state = seed
    return Array.from({ length: 20_000 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return alphabet[Math.floor((state / 2 ** 32) * alphabet.length)]
    }).join('')
  }

  test.each([
    ['of the same few letters', letters(1, 'ab'), letters(2, 'ab')],
    ['of words', letters(1, 'etaoin   '), letters(2, 'etaoin   ')],
    ['without anything in common', 'a'.repeat(20_000), 'b'.repeat(20_000)],
    ['that repeat', 'ab'.repeat(10_000), 'ba'.repeat(5_000) + 'aab'.repeat(3_000)],
  ])('[T4] two texts %s', (_, from, to) => {
    const before = performance.now()
    const edits = diffText(from, to)
    expect(performance.now() - before).toBeLessThan(1_000)
    expect(applyEdits(from, edits)).toBe(to)
  })

  test('[T4] a text of which much is rewritten keeps the words that stay', () => {
    const words = Array.from({ length: 1_000 }, (_, index) => `word${index}`)
    const rewritten = words.map((word, index) => (index % 3 === 0 ? `Other${index}` : word))
    const edits = diffText(words.join(' '), rewritten.join(' '))
    expect(applyEdits(words.join(' '), edits)).toBe(rewritten.join(' '))
    expect(edits).toHaveLength(334)
  })
})

describe('past the effort', () => {
  test('[T20] the edits lead from the one text to the other with any effort, in order, and split no pair', () => {
    fc.assert(
      fc.property(tricky, tricky, fc.nat(200), (from, to, left) => {
        const edits = diffText(from, to, { left })
        expect(applyEdits(from, edits)).toBe(to)
        expectWellPlaced(from, edits)
      }),
      { numRuns: 1_000 },
    )
  })

  test('[T20] without effort all between the first and the last difference is one edit', () => {
    expect(diffText('one two three four', 'one 2 three 4 four', { left: 0 })).toEqual([
      { index: 4, remove: 9, insert: '2 three 4' },
    ])
    expect(diffText('x😀y', 'x😁y', { left: 0 })).toEqual([{ index: 1, remove: 2, insert: '😁' }])
  })
})

describe('merge', () => {
  test('[T5] with one side unchanged the other side results', () => {
    fc.assert(
      fc.property(text, text, (base, changed) => {
        expect(mergeText(base, changed, base)).toEqual([])
        expect(merged(base, base, changed)).toBe(changed)
      }),
    )
  })

  /** What a side makes of the base: some of its characters removed, and some of its own inserted. */
  const sideOf = (base: string, own: string) =>
    fc
      .array(fc.tuple(fc.boolean(), fc.string({ unit: fc.constantFrom(...Array.from(own)), maxLength: 2 })), {
        minLength: base.length + 1,
        maxLength: base.length + 1,
      })
      .map((choices) =>
        choices.map(([keep, typed], index) => typed + (keep ? (base[index] ?? '') : '')).join(''),
      )

  const only = (text: string, alphabet: string) =>
    Array.from(text)
      .filter((character) => alphabet.includes(character))
      .join('')

  test('[T6] what either side inserted is there, and what neither removed', () => {
    const base = 'abcdefghij'
    fc.assert(
      fc.property(sideOf(base, 'XYZ😀'), sideOf(base, '123😁'), (current, wanted) => {
        const result = merged(base, current, wanted)
        expect(only(result, 'XYZ😀')).toBe(only(current, 'XYZ😀'))
        expect(only(result, '123😁')).toBe(only(wanted, '123😁'))
        const kept = Array.from(base).filter((letter) => current.includes(letter) && wanted.includes(letter))
        expect(only(result, base)).toBe(kept.join(''))
      }),
      { numRuns: 1_000 },
    )
  })

  test('[T21] with any effort, what either side inserted is there', () => {
    const base = 'abcdefghij'
    fc.assert(
      fc.property(sideOf(base, 'XYZ😀'), sideOf(base, '123😁'), fc.nat(200), (current, wanted, left) => {
        const edits = mergeText(base, current, wanted, { left })
        const result = applyEdits(current, edits)
        expect(only(result, 'XYZ😀')).toBe(only(current, 'XYZ😀'))
        expect(only(result, '123😁')).toBe(only(wanted, '123😁'))
        expectWellPlaced(current, edits)
      }),
      { numRuns: 1_000 },
    )
  })

  test('[T3] the edits of a merge are in order, do not touch, and split no surrogate pair', () => {
    fc.assert(
      fc.property(tricky, tricky, tricky, (base, current, wanted) =>
        expectWellPlaced(current, mergeText(base, current, wanted)),
      ),
      { numRuns: 1_000 },
    )
  })

  test('[T7] both insertions at one place stay, the current one first', () => {
    expect(merged('The end', 'The very end', 'The bitter end')).toBe('The very bitter end')
    expect(merged('', 'theirs', 'OURS')).toBe('theirsOURS')
  })

  test('[T8] what was typed inside a removed range stays', () => {
    expect(mergeText('keep 123456 keep', 'keep 123 new 456 keep', 'keep  keep')).toEqual([
      { index: 5, remove: 3, insert: '' },
      { index: 13, remove: 3, insert: '' },
    ])
  })

  test('[T8] a replacement of a range keeps what was typed inside it', () => {
    expect(merged('x 123456 y', 'x 123new456 y', 'x ABC y')).toBe('x ABCnew y')
  })

  test('[T9] what both removed is removed once, in part or as a whole', () => {
    expect(merged('a123456b', 'a56b', 'a12b')).toBe('ab')
    expect(mergeText('a123b', 'ab', 'ab')).toEqual([])
    expect(merged('a123456b', 'a16b', 'ab')).toBe('ab')
  })

  test('[T9] a change that both made alike is made once', () => {
    fc.assert(
      fc.property(text, text, (base, changed) => {
        expect(mergeText(base, changed, changed)).toEqual([])
      }),
    )
    expect(merged('one two', 'one two three', '1 two three')).toBe('1 two three')
  })
})
