/** Editors and guests of a board whose owner's storage of documents is full. */
import { afterEach, expect, test } from 'vitest'
import { openEditor, until, type Editor } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'
import * as Y from 'yjs'
import { disconnectAll, enter } from '../support/raw-client.ts'
import { makeBoard, succeeded, type Shown } from '../api/board.ts'

afterEach(disconnectAll)

const quota = 300_000
const { here, there } = await nodesOfFile({
  workers: false,
  debounceMs: 20,
  config: { documentBytes: { free: quota, pro: quota }, freeCardCap: 100_000 },
})

const large = 'word '.repeat(4000)
const cardOf = (body = large) => ({ kind: 'note', x: 0, y: 0, body })
const cardsPath = (board: Shown) => `/boards/${board.id}/cards`
const usedBy = async (user: TestUser): Promise<number> => succeeded(await user.api.get('/me')).documents.used

interface Told {
  type: string
  full: boolean
  read_only: boolean
}

/** An editor, what it is told about the storage of documents, and whether its connection is read-only. */
async function open(url: string, user: TestUser, board: Shown) {
  const told: Told[] = []
  const editor = await openEditor(url, {
    boardId: board.id,
    token: user.token,
    stateless: (payload) => void told.push(JSON.parse(payload)),
  })
  return { ...editor, told, isReadOnly: () => editor.provider.authorizedScope === 'readonly' }
}

const isFull = { type: 'documents', full: true, read_only: false }
const isReadOnly = { type: 'documents', full: true, read_only: true }
const hasRoom = { type: 'documents', full: false, read_only: false }

let cards = 0
async function add(editor: Pick<Editor, 'addCard' | 'saved'>, body = large): Promise<string> {
  const id = `card-${(cards += 1)}`
  editor.addCard(id, { body })
  await editor.saved()
  return id
}

async function fillByEdits(editor: Editor, owner: TestUser): Promise<string[]> {
  const ids: string[] = []
  while ((await usedBy(owner)) <= quota) ids.push(await add(editor))
  return ids
}

async function makeRoom(editor: Editor, ids: string[], board: Shown): Promise<void> {
  editor.document.transact(() => ids.forEach((id) => editor.cards.delete(id)))
  await editor.saved()
  await here.compactor.compact(board.id)
}

test('[DQ13] an open editor is told once that there is no room, goes on, has its edits acknowledged, and is told when there is room', async () => {
  const owner = await here.user({ tier: 'free' })
  const board = await makeBoard(owner)
  const [one, two] = [await open(here.url, owner, board), await open(here.url, owner, board)]
  const ids = await fillByEdits(one, owner)
  await until(() => one.told.length > 0 && two.told.length > 0, 'both are told')
  ids.push(await add(one), await add(two))
  expect((await owner.api.post(cardsPath(board), cardOf('x'))).status).toBe(402)
  await here.gateway.checkAccess()
  expect([one.told, two.told, one.isReadOnly()]).toEqual([[isFull], [isFull], false])
  await makeRoom(one, ids, board)
  await until(() => one.told.length > 1 && two.told.length > 1, 'both are told that there is room')
  expect([one.told[1], two.told[1]]).toEqual([hasRoom, hasRoom])
  expect((await owner.api.post(cardsPath(board), cardOf())).status).toBe(201)
})

test('[DQ14] who opens a board of an owner without room is read-only and told why, on every node, and may write as soon as there is room', async () => {
  const owner = await here.user({ tier: 'free' })
  const board = await makeBoard(owner)
  const early = await open(here.url, owner, board)
  const ids = await fillByEdits(early, owner)
  const late = await open(there.url, owner, board)
  const other = await open(here.url, owner, await makeBoard(owner))
  await until(() => late.told.length > 0 && other.told.length > 0, 'both are told')
  expect([late.told, other.told]).toEqual([[isReadOnly], [isReadOnly]])
  expect([late.isReadOnly(), other.isReadOnly(), early.isReadOnly()]).toEqual([true, true, false])
  expect(late.cards.size).toBe(ids.length)
  late.addCard('refused-at-first')
  await makeRoom(early, ids, board)
  await until(() => !late.isReadOnly() && !other.isReadOnly(), 'they may write')
  await late.saved()
  expect([late.told.at(-1), other.told.at(-1)]).toEqual([hasRoom, hasRoom])
  await until(() => early.cards.has('refused-at-first'), 'what was written meanwhile arrives')
})

