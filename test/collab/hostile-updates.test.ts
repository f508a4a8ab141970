import * as encoding from 'lib0/encoding'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/verify.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { disconnectAll, enter, syncFrame, type, updateFrame, type RawClient } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({
  debounceMs: 50,
  bounds: { maxPendingBytes: 20_000, maxDocumentBytes: 4 * 1024 * 1024 },
})

afterEach(() => {
  leaveAll()
  disconnectAll()
})

async function newBoard(): Promise<string> {
  return (await user.api.post('/boards', { name: 'Target' })).body.board.id
}
const open = (boardId: string) => ({ boardId, token: user.token })
const enterBoard = (boardId: string) => enter(service.url, open(boardId))

/** The editor goes on, others see it, and so does the API. */
async function expectUsable(boardId: string, editor: Editor): Promise<void> {
  const id = `c${Math.random().toString(36).slice(2)}`
  editor.addCard(id, { title: 'still here' })
  await editor.saved()
  const patched = await user.api.patch(`/boards/${boardId}/cards/${id}`, { title: 'renamed' })
  expect(patched.status).toBe(200)
  await until(() => editor.cards.get(id)?.get('title') === 'renamed', 'the editor sees the API’s change')
}

const nothing = new Uint8Array([0, 0])

/** What becomes of a frame: a further update, of nothing, is acknowledged after it in any case. */
async function sendAndProbe(
  client: RawClient & { address: string },
  frame: Uint8Array,
): Promise<'acknowledged' | 'waits' | 'refused'> {
  const before = client.acknowledgements.length
  client.send(frame)
  await settle(client)
  if (client.closed) return 'refused'
  return client.acknowledgements.length >= before + 2 ? 'acknowledged' : 'waits'
}

/** Resolves when all that was sent has been dealt with. */
async function settle(client: RawClient & { address: string }): Promise<void> {
  const asked = client.received(type.sync).length
  const before = client.acknowledgements.length
  client.send(updateFrame(client.address, nothing))
  await until(
    () => client.acknowledgements.length > before || client.closed !== null,
    'the update is dealt with',
  )
  // An answer that comes after all acknowledgements.
  client.send(syncFrame(client.address, 0, Y.encodeStateVector(new Y.Doc())))
  await until(() => client.received(type.sync).length >= asked + 2 || client.closed !== null, 'an answer')
}

/** The update that a fresh document makes when something is done to it. */
function made(change: (doc: Y.Doc) => void, client?: number): Uint8Array {
  const doc = new Y.Doc()
  if (client !== undefined) doc.clientID = client
  change(doc)
  return Y.encodeStateAsUpdate(doc)
}

/** An update from hand-made structs, all of one client, and deleted ranges. */
function crafted(
  structs: (Y.Item | Y.GC)[],
  deletes: [client: number, clock: number, length: number][] = [],
) {
  const encoder = new Y.UpdateEncoderV1()
  encoding.writeVarUint(encoder.restEncoder, structs.length > 0 ? 1 : 0)
  if (structs.length > 0) {
    encoding.writeVarUint(encoder.restEncoder, structs.length)
    encoder.writeClient(structs[0]!.id.client)
    encoding.writeVarUint(encoder.restEncoder, structs[0]!.id.clock)
    for (const struct of structs) struct.write(encoder, 0)
  }
  const clients = [...new Set(deletes.map(([client]) => client))]
  encoding.writeVarUint(encoder.restEncoder, clients.length)
  for (const client of clients) {
    const ranges = deletes.filter(([of]) => of === client)
    encoding.writeVarUint(encoder.restEncoder, client)
    encoding.writeVarUint(encoder.restEncoder, ranges.length)
    for (const [, clock, length] of ranges) {
      encoding.writeVarUint(encoder.restEncoder, clock)
      encoding.writeVarUint(encoder.restEncoder, length)
    }
  }
  return encoder.toUint8Array()
}

const item = (
  client: number,
  clock: number,
  parent: string | Y.ID,
  key: string | null,
  content: Y.Item['content'],
  origin: Y.ID | null = null,
) => new Y.Item(Y.createID(client, clock), null, origin, null, null, parent as Y.ID, key, content)

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
    const doc = new Y.Doc()
    const made: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => made.push(update))
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
    const doc = new Y.Doc()
    const made: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => made.push(update))
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
    const document = service.live.documents.find(boardId)!.document
    expect(document.store.pendingStructs).toBeNull()
    await expectMemoryEqualsLog(service, boardId)
  })
})

