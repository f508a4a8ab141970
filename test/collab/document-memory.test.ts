/** The memory that the documents of an account may take. */
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { clearLater, cleared } from '../../collab/updates/clear.ts'
import { limitCleanup } from '../../collab/updates/cleanup.ts'
import { countStructs, weigh, weightOf } from '../../collab/updates/weight.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { authFrame, connect, enter } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

/** An empty map takes 600 bytes, and five in an update. */
const accountMaps = 100_000
const { service, user } = await serviceOfFile({
  memory: {
    accountBytes: { free: accountMaps * 150, pro: accountMaps * 600 },
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
async function boardOf(maps: number) {
  const { id } = await makeBoard(user)
  const client = await enter(service.url, { boardId: id, token: user.token })
  const { add } = writer(client, maps)
  if (maps > 0) await add()
  return { id, client }
}

const memoryOf = (boardId: string) =>
  service.inMemory(boardId).reduce((sum, { document }) => sum + weightOf(document), 0)

/** Closes boards that take more than half of the share. */
const leave = async (boards: { id: string; client: Editor }[]) => {
  for (const { client } of boards) client.socket.close()
  const areGone = () => boards.every(({ id }) => service.inMemory(id).length === 0)
  await until(areGone, 'their documents have left', 10_000)
}

test('[X63] the memory of a document is estimated while it changes', async () => {
  const document = new Y.Doc()
  limitCleanup(document)
  clearLater(document)
  weigh(document)
  const list = document.getArray('list')
  list.push(Array.from({ length: 20_000 }, () => new Y.Map()))
  expect(weightOf(document) / 20_000).toBeGreaterThan(500)
  expect(weightOf(document) / 20_000).toBeLessThan(800)
  list.push(['x'.repeat(1_000_000), Array.from({ length: 30_000 }, () => ({}))])
  expect(weightOf(document)).toBeGreaterThan(16_000_000)
  list.delete(0, list.length)
  await cleared(document)
  countStructs(document)
  expect(weightOf(document)).toBeLessThan(10_000)

  const text = document.getText('text')
  for (let n = 0; n < 1000; n++) text.insert(n, 'x')
  countStructs(document)
  expect(weightOf(document)).toBeLessThan(20_000)
})

test('[X63] a document whose account has no memory left takes deletions only, and nothing acknowledged is lost', async () => {
  const board = await boardOf(0)
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
  const large = await boardOf(accountMaps * 0.9)
  await leave([large])
  const others = [await boardOf(accountMaps * 0.45), await boardOf(accountMaps * 0.4)]
  const refused = await connect(service.url)
  refused.send(authFrame(large.id, user.token))
  expect(await refused.untilClosed()).toBe(1013)
  expect((await user.api.get(`/boards/${large.id}`)).status).toBe(200)
  await leave(others)
  const client = await enter(service.url, { boardId: large.id, token: user.token })
  expect(memoryOf(large.id)).toBeGreaterThan(0)
  await leave([{ ...large, client }])
})

test('[X65] copies of documents count until their request has ended', async () => {
  const board = await boardOf(accountMaps * 0.8)
  const asOf = () => user.api.get(`/boards/${board.id}/cards?as_of=${new Date().toISOString()}`)
  const refused = await asOf()
  expect([refused.status, refused.body.code]).toEqual([503, 'session_unavailable'])
  await leave([board])
  for (let n = 0; n < 3; n++) expect((await asOf()).status).toBe(200)
  const { documents } = service.nodes[0]!.live
  await until(() => documents.counts().memoryBytes <= memoryOf(board.id), 'the copies have left')
})