test('[DQ15] a guest adds at most a tenth of the owner’s quota over all boards of the owner, by the API and in an editor, while members go on', async () => {
  const [owner, guest, member] = [await here.user({ tier: 'free' }), await here.user(), await here.user()]
  const boards = [await makeBoard(owner), await makeBoard(owner)]
  await here.member(owner.workspaceId, member, 'editor')
  for (const board of boards) await here.share(board.id, guest, 'editor')
  const editing = await open(here.url, guest, boards[1]!)
  const answer = await guest.api.post(cardsPath(boards[0]!), cardOf())
  const { id } = succeeded(answer).cards[0]
  const refused = await guest.api.post(cardsPath(boards[0]!), cardOf())
  expect([refused.status, refused.body]).toEqual([
    402,
    { code: 'limit_reached', error: expect.stringMatching(/guest.*at most a tenth/) },
  ])
  await add(editing, 'x'.repeat(12_000))
  await until(() => editing.isReadOnly(), 'the open editor is read-only', 3000)
  expect(editing.told).toEqual([isReadOnly])
  const again = await open(there.url, guest, boards[0]!)
  expect(again.isReadOnly()).toBe(true)
  for (const user of [owner, member])
    for (const board of boards) {
      expect((await user.api.post(cardsPath(board), cardOf())).status).toBe(201)
      const editor = await open(here.url, user, board)
      await add(editor, 'members go on')
      expect([editor.isReadOnly(), editor.told]).toEqual([false, []])
    }
  expect((await guest.api.delete(`${cardsPath(boards[0]!)}/${id}`)).status).toBe(200)
  expect((await guest.api.post(cardsPath(await makeBoard(guest)), cardOf())).status).toBe(201)
  // A member is no guest, whatever was added before.
  await here.member(owner.workspaceId, guest, 'editor')
  expect((await guest.api.post(cardsPath(boards[0]!), cardOf())).status).toBe(201)
  await until(() => !editing.isReadOnly(), 'the open editor may write')
})

test('[DQ16] what guests have added shrinks with the board, in proportion', async () => {
  const [owner, guest] = [await here.user({ tier: 'free' }), await here.user()]
  const board = await makeBoard(owner)
  await here.share(board.id, guest, 'editor')
  const editor = await open(here.url, owner, board)
  const guestEditor = await open(here.url, guest, board)
  const ids = [await add(guestEditor), await add(editor)]
  expect((await guest.api.post(cardsPath(board), cardOf())).status).toBe(402)
  await makeRoom(editor, ids, board)
  const [row] = await here.admin<{ bytes: number; size: number }[]>`
    select g.bytes::integer, s.bytes::integer as size
    from guest_bytes g join document_sizes s on s.board_id = g.board_id
    where g.user_id = ${guest.userId}`
  expect(row!.bytes).toBeGreaterThan(0)
  expect(row!.bytes).toBeLessThan(row!.size)
  expect((await guest.api.post(cardsPath(board), cardOf())).status).toBe(201)
})

test('[DQ17] what a guest’s edits add is counted for the guest, not what others wrote in the same moment, nor what is sent again', async () => {
  const [owner, guest] = [await here.user({ tier: 'free' }), await here.user()]
  const board = await makeBoard(owner)
  await here.share(board.id, guest, 'editor')
  const [owners, guests] = [await open(here.url, owner, board), await open(here.url, guest, board)]
  owners.addCard('of-the-owner', { body: large })
  guests.addCard('of-the-guest', { body: 'x'.repeat(1000) })
  await Promise.all([owners.saved(), guests.saved()])
  guests.socket.webSocket!.close()
  await until(() => !guests.provider.isSynced, 'the guest is away')
  await until(() => guests.provider.isSynced, 'the guest is back')
  await add(guests, 'x'.repeat(1000))
  const [row] = await here.admin<{ bytes: number }[]>`
    select bytes::integer from guest_bytes where user_id = ${guest.userId}`
  expect(row!.bytes).toBeGreaterThan(2000)
  expect(row!.bytes).toBeLessThan(4000)
})

test('[DQ17] what a guest sends in an update that is applied in part counts, too', async () => {
  const [owner, guest] = [await here.user({ tier: 'free' }), await here.user()]
  const board = await makeBoard(owner)
  await here.share(board.id, guest, 'editor')
  const [whole, cut] = [new Y.Doc(), new Y.Doc()]
  whole.getText('hostile').insert(0, 'x'.repeat(20_000))
  cut.getText('other').insert(0, 'first')
  const before = Y.encodeStateVector(cut)
  cut.getText('other').insert(5, 'second')
  const raw = await enter(here.url, { boardId: board.id, token: guest.token })
  raw.update(Y.mergeUpdates([Y.encodeStateAsUpdate(whole), Y.encodeStateAsUpdate(cut, before)]))
  const counted = async () =>
    (await here.admin`select bytes::integer from guest_bytes where user_id = ${guest.userId}`)[0]?.['bytes']
  await until(async () => (await counted()) > 20_000, 'it is counted for the guest')
})
