/** The memory that the documents of an account may take. */
import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { clearLater, cleared } from '../../collab/updates/clear.ts'
import { limitCleanup } from '../../collab/updates/cleanup.ts'
import { weigh } from '../../collab/updates/weight.ts'
import { makeBoard, makeCards, succeeded } from '../api/board.ts'
import { made } from '../support/crafted-updates.ts'
import { until } from '../support/editor.ts'
import { authFrame, connect, enter } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

/** An empty map takes 600 bytes, and five in an update. */
const accountMaps = 100_000
const { service, user } = await serviceOfFile({
  memory: {
    accountBytes: { free: accountMaps * 140, pro: accountMaps * 600 },
    totalBytes: 3 * accountMaps * 600,
  },
})

afterEach(() => everybodyGone(service))

type Editor = Awaited<ReturnType<typeof enter>>

const full = { code: 1013, reason: 'the open boards of this account take too much memory' }

/** The updates of an editor, each with this many empty maps. */
function writer(client: Editor, mapsAtOnce: number) {
  const document = new Y.Doc()
  let update: Uint8Array = new Uint8Array()
  document.on('update', (bytes) => (update = bytes))
  const send = (change: (list: Y.Array<unknown>) => void) => {
    document.transact(() => change(document.getArray('filler')))
    client.update(update)
    const before = client.acknowledgements.length
    return until(
      () => client.acknowledgements.length > before || client.closed !== null,
      'it is answered',
      20_000,
    )
  }
  return {
    document,
    add: () => send((list) => list.push(Array.from({ length: mapsAtOnce }, () => new Y.Map()))),
    empty: () => send((list) => list.delete(0, list.length)),
  }
}

/** A board with so many maps. */
async function boardOf(maps: number, owner = user) {
  const { id } = await makeBoard(owner)
  const client = await enter(service.url, { boardId: id, token: owner.token })
  const { add } = writer(client, maps)
  if (maps > 0) await add()
  expect(client.closed).toBeNull()
  return { id, client }
}

const memoryOf = (boardId: string) =>
  service.inMemory(boardId).reduce((sum, { document }) => sum + weigh(document).bytes, 0)

/** What copies take. */
function ofCopies(): number {
  const { documents } = service.nodes[0]!.live
  return documents
    .all()
    .reduce((sum, { document }) => sum - weigh(document).bytes, documents.counts().memoryBytes)
}

/** Closes boards that take more than half of the share, while a small one is open. */
const leave = async (boards: { id: string; client: Editor }[], owner: typeof user) => {
  await boardOf(1, owner)
  for (const { client } of boards) client.socket.close()
  const areGone = () => boards.reduce((sum, { id }) => sum + memoryOf(id), 0) <= (accountMaps * 600) / 2
  await until(areGone, 'enough of their documents have left', 10_000)
}

test('[X63] the memory of a document is estimated while it changes', async () => {
  const document = new Y.Doc()
  limitCleanup(document)
  clearLater(document)
  const weight = weigh(document)
  const list = document.getArray('list')
  list.push(Array.from({ length: 20_000 }, () => new Y.Map()))
  expect(weight.bytes / 20_000).toBeGreaterThan(500)
  expect(weight.bytes / 20_000).toBeLessThan(800)
  list.push(['x'.repeat(1_000_000), Array.from({ length: 30_000 }, () => ({}))])
  expect(weight.bytes).toBeGreaterThan(16_000_000)
  list.delete(0, list.length)
  await cleared(document)
  weight.count()
  expect(weight.bytes).toBeLessThan(10_000)

  const text = document.getText('text')
  for (let n = 0; n < 1000; n++) text.insert(n, 'x')
  weight.count()
  expect(weight.bytes).toBeLessThan(20_000)
})

/** What `build` takes by the estimate, when its update is applied to a new document. */
function estimated(build: (document: Y.Doc) => void): number {
  const document = new Y.Doc()
  const weight = weigh(document)
  Y.applyUpdate(document, made(build))
  weight.count()
  return weight.bytes
}

const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))
const longName = 'x'.repeat(1_000_000)

