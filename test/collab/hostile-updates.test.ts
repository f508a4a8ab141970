import * as encoding from 'lib0/encoding'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/verify.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { processFaults } from '../support/process-faults.ts'
import { disconnectAll, enter, syncFrame, type, updateFrame, type RawClient } from '../support/raw-client.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({
    debounceMs: 50,
    bounds: { maxPendingBytes: 20_000, maxDocumentBytes: 4 * 1024 * 1024 },
  })
  user = await service.user()
})

afterEach(() => {
  leaveAll()
  disconnectAll()
})

afterAll(async () => {
  await service.stop()
  expect(processFaults()).toEqual([])
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
