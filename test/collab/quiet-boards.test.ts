/**
 * Large boards that stay open while nobody changes them: their documents leave memory.
 * `ROUNDS=40 SEED=7 npm test -- test/collab/quiet-boards.test.ts` for more.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import * as Y from 'yjs'
import { LogLoader } from '../../collab/documents/load.ts'
import { makeCards, succeeded } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { disconnectAll, enter } from '../support/raw-client.ts'
import type { TestService } from '../support/service.ts'
import { expectIndexesRight, nodesOfFile } from '../support/test-file.ts'
import { expectShown, makeLarge } from './large-board.ts'

const { here, there, user } = await nodesOfFile({ debounceMs: 50, compactRows: 20, accessCheckMs: 100 })
const apiThere = new ApiClient(there.url, user.token)

afterEach(() => {
  leaveAll()
  disconnectAll()
})

const rounds = Number(process.env['ROUNDS'] ?? 2)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const open = (service: TestService, boardId: string, document?: Y.Doc) =>
  openEditor(service.url, { boardId, token: user.token, ...(document ? { document } : {}) })

const inMemory = (boardId: string) => [here, there].flatMap((service) => service.inMemory(boardId))
const putAway = (boardId: string) => inMemory(boardId).map((board) => board.putAway())

/** Waits until all nodes that have the board have dropped its document. */
const isPutAway = (boardId: string) =>
  until(
    () => putAway(boardId) && inMemory(boardId).every((board) => !board.isBuilt),
    'the document is dropped',
  )

test('[X134] a quiet board loses its document; its canvases get what is written here and elsewhere, and the next edit builds it', async () => {
  const { id, cards } = await makeLarge(here, user)
  const [ada, ben, eve] = [await open(here, id), await open(here, id), await open(there, id)] as const
  for (let round = 0; round < 2; round++) {
    ada.addCard(`mine${round}`, { title: 'Mine' })
    eve.cards.get(cards[round]!.id)!.delete('title')
    await Promise.all([ada.saved(), eve.saved()])
    await isPutAway(id)
    await delay(300) // what a node had read of the index before may tell it to look again
    await isPutAway(id)
    for (const { document } of inMemory(id)) expect(document.store.clients.size).toBe(0)
    for (const api of [user.api, apiThere]) {
      const body = { cards: [{ kind: 'note', x: 1, y: 2, title: `Round ${round}` }] }
      const made = succeeded(await api.post(`/boards/${id}/cards`, body))
      expect(made.live).toBe(true)
      for (const editor of [ada, ben, eve]) expect(editor.cards.has(made.cards[0].id)).toBe(true)
    }
    expect(inMemory(id).map((board) => board.isBuilt)).toEqual([false, false])
  }
  const late = await open(here, id)
  await expectShown(here, [ada, ben, eve, late], id)
  ben.cards.get('mine0')!.set('title', 'His')
  ben.cards.delete('mine1')
  await ben.saved()
  await until(() => eve.cards.get('mine0')!.get('title') === 'His', 'another node shows the edit')
  await expectShown(here, [ada, ben, eve, late], id)
  for (const service of [here, there]) await expectMemoryEqualsLog(service, id)
  await expectIndexesRight(here)
})

test('[X135] a document that a request uses stays', async () => {
  const { id } = await makeLarge(here, user)
  const ada = await open(here, id)
  ada.addCard('mine')
  await ada.saved()
  const lease = await here.live.documents.lease(id)
  await delay(300) // it is indexed
  expect(putAway(id)).toEqual([false])
  lease.release()
  await isPutAway(id)
})

test('[X135] who joins while the document is built gets the whole board, although it is quiet again', async () => {
  const { id } = await makeLarge(here, user)
  const ada = await open(here, id)
  await here.live.documents.withDocument(id, () => undefined)
  await isPutAway(id)
  // The join reads the log after the building has read it, and gets it when the document has been dropped again.
  const building = slowed('apply')
  const reading = slowed('encode')
  ada.addCard('mine')
  await until(() => building.mock.calls.length === 1, 'the document is being built')
  const joining = open(here, id)
  await ada.saved()
  const timer = setInterval(() => putAway(id), 1)
  const ben = await joining
  clearInterval(timer)
  expect(reading.mock.calls.length).toBe(1)
  await expectShown(here, [ada, ben], id)
})