/** What each of them took in memory, in bytes. A tenth more or less is no matter. */
const heavy: [string, (document: Y.Doc) => void, number][] = [
  ['long keys', (doc) => doc.getMap('a').set(longName, 1), 1_000_000],
  [
    'long keys without values',
    (doc) => {
      doc.getMap('a').set(longName, 1)
      doc.getMap('a').delete(longName)
    },
    1_000_000,
  ],
  ['keys of objects', (doc) => doc.getArray('a').push([{ [longName]: 1 }]), 1_000_000],
  [
    'many keys',
    (doc) =>
      doc.getArray('a').push(times(100, (n) => Object.fromEntries(times(100, (k) => [`${n} ${k}`, 1])))),
    10_000 * 70,
  ],
  [
    'different objects',
    (doc) => doc.getArray('a').push(times(10_000, (n) => ({ [`k${n}`]: 1 }))),
    10_000 * 250,
  ],
  ['lists in lists', (doc) => doc.getArray('a').push(times(10_000, () => [[[[1]]]])), 40_000 * 180],
  ['empty lists', (doc) => doc.getArray('a').push(times(10_000, () => [])), 10_000 * 40],
  ['names of elements', (doc) => doc.getXmlFragment('a').push([new Y.XmlElement(longName)]), 1_000_000],
  ['names of formats', (doc) => doc.getText('a').insert(0, 'a', { [longName]: 1 }), 2_000_000],
  ['roots', (doc) => times(5000, (n) => doc.getArray(`r${n}`).push([1])), 5000 * 800],
  [
    'clients',
    (doc) =>
      times(5000, (n) => {
        doc.clientID = n
        doc.getArray('a').insert(0, [1])
      }),
    5000 * 550,
  ],
]

test.each(heavy)('[X110] the estimate counts %s', (_name, build, bytes) => {
  expect(estimated(build)).toBeGreaterThan(0.9 * bytes)
})

test.each([Y.applyUpdate, Y.applyUpdateV2])(
  '[X110] bytes of a document do not keep the update in which they came',
  (apply) => {
    const build = (doc: Y.Doc) => {
      doc.getText('text').insert(0, 'x'.repeat(100_000))
      doc.getArray('list').push([new Uint8Array(3), [{ a: new Uint8Array(4) }]])
      doc.getMap('map').set('a', new Uint8Array(5))
    }
    const update = made(build)
    const document = new Y.Doc()
    weigh(document)
    apply(document, apply === Y.applyUpdate ? update : Y.convertUpdateFormatV1ToV2(update))
    const [first, second] = document.getArray('list').toArray() as [Uint8Array, [{ a: Uint8Array }]]
    const found = [first, second[0].a, document.getMap('map').get('a') as Uint8Array]
    expect(found.map(({ length }) => length)).toEqual([3, 4, 5])
    expect(found.map(({ buffer }) => buffer.byteLength)).toEqual([3, 4, 5])
  },
)

const change = fc.record({
  kind: fc.constantFrom('set', 'type', 'list', 'erase', 'remove', 'format', 'values', 'drop'),
  key: fc.constantFrom('a', 'b', 'long '.repeat(20)),
  text: fc.string({ maxLength: 20 }),
})

test('[X63] the estimate of what a document contains is that of a new document with the same content', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 60 }), async (changes) => {
      const document = new Y.Doc()
      limitCleanup(document)
      clearLater(document)
      const weight = weigh(document)
      const cards = document.getMap<Y.Map<unknown>>('cards')
      const words = document.getText('words')
      const list = document.getArray('list')
      for (const { kind, key, text } of changes) {
        const card = cards.get(key) ?? cards.set(key, new Y.Map<unknown>())
        if (kind === 'set') for (const name of ['x', 'y', 'x', 'y']) card.set(name, text)
        else if (kind === 'type') words.insert(text.length % (words.length + 1), text)
        else if (kind === 'erase') words.delete(0, Math.min(words.length, text.length))
        else if (kind === 'format') words.format(0, words.length, { bold: key === 'a' || null })
        else if (kind === 'list') for (const each of text) list.push([each, { each }])
        else if (kind === 'values') card.set('values', [text, { deep: [text, 1, null] }])
        else if (kind === 'remove') cards.delete(key)
        else if (list.length > 1) list.delete(1, Math.min(text.length, list.length - 1))
      }
      await cleared(document)
      const copy = new Y.Doc()
      const copied = weigh(copy)
      Y.applyUpdate(copy, Y.encodeStateAsUpdate(document))
      expect(weight.contentBytes).toBe(copied.contentBytes)
      weight.count()
      copied.count()
      expect(Math.abs(weight.structs - copied.structs)).toBeLessThan(10 + weight.structs / 4)
    }),
  )
})

