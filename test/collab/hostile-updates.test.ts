/** Updates that are damaged, and updates that build on what is not there. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { crafted, item, recordedDoc } from '../support/crafted-updates.ts'
import { openEditor, until } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { syncFrame, updateFrame } from '../support/raw-client.ts'
import { openTargets, sendAndProbe, settle } from './target-board.ts'

const { enterBoard, expectUsable, newBoard, open, service, user } = await openTargets()

describe('malformed updates', () => {
  test('[X8] cut and flipped updates are applied whole or in part, and memory equals the log in any case', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    innocent.addCard('base', { title: 'base', body: 'some text to damage' })
    await innocent.saved()
    const outcomes = { acknowledged: 0, waits: 0, refused: 0 }
    const edits = fc.array(
      fc.oneof(
        fc.record({
          kind: fc.constant('card' as const),
          id: fc.string({ maxLength: 6 }),
          value: fc.jsonValue(),
        }),
        fc.record({ kind: fc.constant('text' as const), at: fc.nat(10), text: fc.string({ maxLength: 8 }) }),
        fc.record({ kind: fc.constant('delete' as const), at: fc.nat(10) }),
        fc.record({ kind: fc.constant('nested' as const), key: fc.string({ maxLength: 4 }) }),
      ),
      { minLength: 1, maxLength: 6 },
    )
    const damage = fc.record({
      cut: fc.oneof(
        { weight: 4, arbitrary: fc.constant(null) },
        fc.double({ min: 0.1, max: 1, noNaN: true }),
      ),
      flips: fc.array(fc.record({ at: fc.double({ min: 0, max: 0.999, noNaN: true }), bit: fc.nat(7) }), {
        maxLength: 2,
        size: 'max',
      }),
      step: fc.constantFrom(1, 2),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(edits, damage), { minLength: 1, maxLength: 4 }), async (rounds) => {
        const attacker = await enterBoard(boardId)
        const replica = attacker.documentOf(boardId)
        for (const [changes, { cut, flips, step }] of rounds) {
          const before = Y.encodeStateVector(replica)
          replica.transact(() => {
            for (const change of changes) edit(replica, change)
          })
          const update = Y.encodeStateAsUpdate(replica, before)
          const damaged = update.slice(0, Math.max(2, Math.floor(update.length * (cut ?? 1))))
          for (const { at, bit } of flips) damaged[Math.floor(at * damaged.length)]! ^= 1 << bit
          const outcome = await sendAndProbe(attacker, syncFrame(boardId, step, damaged))
          outcomes[outcome] += 1
          if (outcome === 'refused') break
        }
        attacker.socket.terminate()
        await expectMemoryEqualsLog(service, boardId)
      }),
      { numRuns: 120, seed: 7 },
    )
    expect(outcomes.acknowledged).toBeGreaterThan(10)
    expect(outcomes.refused).toBeGreaterThan(10)
    await expectUsable(boardId, innocent)
    expect(await verifyBoard(service.database, boardId)).toEqual([])
    const cards = await user.api.get(`/boards/${boardId}/cards?limit=500&include=raw,props,identifiers`)
    expect(cards.status).toBe(200)
  })

  function edit(
    doc: Y.Doc,
    change:
      | { kind: 'card'; id: string; value: unknown }
      | { kind: 'text'; at: number; text: string }
      | { kind: 'delete'; at: number }
      | { kind: 'nested'; key: string },
  ): void {
    const cards = doc.getMap<unknown>('cards')
    const base = cards.get('base')
    const body = base instanceof Y.Map ? (base.get('body') as unknown) : null
    const text = body instanceof Y.Text ? body : null
    switch (change.kind) {
      case 'card':
        cards.set(
          change.id,
          new Y.Map(Object.entries({ kind: 'note', props: change.value, x: change.value })),
        )
        break
      case 'text':
        text?.insert(Math.min(change.at, text.length), change.text)
        break
      case 'delete':
        if (text && text.length > change.at) text.delete(change.at, 1)
        break
      case 'nested':
        if (base instanceof Y.Map) base.set(change.key, new Y.Array())
    }
  }

  test('[X8] updates of arbitrary structs, which no editor would make, leave memory and log equal', async () => {
    const boardId = await newBoard()
    const author = await openEditor(service.url, open(boardId))
    author.addCard('base', { title: 'base', body: 'some text' })
    await author.saved()
    author.leave()
    const innocent = await openEditor(service.url, open(boardId))
    const clients = [1, 2, author.document.clientID]
    const id = fc.record({ client: fc.constantFrom(...clients), clock: fc.nat(14) })
    const content = fc.constantFrom(
      () => new Y.ContentString('ab'),
      () => new Y.ContentAny([1, { a: [2] }, 'x']),
      () => new Y.ContentType(new Y.Map()),
      () => new Y.ContentType(new Y.Text()),
      () => new Y.ContentType(new Y.Array()),
      () => new Y.ContentType(new Y.XmlElement('p')),
      () => new Y.ContentType(new Y.XmlText()),
      () => new Y.ContentDeleted(3),
      () => new Y.ContentBinary(new Uint8Array([1, 2])),
      () => new Y.ContentFormat('bold', true),
      () => new Y.ContentEmbed({ image: 1 }),
      () => new Y.ContentJSON([{ a: 1 }]),
    )
    const struct = fc.record({
      content,
      isGc: fc.nat(9).map((n) => n === 0),
      parent: fc.oneof(fc.constantFrom('cards', 'groups', 'other'), id),
      key: fc.constantFrom(null, 'base', 'kind', 'body', 'x'),
      origin: fc.option(id, { freq: 2 }),
      rightOrigin: fc.option(id, { freq: 1 }),
    })
    const update = fc.record({
      client: fc.constantFrom(...clients),
      clock: fc.nat(8),
      structs: fc.array(struct, { minLength: 1, maxLength: 6 }),
      deletes: fc.array(fc.tuple(fc.constantFrom(...clients), fc.nat(20), fc.integer({ min: 1, max: 5 })), {
        maxLength: 2,
      }),
    })
    const outcomes = { acknowledged: 0, waits: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(update, { minLength: 1, maxLength: 8 }), async (updates) => {
        let attacker = await enterBoard(boardId)
        for (const { client, clock: first, structs, deletes } of updates) {
          let clock = first
          const made = structs.map((given) => {
            const idOf = (ref: { client: number; clock: number } | null) =>
              ref && Y.createID(ref.client, ref.clock)
            const one = given.isGc
              ? new Y.GC(Y.createID(client, clock), 2)
              : new Y.Item(
                  Y.createID(client, clock),
                  null,
                  idOf(given.origin),
                  null,
                  idOf(given.rightOrigin),
                  (typeof given.parent === 'string' ? given.parent : idOf(given.parent)) as Y.ID,
                  given.key,
                  given.content(),
                )
            clock += one.length
            return one
          })
          const outcome = await sendAndProbe(attacker, updateFrame(boardId, crafted(made, deletes)))
          outcomes[outcome] += 1
          if (outcome === 'refused') attacker = await enterBoard(boardId)
        }
        attacker.socket.terminate()
        await expectMemoryEqualsLog(service, boardId)
      }),
      { numRuns: 60, seed: 3 },
    )
    for (const count of Object.values(outcomes)) expect(count).toBeGreaterThan(10)
    await expectUsable(boardId, innocent)
    expect(await verifyBoard(service.database, boardId)).toEqual([])
  })
})

describe('updates that build on what is missing', () => {
  test('[X10] they wait without an acknowledgement, and are shown, logged and acknowledged when the rest comes', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const { doc, made } = recordedDoc()
    doc.getMap('cards').set('a', new Y.Map([['kind', 'note']]))
    doc.getMap('cards').set('b', new Y.Map([['kind', 'note']]))
    doc.getMap('cards').set('c', new Y.Map([['kind', 'note']]))
    const late = await enterBoard(boardId)
    late.update(made[2]!)
    late.update(made[1]!)
    await settle(late)
    expect(late.acknowledgements).toEqual([true]) // that of the update of nothing
    await expectMemoryEqualsLog(service, boardId)
    expect(innocent.cards.size).toBe(0)
    late.update(made[0]!)
    await settle(late)
    expect(late.acknowledgements).toEqual([true, true, true, true, true])
    await until(() => innocent.cards.size === 3, 'the others see them')
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X10] an API write, or another editor, may bring what they wait for', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const { doc, made } = recordedDoc()
    doc.getMap('cards').set('a', new Y.Map([['kind', 'note']]))
    doc.getMap<Y.Map<unknown>>('cards').get('a')!.set('title', 'later')
    const late = await enterBoard(boardId)
    late.update(made[1]!)
    await settle(late)
    expect(late.acknowledgements).toHaveLength(1)
    Y.applyUpdate(innocent.document, made[0]!)
    await until(() => innocent.cards.get('a')?.get('title') === 'later', 'what waited is shown')
    await until(() => late.acknowledgements.length === 2, 'what waited is acknowledged')
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X10] deletions of what is missing wait as well', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const doc = new Y.Doc()
    doc.getMap('cards').set('a', new Y.Map([['kind', 'note']]))
    const addition = Y.encodeStateAsUpdate(doc)
    doc.getMap('cards').delete('a')
    const late = await enterBoard(boardId)
    late.update(crafted([], [[doc.clientID, 0, 2]]))
    await settle(late)
    expect(late.acknowledgements).toHaveLength(1)
    Y.applyUpdate(innocent.document, addition)
    await until(() => late.acknowledgements.length === 2, 'the deletion is acknowledged')
    await until(() => innocent.cards.size === 0, 'the deletion is shown')
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X11] past the bound of what may wait on a board the sender is closed with 1009, and nothing of it stays', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const attacker = await enterBoard(boardId)
    for (let n = 0; n < 10 && !attacker.closed; n++) {
      attacker.update(crafted([item(1000 + n, 5, 'cards', `k${n}`, new Y.ContentAny(['x'.repeat(3000)]))]))
    }
    expect(await attacker.untilClosed()).toBe(1009)
    const many = await enterBoard(boardId)
    for (let n = 0; n < 1100 && !many.closed; n++)
      many.update(crafted([item(1000 + n, 5, 'cards', 'k', new Y.ContentAny([1]))]))
    expect(await many.untilClosed()).toBe(1009)
    await expectUsable(boardId, innocent)
    for (const { document } of service.inMemory(boardId)) expect(document.store.pendingStructs).toBeNull()
    await expectMemoryEqualsLog(service, boardId)
  })
})
