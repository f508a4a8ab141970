import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { cardsOf, readContent, type SharedMap } from '../../collab/canvas/canvas.ts'
import { mainThreadMs } from '../support/cpu-time.ts'
import { interiorOf, projectCard, versioned } from '../../collab/canvas/project.ts'

function documentWith(fields: Record<string, unknown>): Y.Doc {
  const document = new Y.Doc()
  document.transact(() => {
    const card = new Y.Map()
    for (const [name, value] of Object.entries(fields)) card.set(name, value)
    cardsOf(document).set('card', card as never)
  })
  return document
}

const hashOf = (fields: Record<string, unknown>) => projectCard(documentWith(fields), 'card').hash
const card = { kind: 'note', title: 'A', x: 10, y: 20, props: { b: 1, a: [1, { d: 1, c: 2 }] } }

test('[IX1] a field that a later version adds leaves the hash of the cards as it is that do not use it', () => {
  const shared = cardsOf(documentWith(card)).get('card') as SharedMap
  const content = readContent(shared)
  const before = versioned('card', content, interiorOf(shared)).version
  for (const absent of [null, undefined, [] as never])
    expect(versioned('card', { ...content, due_at: absent } as never, interiorOf(shared)).version).toBe(
      before,
    )
  expect(
    versioned('card', { ...content, due_at: '2026-01-01' } as never, interiorOf(shared)).version,
  ).not.toBe(before)
})

test('[IX1] a field has the same hash whether it is known or left to the editor', () => {
  const later = cardsOf(documentWith({ ...card, due_at: '2026-01-01', grid: { b: 1, a: 2 } })).get(
    'card',
  ) as SharedMap
  const { due_at: _, ...rest } = interiorOf(later)!
  const known = versioned('card', { ...readContent(later), due_at: '2026-01-01' } as never, rest)
  expect(known.version).toBe(versioned('card', readContent(later), interiorOf(later)).version)
})

test('[IX1] the hash of a card stays what earlier versions wrote into the index', () => {
  const full = {
    ...{ kind: 'pdf', title: 'T', body: new Y.Text('Words'), html: '<p>a</p>', url: 'https://a.test/' },
    ...{ image_key: 'i', file_key: 'f', poster_key: 'p', file_name: 'n', mime: 'm', ext: 'e', alt: 'a' },
    ...{ color: 'c', group_id: 'g', sub: 's', size_bytes: 1.6, x: 1.4, y: -2, w: 10, h: 9999, z: 3.5 },
    ...{ rotation: 270, section_header: true, props: { b: 1, a: [2] }, grid: { rows: 1 } },
    identifiers: [{ scope: 's', value: 'v' }],
  }
  const odd = {
    ...{ kind: 'grid', title: '', url: 'javascript:1', size_bytes: 0, x: 'a', w: 280, h: 180, props: [] },
    ...{ identifiers: [], section_header: 1, body: 'plain' },
  }
  expect(hashOf({ kind: 'note' })).toBe('McPxd1jW51Uw0Rzbzl4vA1')
  expect(hashOf(full)).toBe('0IS4j/sAS3fHuoVtMunxv+')
  expect(hashOf(odd)).toBe('MxmH+CX2iBm1aQw/6tsXTS')
})

test('[IX1] the order of keys makes no difference, every change of a field does', () => {
  const entries = Object.entries(card)
  expect(hashOf(Object.fromEntries(entries.toReversed()))).toBe(hashOf(card))
  expect(hashOf({ ...card, props: { a: [1, { c: 2, d: 1 }], b: 1 } })).toBe(hashOf(card))
  const changes = [
    ...[
      { kind: 'doc' },
      { title: 'B' },
      { title: '' },
      { title: undefined },
      { body: 'A' },
      { x: 11 },
      { x: 0 },
    ],
    ...[
      { w: 40 },
      { rotation: 1 },
      { z: 0.5 },
      { section_header: true },
      { props: { a: 1 } },
      { props: null },
    ],
    ...[
      { identifiers: [{ scope: 'a', value: 'b' }] },
      { grid: { rows: 1 } },
      { grid: [], adjust: 1 },
      { size_bytes: 0 },
    ],
  ]
  const hashes = changes.map((change) => hashOf({ ...card, ...change }))
  expect(new Set([hashOf(card), ...hashes]).size).toBe(changes.length + 1)
})

test('[WK38] a body reads as the text that it is, and one of a million items as soon as it can be shown', () => {
  const bodyOf = (document: Y.Doc) => readContent(cardsOf(document).get('card') as SharedMap).body
  const change = fc.record({ at: fc.nat(), text: fc.string({ unit: 'grapheme' }), kind: fc.nat(3) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.boolean(), (changes, isLong) => {
      const text = new Y.Text(isLong ? 'long😀'.repeat(8000) : '')
      const document = documentWith({ ...card, body: text })
      for (const { at, text: words, kind } of changes) {
        const from = at % (text.length + 1)
        if (kind === 0) text.delete(from, Math.min(3, text.length - from))
        else if (kind === 1) text.insertEmbed(from, { words })
        else text.insert(from, words, kind === 2 ? { bold: true } : undefined)
      }
      const whole = new Map<string, unknown>(Object.entries({ ...card, body: text.toString() }))
      expect(bodyOf(document)).toBe(readContent(whole).body)
    }),
  )
  const text = new Y.Text()
  const document = documentWith({ ...card, body: text })
  document.transact(() => {
    for (let n = 0; n < 300_000; n++) text.insert(0, 'x')
  })
  expect(bodyOf(document)).toBe('x'.repeat(20_000))
  expect(mainThreadMs(() => bodyOf(document), 2)).toBeLessThan(5)
})