test('[X63] a document whose account has no memory left takes deletions only, and nothing acknowledged is lost', async () => {
  const board = await boardOf(0)
  const cards = await makeCards(user, board.id, [{ body: 'Here before' }])
  const { add, document } = writer(board.client, 10_000)
  for (let n = 0; n < 30 && board.client.closed === null; n++) await add()
  expect(board.client.closed).toEqual(full)
  const acknowledged = board.client.acknowledgements.filter(Boolean).length
  expect(acknowledged).toBeGreaterThan(7)
  expect(memoryOf(board.id)).toBeLessThan(1.2 * accountMaps * 600)
  expect(document.getArray('filler').length).toBe(10_000 * (acknowledged + 1))

  const create = () =>
    user.api.post(`/boards/${board.id}/cards`, { cards: [{ kind: 'note', body: 'One', x: 0, y: 0 }] })
  const refused = await create()
  expect([refused.status, refused.body.code]).toEqual([503, 'session_unavailable'])
  expect(refused.body.error).toContain('memory')
  const [shown] = cards
  const moved = await user.api.patch(`/boards/${board.id}/cards/${shown!.id}`, { x: 500 })
  expect([moved.status, moved.body.code]).toEqual([503, 'session_unavailable'])
  expect((await user.api.delete(`/boards/${board.id}/cards/${shown!.id}`)).status).toBe(200)
  const other = await service.user()
  const { id } = await makeBoard(other)
  await makeCards(other, id, [{ body: 'Another account' }])

  const again = await enter(service.url, { boardId: board.id, token: user.token })
  const found = service.inMemory(board.id)[0]!.document.getArray('filler')
  // A part of the refused update may have been applied.
  expect(found.length).toBeGreaterThanOrEqual(10_000 * acknowledged)
  expect(found.length).toBeLessThan(10_000 * (acknowledged + 1))
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(found.doc!))
  let deletion: Uint8Array = new Uint8Array()
  copy.on('update', (bytes) => (deletion = bytes))
  copy.getArray('filler').delete(0, found.length)
  again.update(deletion)
  await until(async () => (await create()).status === 201, 'there is room again', 10_000)
  again.socket.close()
})

test('[X63] the share of a free account is smaller', async () => {
  const free = await service.user({ tier: 'free' })
  const { id } = await makeBoard(free)
  const client = await enter(service.url, { boardId: id, token: free.token })
  const { add } = writer(client, 10_000)
  for (let n = 0; n < 5 && client.closed === null; n++) await add()
  expect(client.closed).toEqual(full)
})

test('[X64] a board is not opened when the account has no memory for it, until its other boards are closed', async () => {
  // The documents of the tests before may still be in memory.
  const user = await service.user({ tier: 'pro' })
  const large = await boardOf(accountMaps * 0.9, user)
  await leave([large], user)
  const others = [await boardOf(accountMaps * 0.45, user), await boardOf(accountMaps * 0.4, user)]
  const refused = await connect(service.url)
  refused.send(authFrame(large.id, user.token))
  expect(await refused.untilClosed()).toBe(1013)
  expect((await user.api.get(`/boards/${large.id}`)).status).toBe(200)
  const isOpened = async () => (await user.api.get(`/boards/${large.id}/cards?include=raw`)).status === 200
  expect(await isOpened()).toBe(false)
  for (const other of others) other.client.socket.close()
  await until(isOpened, 'it is opened', 10_000)
})

test('[X65] copies of documents have a share of their own, until their request has ended', async () => {
  const free = await service.user({ tier: 'free' })
  const board = await boardOf(accountMaps * 0.2, free)
  const at = new Date().toISOString()
  await makeCards(free, board.id, [{ body: 'Later' }])
  const path = `/boards/${board.id}`
  for (let n = 0; n < 3; n++) expect((await free.api.get(`${path}/cards?as_of=${at}`)).status).toBe(200)
  // A diff needs two copies.
  const refused = await free.api.get(`${path}/diff?from=${at}&to=${new Date().toISOString()}`)
  expect([refused.status, refused.body.code]).toEqual([503, 'session_unavailable'])
  expect(board.client.closed).toBeNull()
  await until(() => ofCopies() === 0, 'the copies have left')
})

test('[X65] copies of removed cards that a request restores leave with it', async () => {
  const { id } = await makeBoard(user)
  for (const more of [{}, { on_conflict: 'identifier' }]) {
    const [card] = await makeCards(user, id, [{ body: 'To restore' }])
    const { card: removed } = succeeded(await user.api.delete(`/boards/${id}/cards/${card!.id}`))
    const { restore_token } = removed
    succeeded(
      await user.api.post(`/boards/${id}/cards`, {
        ...more,
        cards: [{ kind: 'note', x: 0, y: 0, restore_token }],
      }),
    )
    await until(() => ofCopies() === 0, 'the copies have left')
  }
})
