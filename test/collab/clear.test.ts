/** Deleted types that are cleared in turns: at each moment the document is the one that Yjs would have. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { SharedState } from '../../collab/documents/shared-state.ts'
import { holdsUpdate } from '../../collab/updates/admit.ts'
import { limitCleanup } from '../../collab/updates/cleanup.ts'
import { clearLater } from '../../collab/updates/clear.ts'
import { encodeUpdate } from '../../collab/updates/encode.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { longestMs } from '../support/cpu-time.ts'

/** By client: the runs of clocks that are deleted, or not. */
function deletedOf({ store }: Y.Doc): unknown {
  return [...store.clients]
    .toSorted(([a], [b]) => a - b)
    .map(([client, structs]) => {
      const runs: { end: number; deleted: boolean }[] = []
      let clock = 0
      for (const { id, length, deleted } of structs) {
        expect(id.clock).toBe(clock)
        clock += length
        if (runs.at(-1)?.deleted === deleted) runs.at(-1)!.end = clock
        else runs.push({ end: clock, deleted })
      }
      return [client, runs]
    })
}

function copyOf(document: Y.Doc): Y.Doc {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(document))
  return copy
}

const contentOf = (document: Y.Doc) => [document.getMap('cards').toJSON(), document.getText('text').toJSON()]

/** A document that clears `itemsAtOnce` items at a time, when `clearSome` is called. */
function clearedLater(itemsAtOnce: number) {
  const document = new Y.Doc()
  const open: { steps: Steps<void>; end: () => void }[] = []
  limitCleanup(document)
  const run = (steps: Steps<void>) => new Promise<void>((end) => open.push({ steps, end }))
  clearLater(document, { itemsAtOnce, run })
  const clearSome = (steps: number) => {
    for (let n = 0; n < steps && open[0]; n += 1) if (open[0].steps.next().done) open.shift()!.end()
  }
  return { document, clearSome, isClear: () => open.length === 0 }
}

type Edit = { who: number; at: number; what: number; sees: boolean }
const edit = fc.record({ who: fc.nat(2), at: fc.nat(1000), what: fc.nat(7), sees: fc.boolean() })

/** A card with a list of elements in elements, a list of maps, and an entry with many earlier values. */
function largeCard(at: number): Y.Map<unknown> {
  const element = (depth: number): Y.XmlElement => {
    const made = new Y.XmlElement('p')
    if (depth > 0) made.insert(0, [element(depth - 1), new Y.XmlText('words'), element(depth - 2)])
    return made
  }
  const content = new Y.XmlFragment()
  content.insert(0, [element(at % 4), element(at % 3)])
  const list = Y.Array.from([1, 2, 3].map((n) => new Y.Map([['n', n]])))
  return new Y.Map<unknown>([
    ['content', content],
    ['list', list],
  ])
}

const newElements = () => Array.from({ length: 6 }, () => new Y.XmlElement('new'))

/** Makes updates by three clients, who don't always see what the others did. */
function updatesOf(edits: Edit[]): Uint8Array[] {
  const documents = [1, 2, 3].map((client) => Object.assign(new Y.Doc(), { clientID: client }))
  const updates: Uint8Array[] = []
  for (const document of documents)
    document.on('update', (update: Uint8Array, origin: unknown) => origin ?? updates.push(update))
  for (const { who, at, what, sees } of edits) {
    const document = documents[who]!
    if (sees) for (const update of updates) Y.applyUpdate(document, update, 'other')
    const cards = document.getMap<Y.Map<unknown>>('cards')
    const id = `c${at % 3}`
    const card = cards.get(id)
    const content = card?.get('content') as Y.XmlFragment | undefined
    const list = card?.get('list') as Y.Array<unknown> | undefined
    document.transact(() => {
      if (what <= 1) cards.set(id, largeCard(at))
      else if (what === 2) cards.delete(id)
      else if (what === 3) content?.insert(at % (content.length + 1), newElements())
      else if (what === 4 && content?.length)
        content.delete(at % content.length, Math.min(4, content.length - (at % content.length)))
      else if (what === 5) for (let n = 0; n < 6; n++) card?.set('at', n)
      else if (what === 6) list?.push([new Y.Map([['m', new Y.Text('text')]])])
      else document.getText('text').insert(0, 'word')
    })
  }
  return updates
}

