/** The end of a transaction that deletes much: as Yjs does it, but in linear time. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { limitCleanup } from '../../collab/updates/cleanup.ts'

/** What a document has at each clock. Yjs may or may not have merged neighbours that are alike. */
function structsOf({ store }: Y.Doc): unknown[] {
  return [...store.clients].map(([client, structs]) => {
    const runs: { end: number; is: string }[] = []
    let clock = 0
    for (const struct of structs) {
      expect(struct.id.clock).toBe(clock)
      clock += struct.length
      const content = struct instanceof Y.Item ? [struct.content.constructor.name, struct.parentSub] : null
      const is = JSON.stringify([struct.deleted, struct.constructor.name, content])
      if (runs.at(-1)?.is === is) runs.at(-1)!.end = clock
      else runs.push({ end: clock, is })
    }
    return [client, runs]
  })
}

/** As another client gets it. */
const copyOf = (document: Y.Doc): Uint8Array => {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(document))
  return Y.encodeStateAsUpdate(copy)
}

type Edit = [who: number, at: number, what: number]

/** Makes updates by three clients: cards, texts and a rich text, which they change, overwrite and delete in large numbers. */
function updatesOf(edits: Edit[]): Uint8Array[] {
  const documents = [new Y.Doc(), new Y.Doc(), new Y.Doc()]
  const updates: Uint8Array[] = []
  for (const [n, document] of documents.entries()) {
    document.clientID = n + 1
    document.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== 'other') updates.push(update)
    })
  }
  for (const [who, at, what] of edits) {
    const document = documents[who % 3]!
    for (const update of updates) Y.applyUpdate(document, update, 'other')
    const [cards, text] = [document.getMap<Y.Map<unknown>>('cards'), document.getText('text')]
    const rich = document.getXmlFragment('rich')
    document.transact(() => {
      if (what === 0)
        for (let n = 0; n < 120; n++)
          cards.set(
            `c${(at + n) % 300}`,
            new Y.Map<unknown>([
              ['kind', 'note'],
              ['at', n],
              ['body', new Y.Text('words')],
            ]),
          )
      else if (what === 1)
        for (const key of [...cards.keys()].filter((_, n) => n % 10 !== at % 10)) cards.delete(key)
      else if (what === 2) for (let n = 0; n < 300; n++) text.insert((at * n) % (text.length + 1), 'ab')
      else if (what === 3 && text.length > 10) text.delete(at % 5, text.length - 10)
      else if (what === 4)
        for (let n = 0; n < 100; n++) rich.insert(at % (rich.length + 1), [new Y.XmlElement('p')])
      else if (rich.length > 4) rich.delete(at % 3, rich.length - 4)
      for (const card of cards.values()) card.set('at', at)
    })
  }
  return updates
}

test('[X59] documents are the same, clock by clock, as those of Yjs alone', () => {
  let merged = 0
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(2), fc.nat(1000), fc.nat(5)), { minLength: 8, maxLength: 20 }),
      (edits) => {
        const updates = updatesOf(edits)
        const [plain, limited] = [new Y.Doc(), new Y.Doc()]
        limitCleanup(limited)
        plain.on('afterTransaction', (transaction) => (transaction._needFormattingCleanup = false))
        limited.on('beforeObserverCalls', () => {
          if (limited._observers.get('afterTransaction')!.size > 1) merged += 1
        })
        for (const document of [plain, limited]) {
          const whole = Y.mergeUpdates(updates)
          // Together and one by one: what is deleted at once is more or less.
          document.transact(() => updates.slice(0, 5).forEach((update) => Y.applyUpdate(document, update)))
          for (const update of updates.slice(5)) Y.applyUpdate(document, update)
          Y.applyUpdate(document, whole)
        }
        expect(structsOf(limited)).toEqual(structsOf(plain))
        expect(copyOf(limited)).toEqual(copyOf(plain))
        expect(limited.getMap('cards').toJSON()).toEqual(plain.getMap('cards').toJSON())
        // The maps of entries still lead to structs that are in the document.
        const change = new Y.Doc()
        Y.applyUpdate(change, Y.encodeStateAsUpdate(plain))
        change.getMap<Y.Map<unknown>>('cards').forEach((card) => card.set('at', 'last'))
        change.getText('text').delete(0, change.getText('text').length)
        const last = Y.encodeStateAsUpdate(change)
        for (const document of [plain, limited]) Y.applyUpdate(document, last)
        expect(structsOf(limited)).toEqual(structsOf(plain))
      },
    ),
    { numRuns: 25 },
  )
  expect(merged).toBeGreaterThan(25)
})
