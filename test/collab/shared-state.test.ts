import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { SharedState } from '../../collab/documents/shared-state.ts'
import { encodeDeletes, encodeStructs } from '../../collab/updates/encode-state.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'

/** A client that joins: it applies what it gets, and all updates from the moment at which it asked. */
class Joiner {
  readonly document: Y.Doc
  readonly done: Promise<void>

  constructor(source: Y.Doc, shared: SharedState, known: Uint8Array) {
    this.document = new Y.Doc()
    Y.applyUpdate(this.document, known)
    source.on('update', (update: Uint8Array) => Y.applyUpdate(this.document, update))
    this.done = shared
      .missing(Y.decodeStateVector(Y.encodeStateVector(this.document)))
      .then(({ base, tail }) => {
        Y.applyUpdate(this.document, base)
        if (tail) Y.applyUpdate(this.document, tail)
      })
  }
}

const changes = fc.array(
  fc.record({
    client: fc.constantFrom(1, 2, 3),
    key: fc.constantFrom('a', 'b', 'c'),
    kind: fc.constantFrom('set', 'type', 'erase', 'remove', 'nest', 'join', 'return', 'turn'),
    text: fc.oneof(fc.string({ maxLength: 60, unit: 'grapheme' }), fc.constant('é'.repeat(200))),
  }),
  { minLength: 5, maxLength: 80 },
)

function change(
  source: Y.Doc,
  { client, key, kind, text }: { client: number; key: string; kind: string; text: string },
) {
  source.clientID = client
  const cards = source.getMap<Y.Map<unknown>>('cards')
  if (!cards.has(key)) cards.set(key, new Y.Map([['body', new Y.Text()]]))
  const card = cards.get(key)!
  const body = card.get('body') as Y.Text
  if (kind === 'set') card.set('title', text)
  if (kind === 'type') body.insert(Math.floor(body.length / 2), text)
  if (kind === 'erase') body.delete(0, Math.ceil(body.length / 2))
  if (kind === 'remove') cards.delete(key)
  if (kind === 'nest') card.set('grid', new Y.Map([['cells', Y.Array.from([text, { text }])]]))
}

test('[JO1] whatever is written meanwhile, a client that joins or comes back has the same document', async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (steps) => {
      const source = new Y.Doc()
      const shared = new SharedState(source)
      const joiners: Joiner[] = []
      let earlier = Y.encodeStateAsUpdate(source)
      for (const step of steps) {
        if (step.kind === 'join') joiners.push(new Joiner(source, shared, Y.encodeStateAsUpdate(new Y.Doc())))
        else if (step.kind === 'return') joiners.push(new Joiner(source, shared, earlier))
        else if (step.kind === 'turn') await new Promise((resolve) => setImmediate(resolve))
        else change(source, step)
        if (step.client === 1) earlier = Y.encodeStateAsUpdate(source)
        expect(Y.decodeStateVector(shared.vector)).toEqual(Y.decodeStateVector(Y.encodeStateVector(source)))
      }
      await Promise.all(joiners.map(({ done }) => done))
      for (const { document } of joiners) {
        expect(document.getMap('cards').toJSON()).toEqual(source.getMap('cards').toJSON())
        expect(Y.equalSnapshots(Y.snapshot(document), Y.snapshot(source))).toBe(true)
      }
    }),
    { numRuns: 150 },
  )
})

test('[JO1] a document may change after each step of its encoding', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    let random = seed
    const below = (most: number) => (random = (random * 1103515245 + 12345) & 0x7fffffff) % most
    const source = new Y.Doc()
    const cards = source.getMap<Y.Map<unknown>>('cards')
    const text = source.getText('text')
    for (let n = 0; n < 500; n++) {
      source.clientID = 1 + below(4)
      cards.set(`c${n}`, new Y.Map([['title', `Card ${n}`]]))
      text.insert(below(text.length + 1), 'words ')
    }
    const tail: Uint8Array[] = []
    source.on('update', (update: Uint8Array) => tail.push(update))
    const encode = <Result>(steps: Steps<Result>): Result => {
      for (;;) {
        const { done, value } = steps.next()
        if (done) return value
        source.clientID = 1 + below(4)
        text.delete(below(text.length - 20), 20) // splits items, and Yjs merges what it collects
        text.insert(below(text.length), 'more ')
        cards.delete(`c${below(500)}`)
      }
    }
    const deletes = encode(encodeDeletes(source))
    const structs = encode(encodeStructs(source, new Map()))
    expect(tail.length).toBeGreaterThan(30)
    const joiner = new Y.Doc()
    Y.applyUpdate(joiner, Buffer.concat([...structs, deletes]))
    Y.applyUpdate(joiner, Y.mergeUpdates(tail))
    expect(joiner.getText('text').toString()).toBe(text.toString())
    expect(Y.equalSnapshots(Y.snapshot(joiner), Y.snapshot(source))).toBe(true)
  }
})

test('[JO4] the encoded state is kept while little changes, and dropped after 256 updates or an eighth of its bytes', async () => {
  const source = new Y.Doc()
  const text = source.getText('text')
  text.insert(0, 'x'.repeat(1_000_000))
  const shared = new SharedState(source)
  const listeners = () => source._observers.get('update')?.size ?? 0
  const join = () => shared.missing(new Map())
  expect(listeners()).toBe(0)
  const first = await join()
  expect(first.tail).toBe(null)
  for (let n = 0; n < 256; n++) text.insert(0, 'y')
  const second = await join()
  expect(second.base).toBe(first.base)
  expect(second.tail!.byteLength).toBeLessThan(10_000)
  text.insert(0, 'z')
  expect(listeners()).toBe(0)
  const third = await join()
  expect(third.base).not.toBe(first.base)
  text.insert(0, 'w'.repeat(130_000))
  expect(listeners()).toBe(0)
})

test('[X61] who lacks few structs that are large gets the state that all share', async () => {
  const source = new Y.Doc()
  source.clientID = 1
  const cards = source.getMap('cards')
  for (let n = 0; n < 1000; n++) cards.set(`c${n}`, n)
  source.clientID = 2
  for (let n = 0; n < 4; n++) cards.set(`d${n}`, 'x'.repeat(100_000))
  const shared = new SharedState(source)
  const known = new Map([[1, 1000]])
  const share = shared.shareLacking(known)
  expect(share).toBeLessThan(0.01)
  const whole = await shared.missing(new Map())
  const given = await shared.missing(known, 100_000)
  expect(given.base).toBe(whole.base)
  expect(given.encodedBytes).toBe(100_000)
  const own = await shared.missing(known, 500_000)
  expect(own.base.byteLength).toBeLessThan(whole.base.byteLength)
  expect(own.encodedBytes).toBeGreaterThan(400_000)
  expect(shared.shareLacking(new Map([[1, 500]]))).toBeCloseTo(0.5, 2)
  expect(shared.shareLacking(new Map())).toBe(1)
})