describe('updates that no encoder writes', () => {
  const me = 4711
  const gc = (clock: number, length: number) => new Y.GC(Y.createID(me, clock), length)
  const deep = (levels: number) => {
    let value: unknown = 1
    for (let level = 0; level < levels; level++) value = [value]
    return value
  }
  const nested = (levels: number) =>
    Array.from({ length: levels }, (_, n) =>
      item(me, n, n === 0 ? 'cards' : Y.createID(me, n - 1), 'k', new Y.ContentType(new Y.Map())),
    )
  const refused: Record<string, { code: number; update: () => Uint8Array }> = {
    'a plain value of 10,000 levels': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentJSON([deep(10_000)]))]),
    },
    'a plain value of 300 levels': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([deep(300)]))]),
    },
    'a plain value of 200,000 values': {
      code: 1009,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([Array(200_000).fill(0)]))]),
    },
    'a plain value with a prototype of its own': {
      code: 4400,
      update: () =>
        crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([JSON.parse('{"__proto__":{"a":1}}')]))]),
    },
    '10,000 nested types': { code: 4400, update: () => crafted(nested(10_000)) },
    'a document in the document': {
      code: 4400,
      update: () => made((doc) => doc.getMap('cards').set('k', new Y.Doc())),
    },
    'a struct of no length': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentString(''))]),
    },
    'a clock that no number holds': { code: 4400, update: () => crafted([gc(0, Number.MAX_SAFE_INTEGER)]) },
    'a struct that hangs on itself': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([1]), Y.createID(me, 0))]),
    },
    'an entry of several values': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([1, 2]))]),
    },
    'deletions of nothing': { code: 4400, update: () => crafted([], [[me, 0, 0]]) },
    'deletions from the end to the beginning': {
      code: 4400,
      update: () =>
        crafted(
          [],
          Array.from({ length: 1000 }, (_, n): [number, number, number] => [me, 2000 - 2 * n, 1]),
        ),
    },
    'two parts of one client': {
      code: 4400,
      update: () => {
        const once = crafted([gc(0, 1)])
        return new Uint8Array([2, ...once.slice(1, -1), ...once.slice(1)])
      },
    },
    'more than the board may hold': {
      code: 1009,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny(['x'.repeat(5 * 1024 * 1024)]))]),
    },
    'new structs of the API': {
      code: 1013,
      update: () => crafted([item(2 ** 33, 0, 'cards', 'k', new Y.ContentAny([1]))]),
    },
  }

  test.for(Object.entries(refused))('[X12] %s: refused, not acknowledged', async ([, { code, update }]) => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const attacker = await enterBoard(boardId)
    attacker.update(update())
    expect(await attacker.untilClosed()).toBe(code)
    expect(attacker.acknowledgements).toEqual([])
    await expectUsable(boardId, innocent)
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X12] types cannot be nested deeper in many updates than in one, whatever their order', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const structs = nested(600)
    const parts = Array.from({ length: 6 }, (_, n) => crafted(structs.slice(n * 100, n * 100 + 100)))
    for (const order of [parts, parts.toReversed()]) {
      const attacker = await enterBoard(boardId)
      for (const part of order) attacker.update(part)
      expect(await attacker.untilClosed()).toBe(4400)
    }
    expect(depthOf(service.live.documents.find(boardId)!.document.getMap('cards'))).toBeLessThanOrEqual(201)
    await expectUsable(boardId, innocent)
    await expectMemoryEqualsLog(service, boardId)
  })

  function depthOf(map: Y.Map<unknown>): number {
    const inner = [...map.values()].filter((value) => value instanceof Y.Map)
    return 1 + Math.max(0, ...inner.map(depthOf))
  }

  test('[X13] structs of the API that the board holds already are taken for what they are', async () => {
    const boardId = await newBoard()
    await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })
    const client = await enterBoard(boardId)
    client.update(Y.encodeStateAsUpdate(client.documentOf(boardId)))
    await settle(client)
    expect(client.acknowledgements).toEqual([true, true])
  })

  test('[X12] a full board takes no more, but can be emptied', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(service.url, open(boardId))
    const half = 'x'.repeat(2_000_000)
    editor.addCard('first', { junk: half })
    await editor.saved()
    const attacker = await enterBoard(boardId)
    attacker.update(crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([half + half]))]))
    expect(await attacker.untilClosed()).toBe(1009)
    editor.cards.delete('first')
    await editor.saved()
  })

  test('[X14] the size of a board is measured anew when its log is merged: overwriting does not fill it', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(service.url, open(boardId))
    const card = editor.addCard('c')
    for (let n = 0; n < 20; n++) {
      card.set('junk', String(n).padEnd(300_000, 'x'))
      await editor.saved()
      if (n % 5 === 4) await service.compactor.compact(boardId)
    }
    expect(editor.closes).toEqual([])
  })

  test('[X15] a document whose transaction breaks is closed, and loaded anew from its log', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(service.url, open(boardId))
    editor.addCard('kept', { title: 'kept' })
    await editor.saved()
    const broken = service.live.documents.find(boardId)!.document
    broken.once('afterTransactionCleanup', () => {
      throw new Error('as if memory were at odds with itself')
    })
    editor.addCard('after', { title: 'after' })
    await until(() => editor.closes.length > 0, 'the board’s sockets are closed')
    expect(editor.closes[0]!.code).toBe(1013)
    await editor.saved()
    expect(service.live.documents.find(boardId)!.document).not.toBe(broken)
    const cards = await user.api.get(`/boards/${boardId}/cards`)
    expect(cards.body.cards.map((card: { id: string }) => card.id).sort()).toEqual(['after', 'kept'])
    await expectMemoryEqualsLog(service, boardId)
  })
})
