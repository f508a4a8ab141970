/**
 * Large boards that canvases show without a document in memory, until somebody edits them.
 * `ROUNDS=40 SEED=7 npm test -- test/collab/stored-boards.test.ts` for more.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type * as Y from 'yjs'
import { makeCards, succeeded } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import type { TestService } from '../support/service.ts'
import { expectIndexesRight, nodesOfFile } from '../support/test-file.ts'
import { contentOf, expectShown, isBuilt, makeLarge as makeLargeBoard } from './large-board.ts'

const { here, there, user } = await nodesOfFile({ debounceMs: 50, compactRows: 20 })
const viewer = await here.user()
const apiThere = new ApiClient(there.url, user.token)

afterEach(leaveAll)

const rounds = Number(process.env['ROUNDS'] ?? 2)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

async function makeLarge() {
  const made = await makeLargeBoard(here, user)
  await here.share(made.id, viewer, 'viewer')
  return made
}

const open = (service: TestService, boardId: string, who = user) =>
  openEditor(service.url, { boardId, token: who.token })

test('[X120] a large board is shown without a document, with what the API writes meanwhile', async () => {
  const { id } = await makeLarge()
  const first = [await open(here, id), await open(here, id, viewer)]
  expect(isBuilt(here, id)).toEqual([false])
  const made = succeeded(
    await user.api.post(`/boards/${id}/cards`, { cards: [{ kind: 'note', x: 1, y: 2, title: 'New' }] }),
  )
  expect(made.live).toBe(true)
  for (const { cards } of first) await until(() => cards.has(made.cards[0].id), 'it is shown')
  const later = await open(here, id)
  await expectShown(here, [...first, later], id)
  expect(isBuilt(here, id)).toEqual([false])
  expect(here.inMemory(id)[0]!.document.store.clients.size).toBe(0)
  first[0]!.provider.setAwarenessField('cursor', { x: 1, y: 1 })
  await until(() => later.provider.awareness!.getStates().size >= 2, 'cursors are passed on')
  expect(isBuilt(here, id)).toEqual([false])
})

test('[X120] another node writes while the board is shown here, without a document and in time', async () => {
  const { id } = await makeLarge()
  const editors = [await open(here, id), await open(here, id, viewer)]
  for (let n = 0; n < 5; n++) {
    const made = succeeded(
      await apiThere.post(`/boards/${id}/cards`, {
        cards: [{ kind: 'note', x: n, y: 2, title: `New ${n}` }],
      }),
    )
    expect(made.live).toBe(true)
    for (const { cards } of editors) expect(cards.has(made.cards[0].id)).toBe(true)
  }
  expect(isBuilt(here, id)).toEqual([false])
  await expectShown(here, editors, id)
})

test('[X121] the first edit builds the document: it is acknowledged, shown and indexed, and nothing is missed', async () => {
  const { id, cards } = await makeLarge()
  const editors = [await open(here, id), await open(here, id, viewer), await open(there, id)]
  const [ada, ben, eve] = editors as [Editor, Editor, Editor]
  const writes = Array.from({ length: 5 }, (_, n) => makeCards(user, id, [{ title: `Beside ${n}` }]))
  ada.addCard('mine', { title: 'Mine' })
  ada.cards.get(cards[3]!.id)!.set('title', 'Edited')
  await ada.saved()
  await Promise.all(writes)
  expect(isBuilt(here, id)).toEqual([true])
  await until(() => ben.cards.get(cards[3]!.id)!.get('title') === 'Edited', 'others are shown the edit')
  await until(() => eve.cards.has('mine'), 'those on another node, too')
  await expectShown(here, editors, id)
  expect(succeeded(await user.api.get(`/boards/${id}/cards/${cards[3]!.id}`)).card.title).toBe('Edited')
  succeeded(await user.api.patch(`/boards/${id}/cards/${cards[4]!.id}`, { title: 'Patched' }))
  await until(() => eve.cards.get(cards[4]!.id)!.get('title') === 'Patched', 'a change by the API is shown')
  await expectShown(here, editors, id)
  await expectMemoryEqualsLog(here, id)
  await expectIndexesRight(here)
})

test('[X121] a client that comes back with edits gets what it lacks, and its edits are kept', async () => {
  const { id, cards } = await makeLarge()
  const before = await open(here, id)
  const document = before.document
  before.leave()
  await until(() => here.counts().sockets === 0, 'it has left')
  for (const board of here.inMemory(id)) board.use(0)
  for (const { live } of here.nodes) live.documents.sweep()
  await until(() => here.inMemory(id).length === 0, 'the board has left memory')
  ;(document.getMap('cards').get(cards[0]!.id) as Y.Map<unknown>).set('title', 'Offline')
  await makeCards(user, id, [{ title: 'Meanwhile' }])
  const again = await openEditor(here.url, { boardId: id, token: user.token, document })
  await again.saved()
  await expectShown(here, [again], id)
  expect((await contentOf(here, id))[cards[0]!.id]).toMatchObject({ title: 'Offline' })
})

test(
  `[X122] whatever joins, leaves, writes and edits at the same time, all canvases show the log (seed ${seed})`,
  { timeout: 30_000 + rounds * 15_000 },
  async () => {
    const random = new Random(seed)
    for (let round = 0; round < rounds; round++) {
      const { id, cards } = await makeLarge()
      const editors: Editor[] = [await open(here, id)]
      const work: Promise<unknown>[] = []
      for (let step = 0; step < 24; step++) {
        const isHere = random.chance(0.5)
        const api = isHere ? user.api : apiThere
        const one = `/boards/${id}/cards/${random.pick(cards).id}`
        const joins = async () =>
          editors.push(await open(isHere ? here : there, id, random.pick([user, viewer])))
        const creates = () => makeCardsBy(api, id, step)
        const patches = async () => succeeded(await api.patch(one, { title: `P${step}` }))
        const edits = async () => editors[0]!.addCard(`r${round}s${step}`)
        const leaves = async () => editors.length > 1 && editors.pop()!.leave()
        work.push(random.pick(step < 8 ? [joins, creates] : [joins, creates, patches, edits, leaves])())
        await delay(random.between(0, 30))
      }
      await Promise.all(work)
      await editors[0]!.saved()
      await expectShown(here, editors, id)
      leaveAll()
    }
    await expectIndexesRight(here)
  },
)

const makeCardsBy = async (api: ApiClient, boardId: string, x: number) =>
  succeeded(await api.post(`/boards/${boardId}/cards`, { cards: [{ kind: 'note', x, y: 0 }] }))