/** Loads take half a second more. */
function slowed(what: 'apply' | 'encode') {
  const load: (...given: never[]) => Promise<unknown> = LogLoader.prototype[what]
  const slow = vi.spyOn(LogLoader.prototype, what)
  slow.mockImplementation(async function (this: LogLoader, ...given: unknown[]): Promise<never> {
    const loaded = await load.apply(this, given as never[])
    await delay(500)
    return loaded as never
  })
  onTestFinished(() => slow.mockRestore())
  return slow
}

test('[X135] a document stays while an update waits for what it builds on', async () => {
  const { id } = await makeLarge(here, user)
  const ada = await open(here, id)
  ada.addCard('mine')
  await ada.saved()
  const document = new Y.Doc()
  document.clientID = 4711
  const updates: Uint8Array[] = []
  document.on('update', (update: Uint8Array) => updates.push(update))
  for (const name of ['first', 'second']) document.getMap('cards').set(name, new Y.Map([['kind', 'note']]))
  const client = await enter(here.url, { boardId: id, token: user.token })
  client.update(updates[1]!)
  await delay(300)
  expect(putAway(id)).toEqual([false])
  client.update(updates[0]!)
  await until(() => ada.cards.has('second'), 'both are applied')
  await isPutAway(id)
})

test(
  `[X136] whenever documents are dropped, all canvases show the log (seed ${seed})`,
  { timeout: 30_000 + rounds * 20_000 },
  async () => {
    const random = new Random(seed)
    let dropped = 0
    for (let round = 0; round < rounds; round++) {
      const { id, cards } = await makeLarge(here, user)
      const editors: Editor[] = [await open(here, id), await open(there, id)]
      const undo = new Y.UndoManager(editors[0]!.cards, { captureTimeout: 0 })
      const work: Promise<unknown>[] = []
      let left: Y.Doc | null = null
      const drops = async () => (dropped += putAway(id).filter(Boolean).length)
      const timer = setInterval(() => void drops(), 15)
      for (let step = 0; step < 40; step++) {
        const [place, api] = random.pick([
          [here, user.api],
          [there, apiThere],
        ] as const)
        const one = random.pick(cards).id
        const editor = random.pick(editors)
        const steps: (() => unknown)[] = [
          async () => editors.push(await open(place, id)),
          () => makeCards(user, id, [{ title: `Made ${step}` }]),
          async () => succeeded(await api.patch(`/boards/${id}/cards/${one}`, { title: `P${step}` })),
          async () => succeeded(await api.get(`/boards/${id}/cards?limit=2`)),
          () => editor.addCard(`r${round}s${step}`, { body: 'words' }),
          () => editor.cards.get(one)?.set('x', step),
          () => undo.undo(),
          () => void (editors.length > 2 && (left = leave(editors))),
          async () => left && editors.push(await open(place, id, offline(left, one, step))),
        ]
        work.push(Promise.resolve(random.pick(steps)()))
        await Promise.race([work.at(-1), delay(random.between(0, 60))])
        if (random.chance(0.3)) await delay(random.between(50, 400))
      }
      clearInterval(timer)
      await Promise.all(work)
      await Promise.all(editors.map((editor) => editor.saved()))
      await delay(200)
      await expectShown(here, editors, id)
      for (const service of [here, there]) await expectMemoryEqualsLog(service, id)
      leaveAll()
    }
    expect(dropped).toBeGreaterThan(rounds)
    await expectIndexesRight(here)
  },
)

function leave(editors: Editor[]): Y.Doc {
  const editor = editors.pop()!
  editor.leave()
  return editor.document
}

function offline(document: Y.Doc, cardId: string, step: number): Y.Doc {
  document.getMap<Y.Map<unknown>>('cards').get(cardId)?.set('title', `Offline ${step}`)
  return document
}