test('[X60] a document that clears in turns is the one that Yjs has, also for who joins meanwhile', () => {
  let clearings = 0
  fc.assert(
    fc.property(
      fc.array(edit, { minLength: 5, maxLength: 30 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.nat(3), { minLength: 30, maxLength: 30 }),
      (edits, itemsAtOnce, steps) => {
        const plain = new Y.Doc()
        const { document, clearSome, isClear } = clearedLater(itemsAtOnce)
        for (const [n, update] of updatesOf(edits).entries()) {
          for (const one of [plain, document]) Y.applyUpdate(one, update)
          const sent: unknown[] = []
          const onUpdate = (update: Uint8Array) => sent.push(update)
          document.on('update', onUpdate)
          if (!isClear()) clearings += 1
          clearSome(steps[n]!)
          document.off('update', onUpdate)
          expect(sent).toEqual([])
          expect(contentOf(document)).toEqual(contentOf(plain))
          const joins = copyOf(document)
          expect(contentOf(joins)).toEqual(contentOf(plain))
          expect(deletedOf(joins)).toEqual(deletedOf(plain))
        }
        clearSome(Infinity)
        expect(isClear()).toBe(true)
        expect(deletedOf(document)).toEqual(deletedOf(plain))
        expect(deletedOf(copyOf(document))).toEqual(deletedOf(plain))
      },
    ),
    { numRuns: 300 },
  )
  expect(clearings).toBeGreaterThan(300)
})

const values = {
  'list of 300,000 elements': (card: Y.Map<unknown>) => {
    const content = card.set('content', new Y.XmlFragment())
    content.insert(
      0,
      Array.from({ length: 300_000 }, () => new Y.XmlElement('p')),
    )
  },
  'map of 300,000 maps': (card: Y.Map<unknown>) =>
    void card.set('content', new Y.Map(Array.from({ length: 300_000 }, (_, n) => [`k${n}`, new Y.Map()]))),
  'map with two entries of 1,000,000 earlier values': (card: Y.Map<unknown>) => {
    const content = card.set('content', new Y.Map<unknown>())
    for (let n = 0; n < 1_000_000; n += 1) content.set(`k${n % 2}`, n)
  },
}

test.each(Object.entries(values))(
  '[X60] a %s is deleted and cleared in steps of less than 50 ms',
  (_, fill) => {
    const runs = [0, 1, 2].map(() => {
      const { document, clearSome, isClear } = clearedLater(2000)
      const cards = document.getMap<Y.Map<unknown>>('cards')
      document.transact(() => fill(cards.set('a', new Y.Map())))
      const deleting = function* (): Steps<void> {
        cards.delete('a')
        for (yield; !isClear(); yield) clearSome(1)
      }
      const ms = longestMs(deleting())
      expect(document.store.clients.get(document.clientID)!.length).toBeLessThan(4)
      return ms
    })
    expect(Math.min(...runs)).toBeLessThan(50)
  },
)

test('[X60] who joins while a type is cleared gets none of its content, and who holds all of it holds it still', async () => {
  const plain = new Y.Doc()
  const cards = plain.getMap<Y.Map<unknown>>('cards')
  plain.transact(() => {
    for (let n = 0; n < 600; n += 1)
      cards.set(`c${n}`, new Y.Map([0, 1, 2, 3, 4].map((at) => [`text ${at}`, new Y.Text('secret')])))
  })
  const filled = Y.encodeStateAsUpdate(plain)
  // As the API deletes: it names the cards alone, and not what is in them.
  const deletes = new Map([
    [plain.clientID, [...cards._map.values()].map(({ id }) => ({ clock: id.clock, len: 1 }))],
  ])
  cards.clear()
  const document = new Y.Doc()
  limitCleanup(document)
  clearLater(document)
  Y.applyUpdate(document, filled)
  Y.applyUpdate(document, encodeUpdate(new Map(), deletes))
  expect(Buffer.from(Y.encodeStateAsUpdate(document)).includes('secret')).toBe(true)
  expect(holdsUpdate(document, Y.encodeStateAsUpdate(plain))).toBe(true)
  const { base } = await new SharedState(document).missing(new Map())
  expect(Buffer.from(base).includes('secret')).toBe(false)
  expect(deletedOf(document)).toEqual(deletedOf(plain))
})

test('[X60] many small types are cleared together', () => {
  const { document, clearSome } = clearedLater(2000)
  const cards = document.getMap('cards')
  document.transact(() => {
    for (let n = 0; n < 10_000; n += 1) cards.set(`c${n}`, new Y.Map([['n', n]]))
  })
  document.transact(() => cards.clear())
  let transactions = 0
  document.on('afterTransaction', () => (transactions += 1))
  clearSome(Infinity)
  expect(transactions).toBe(4) // of 2,000 items, after the first 2,000
})
