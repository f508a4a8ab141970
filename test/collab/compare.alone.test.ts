/** Comparing the fields of cards: the JSON of formatted texts, and fields that are too large for JSON. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { differingFields, digestOf, fieldJson, isPlain } from '../../collab/canvas/compare.ts'
import { toJson } from '../../collab/canvas/json.ts'
import { diffInSteps } from '../../collab/history/diff.ts'
import { atOnce } from '../../platform/work/loop-turn.ts'
import { longestStepMs, mainThreadMs } from '../support/cpu-time.ts'
import { formattedCard } from '../hostile/attacks/updates.ts'

const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant({ a: [1], b: 'c' }))
const formats = fc.dictionary(fc.constantFrom('b', 'a', 'i', '1'), value, { maxKeys: 3 })
const change = fc.record({
  kind: fc.constantFrom('words', 'object', 'type', 'format', 'removal'),
  place: fc.nat(20),
  words: fc.string(),
  formats,
})

function formatted(changes: (typeof change extends fc.Arbitrary<infer One> ? One : never)[]): Y.Text {
  const text = new Y.Doc().getText('text')
  for (const { kind, place, words, formats } of changes) {
    const at = place % (text.length + 1)
    if (kind === 'words') text.insert(at, words, formats)
    else if (kind === 'object') text.insertEmbed(at, { words }, formats)
    else if (kind === 'type') text.insertEmbed(at, new Y.Map([['words', words]]), formats)
    else if (kind === 'format') text.format(at, Math.min(5, text.length - at), formats)
    else text.delete(at, Math.min(2, text.length - at))
  }
  return text
}

test('[WK34] the JSON of a formatted text is that of `toDelta`, and stops where it would', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.nat(3000), (changes, left) => {
      const text = formatted(changes)

      fc.pre(!isPlain(text))
      const [whole, cut] = [{ left: 1e6 }, { left }]
      const [wholeThere, cutThere] = [{ left: 1e6 }, { left }]
      expect(fieldJson(text, whole)).toEqual(toJson(text.toDelta(), wholeThere))
      expect(whole).toEqual(wholeThere)
      const json = fieldJson(text, cut)
      const there = toJson(text.toDelta(), cutThere)
      expect(cut.left < 0).toBe(cutThere.left < 0)
      if (cut.left >= 0) expect(json).toEqual(there)
    }),
    { numRuns: 1000 },
  )
})

const copyOf = (document: Y.Doc) => {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(document))
  return copy
}
const cardOf = (document: Y.Doc) => document.getMap('cards').get('card') as Y.Map<unknown>
const documentWith = (name: string, value: unknown) => {
  const document = new Y.Doc()
  document.transact(() => document.getMap('cards').set('card', new Y.Map([[name, value]])))
  return document
}

const formattedDocument = (count: number, fields?: string[]) => {
  const document = new Y.Doc()
  Y.applyUpdate(document, formattedCard(count, 'card', fields))
  return document
}

test('[WK34] 5,000 formats before 5,000 objects in a text are read in less than 50 ms', () => {
  const document = formattedDocument(5000)
  const text = cardOf(document).get('body')
  const budget = { left: 1024 * 1024 }
  expect(mainThreadMs(() => fieldJson(text, { ...budget }))).toBeLessThan(50)
  fieldJson(text, budget)
  expect(budget.left).toBeLessThan(0)
})

test('[WK34] a field that is too large to be read is compared by the items it is made of', () => {
  const large: Record<string, { document: Y.Doc; change: (value: any) => void }> = {
    'a formatted text': {
      document: formattedDocument(600),
      change: (text: Y.Text) => text.insert(text.length, '!'),
    },
    'a shared map': {
      document: documentWith('body', new Y.Map(Array.from({ length: 40_000 }, (_, n) => [`k${n}`, n]))),
      change: (map: Y.Map<unknown>) => map.set('k7', 'other'),
    },
    'words in a list of maps': {
      document: documentWith(
        'body',
        Y.Array.from(Array.from({ length: 3 }, () => new Y.Map<unknown>([['words', 'w'.repeat(500_000)]]))),
      ),
      change: (list: Y.Array<Y.Map<unknown>>) => list.get(1).set('words', 'others'),
    },
  }
  for (const [what, { document, change }] of Object.entries(large)) {
    const past = copyOf(document)
    const [now, was] = [cardOf(document), cardOf(past)]
    expect(atOnce(differingFields(was, now)), what).toEqual([])
    expect(atOnce(digestOf(was, 'body')), what).toBe(atOnce(digestOf(now, 'body')))
    change(now.get('body'))
    expect(atOnce(differingFields(was, now)), what).toEqual(['body'])
    expect(atOnce(digestOf(was, 'body')), what).not.toBe(atOnce(digestOf(now, 'body')))
  }
  const [one, other] = [documentWith('html', 'a'.repeat(2e6)), documentWith('html', 'a'.repeat(2e6))]
  expect(atOnce(differingFields(cardOf(one), cardOf(one)))).toEqual([])
  expect(atOnce(differingFields(cardOf(one), cardOf(other)))).toEqual(['html'])
})

test('[WK34] the items of a field are the same however Yjs has split and merged them', () => {
  const document = documentWith('body', new Y.Text())
  const text = cardOf(document).get('body') as Y.Text
  text.insert(0, 'a'.repeat(3e6))
  const past = copyOf(document)
  // What is put between two letters, and taken away, leaves the item split until the document is loaded again.
  text.insert(1000, 'b')
  expect(atOnce(differingFields(cardOf(past), cardOf(document)))).toEqual(['body'])
  text.delete(1000, 1)
  expect(atOnce(differingFields(cardOf(past), cardOf(document)))).toEqual([])
})

test('[WK35] large fields are compared and hashed in steps of less than 50 ms, whatever they hold', () => {
  const numbered = <Of>(length: number, of: (n: number) => Of) => Array.from({ length }, (_, n) => of(n))
  const cardWith = (count: number, value: unknown) => {
    const document = new Y.Doc()
    const values = numbered(count, (n): [string, unknown] => [`field ${n}`, value])
    document.transact(() => document.getMap('cards').set('card', new Y.Map(values)))
    return document
  }
  const numbers = numbered(10_000, (n) => [String((n * 7919) % 1_000_003), n])
  const fields: Record<string, Y.Doc> = {
    'formatted texts': formattedDocument(
      105,
      numbered(50, (n) => `field ${n}`),
    ),
    'lists in lists': cardWith(
      3,
      numbered(60_000, () => [[]]),
    ),
    'objects of numbers as keys': cardWith(10, Object.fromEntries(numbers)),
    numbers: cardWith(
      3,
      numbered(120_000, (n) => Math.sqrt(n)),
    ),
    texts: cardWith(50, 'é€'.repeat(250_000)),
  }
  for (const [what, document] of Object.entries(fields)) {
    const [now, was] = [cardOf(document), cardOf(copyOf(document))]
    const compareMs = longestStepMs(() => differingFields(was, now))
    expect(compareMs, what).toBeLessThan(50)
    const digestMs = longestStepMs(() => digestOf(now, 'field 2'))
    expect(digestMs, what).toBeLessThan(50)
    expect(atOnce(differingFields(was, now)), what).toEqual([])
  }
}, 120_000)

test('[WK37] a text of a million items is compared and hashed in steps of less than 50 ms, also in rich text', () => {
  for (const isRich of [false, true]) {
    const text = isRich ? new Y.XmlText() : new Y.Text()
    const document = documentWith('body', isRich ? Y.Array.from([text]) : text)
    // Each letter is put before the one that was written last, so Yjs merges none of them.
    document.transact(() => {
      for (let n = 0; n < 1_000_000; n++) text.insert(0, 'a')
    })
    const past = copyOf(document)
    const [was, now] = [cardOf(past), cardOf(document)]
    expect(longestStepMs(() => digestOf(now, 'body'))).toBeLessThan(50)
    expect(longestStepMs(() => differingFields(was, now))).toBeLessThan(50)
    expect(atOnce(differingFields(was, now))).toEqual([])
    text.delete(700_000, 1)
    expect(atOnce(differingFields(was, now))).toEqual(['body'])
    for (const one of [past, document]) one.getMap<Y.Map<unknown>>('cards').get('card')!.set('kind', 'note')
    const diff = () => diffInSteps(past, document, 'cards', { limit: 10, offset: 0 })
    expect(longestStepMs(diff)).toBeLessThan(50)
    expect(atOnce(diff()).changes).toMatchObject([{ fields: [{ field: 'body', too_large: true }] }])
  }
}, 240_000)
