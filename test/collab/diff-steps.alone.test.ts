/** Comparing two moments of a board with large cards. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { keysOfAll } from '../../collab/canvas/compare.ts'
import { diffInSteps } from '../../collab/history/diff.ts'
import { textDiff } from '../../core/text-diff.ts'
import { atOnce } from '../../platform/work/loop-turn.ts'
import { longestStepMs, mainThreadMs } from '../support/cpu-time.ts'

const boundMs = 50
const all = { limit: 200, offset: 0 }

function documentOf(cards: Record<string, Record<string, unknown>>): Y.Doc {
  const document = new Y.Doc()
  document.transact(() => {
    for (const [id, fields] of Object.entries(cards))
      document.getMap('cards').set(id, new Y.Map(Object.entries({ kind: 'note', ...fields })))
  })
  return document
}

test('[WK36] texts of any length are compared in less than 50 ms: long ones are shown as replaced', () => {
  const [before, after] = ['.a'.repeat(1_950_000), 'b,'.repeat(1_950_000)]
  expect(mainThreadMs(() => textDiff(before, after))).toBeLessThan(boundMs)
  expect(textDiff(before, after)).toEqual([
    { op: 'removed', text: before },
    { op: 'added', text: after },
  ])
  expect(textDiff('', after)).toEqual([{ op: 'added', text: after }])
  // The longest that are compared, of nothing but different words.
  const words = Array.from({ length: 25_000 }, (_, n) => `${String.fromCharCode(0x4e00 + (n % 20_000))} `)
  const [one, other] = [words.join(''), words.with(12_000, '! ').join('')]
  expect(textDiff(one, other).map(({ op }) => op)).toEqual(['kept', 'removed', 'added', 'kept'])
  expect(mainThreadMs(() => textDiff(one, other))).toBeLessThan(boundMs)
  const reversed = words.toReversed().join('')
  expect(mainThreadMs(() => textDiff(one, reversed))).toBeLessThan(boundMs)
})

test('[WK36] a diff shows the fields that fit, and names those that are too large', () => {
  const before = documentOf({ a: { body: 'x'.repeat(3.9e6), title: 'old', html: 'h'.repeat(200_000) } })
  const after = documentOf({ a: { body: 'y'.repeat(3.9e6), title: 'new', html: 'i'.repeat(200_000) } })
  const { changes } = atOnce(diffInSteps(before, after, 'cards', all))
  expect(changes).toMatchObject([
    {
      id: 'a',
      change: 'changed',
      fields: [
        { field: 'body', before: null, after: null, too_large: true },
        { field: 'html', diff: [{ op: 'removed' }, { op: 'added' }] },
        { field: 'title', before: 'old', after: 'new' },
      ],
    },
  ])
  const [added] = atOnce(diffInSteps(documentOf({}), after, 'cards', all)).changes
  expect(added).toMatchObject({ change: 'added' })
  expect(added!.fields.map(({ field, too_large }) => [field, too_large])).toEqual([
    ['body', true],
    ['html', undefined],
    ['kind', undefined],
    ['title', undefined],
  ])
})

test('[X114] boards of very many cards are compared in steps of less than 50 ms', () => {
  const cards = Object.fromEntries(Array.from({ length: 400_000 }, (_, n) => [`card ${n}`, n]))
  const [before, after] = [
    { ...cards, a: 1 },
    { ...cards, b: 1 },
  ].map((entries) => {
    const document = new Y.Doc()
    document.transact(() => {
      for (const [id, value] of Object.entries(entries)) document.getMap('cards').set(id, value)
    })
    return document
  }) as [Y.Doc, Y.Doc]
  const maps = [before.getMap('cards'), after.getMap('cards')] as const
  expect(atOnce(keysOfAll(...maps)).size).toBe(400_002)
  expect(longestStepMs(() => keysOfAll(...maps))).toBeLessThan(boundMs)
  expect(longestStepMs(() => diffInSteps(before, after, 'cards', all))).toBeLessThan(boundMs)
})

test('[WK36] large cards are compared in steps of less than 50 ms, whatever they hold', () => {
  const numbered = <Of>(length: number, of: (n: number) => Of) => Array.from({ length }, (_, n) => of(n))
  const fields: Record<string, (n: number) => unknown> = {
    'texts with escapes': (n) => '\u0001'.repeat(250_000) + String(n),
    'lists in lists': (n) => [...numbered(60_000, () => [[]]), n],
    objects: (n) => Object.fromEntries(numbered(10_000, (key) => [String((key * 7919) % 1_000_003), n])),
  }
  for (const [what, value] of Object.entries(fields)) {
    const [before, after] = [0, 1].map((moment) =>
      documentOf({ a: Object.fromEntries(numbered(6, (n) => [`field ${n}`, value(n + moment)])) }),
    ) as [Y.Doc, Y.Doc]
    expect(
      longestStepMs(() => diffInSteps(before, after, 'cards', all)),
      what,
    ).toBeLessThan(boundMs)
  }
  const keys = (moment: number) =>
    documentOf({ a: Object.fromEntries(numbered(60_000, (n) => [`key ${n}`, n + moment])) })
  const [before, after] = [keys(0), keys(1)]
  expect(longestStepMs(() => diffInSteps(before, after, 'cards', all))).toBeLessThan(boundMs)
}, 120_000)
