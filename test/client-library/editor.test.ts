/** The editor part of the client, with the stock provider on real sockets. */
import { afterEach, expect, onTestFinished, test } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import { newId, openLive } from '../../client/editor/index.ts'
import { makeBoard } from '../api/board.ts'
import { openEditor, TestSocket, until } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { gatedServiceOfFile } from '../support/test-file.ts'
import type { TestUser } from '../support/service.ts'
import { becomes, opening, status } from './open-boards.ts'

const { service, database, user } = await gatedServiceOfFile({
  debounceMs: 30,
  config: { documentBytes: { free: 10_000, pro: 100_000_000 } },
})
afterEach(() => database.release())
const opened = opening(service, user)
const newBoard = async (who: TestUser = user) => (await makeBoard(who)).id

test('[LB22] cards and groups are typed, written by the rules, and read with distrust', async () => {
  const id = await newBoard()
  const [here, there] = [opened(id), opened(id)]
  await Promise.all([here.ready, there.ready])
  const group = here.groups.add({ name: 'Harbour' })
  const card = here.cards.add({
    kind: 'note',
    title: 'Lighthouse',
    body: 'A\nB',
    x: 10.4,
    y: 20,
    group_id: group,
    mine: [1],
  })
  expect(card).toMatch(/^[\w-]{16}$/)
  await here.saved()
  const { body } = await user.api.get(`/boards/${id}/cards/${card}`)
  expect(body.card).toMatchObject({
    id: card,
    kind: 'note',
    title: 'Lighthouse',
    body: 'A\nB',
    x: 10,
    y: 20,
    w: 280,
    h: 180,
    z: 1,
    group_id: group,
  })
  // With an id, the same call makes one card however often it is repeated.
  expect(here.cards.add({ kind: 'note', title: 'Again' }, card)).toBe(card)
  expect(here.cards.find(card)!.title).toBe('Lighthouse')
  const own = newId()
  expect(there.cards.add({ kind: 'note', title: 'Own', z: undefined }, own)).toBe(own)
  expect(there.cards.get().at(-1)).toMatchObject({ id: own })
  await until(() => here.cards.find(own)?.title === 'Own', 'the card with its own id')
  there.cards.remove(own)
  await until(() => here.cards.find(own) === undefined, 'it is gone')
  await until(() => there.cards.find(card) !== undefined, 'the card is there')
  expect(there.cards.get()).toEqual([expect.objectContaining({ id: card, title: 'Lighthouse', mine: [1] })])
  expect(there.groups.get()).toEqual([
    { id: group, name: 'Harbour', color: null, shape: 'box', outline: true },
  ])

  const before = there.cards.find(card)
  const other = there.cards.add({ kind: 'note' })
  expect(there.cards.find(card)).toBe(before)
  expect(there.cards.find(other)!.z).toBe(2)
  expect(there.cards.change(card, { title: null, body: 'A\nand B' })).toBe(true)
  expect(there.cards.change('gone', { title: 'x' })).toBe(false)
  await until(() => here.cards.find(card)?.body === 'A\nand B', 'the change is here')
  expect(here.cards.find(card)).toMatchObject({ title: null, x: 10 })
  const raw = here.document.getMap<any>('cards')
  raw.set('hostile', 5)
  expect(here.cards.change('hostile', { title: 'x' })).toBe(false)
  expect(here.cards.text('hostile')).toBeNull()
  raw.set('kindless', new Y.Map())
  raw.set(
    'wild',
    new Y.Map([
      ['kind', 'note'],
      ['x', Infinity],
      ['w', 1],
      ['title', 5],
    ] as [string, unknown][]),
  )
  expect(here.cards.get().map(({ id }) => id)).toEqual(['wild', card, other])
  expect(here.cards.find('wild')).toMatchObject({ x: 0, w: 40, title: null, body: '' })
  here.cards.remove(card)
  expect(here.cards.find(card)).toBeUndefined()
})

test('[LB27] with undo, a field that was written several times at once and offline is taken as it is', async () => {
  const id = await newBoard()
  const [board, other] = [opened(id), opened(id)]
  await Promise.all([board.ready, other.ready])
  const card = board.cards.add({ kind: 'note', x: 0 })
  board.transact(() => {
    for (const x of [1, 2, 3, 4]) board.cards.change(card, { x })
  })
  await board.saved()
  const { websocketProvider: socket } = board.provider.configuration
  socket.disconnect()
  for (const x of [5, 6, 7]) board.cards.change(card, { x, title: `At ${x}` })
  await until(() => socket.status === 'disconnected', 'it is offline')
  void socket.connect()
  await board.saved()
  await until(() => other.cards.find(card)?.title === 'At 7', 'the other editor shows it')
  board.undo()
  await board.saved()
  await until(() => other.cards.find(card) === undefined, 'undo takes all of it back, in one step')
  expect(status(board)).toMatchObject({ connection: 'open', reason: null })
  await expectMemoryEqualsLog(service, id)
})

test('[LB24] a refusal and a closed socket have a reason with what to do; a new token is asked for once', async () => {
  const id = await newBoard()
  const asked: boolean[] = []
  const { token: second } = await service.token(user, {})
  const short = await service.token(user, {})
  const board = opened(id, {
    token: ({ refused }) => {
      asked.push(refused)
      return refused ? second : short.token
    },
  })
  await board.ready
  // The token ends while the board is open.
  await user.api.get('/me')
  await service.admin`update tokens set revoked_at = now() where id = ${short.tokenId}`
  await until(
    () => asked.length === 2 && status(board).connection === 'open',
    'it is back with another token',
  )
  expect(asked).toEqual([false, true])

  const fixed = opened(id, { token: 'cork_old' })
  await expect(fixed.ready).rejects.toThrow('Get a new one')
  await becomes(fixed, { connection: 'closed', reason: 'token-invalid' })
  const stranger = opened(id, { token: (await service.user()).token })
  await expect(stranger.ready).rejects.toThrow('Do not come back with this account')
  const mistyped = opened(`${id.slice(0, -1)}/`)
  await expect(mistyped.ready).rejects.toThrow('There is no such board')
  await becomes(mistyped, { connection: 'closed', reason: 'permission-denied' })
  const useless = opened(id, { token: () => 'cork_old' })
  await expect(useless.ready).rejects.toThrow('Get a new one')

  const trashed = opened(id)
  await trashed.ready
  await user.api.delete(`/boards/${id}`)
  await becomes(trashed, { connection: 'closed', reason: 'access-ended' })
  await user.api.post(`/boards/${id}/restore`)
  trashed.reconnect()
  await becomes(trashed, { connection: 'open', reason: null })
})

test('[LB25] a drag is shown to others without being written, and written when it ends; undo takes back own changes alone', async () => {
  const id = await newBoard()
  const [here, there] = [opened(id), opened(id)]
  await Promise.all([here.ready, there.ready])
  const card = here.cards.add({ kind: 'note', x: 100, y: 100 })
  await until(() => there.cards.find(card) !== undefined, 'the card is there')
  here.show({ user: { name: 'Ada' } })
  const drag = here.drag([card])
  for (let n = 1; n <= 50; n++) drag.move(n, 2 * n)
  await until(() => there.drags.get().get(card)?.x === 150, 'the drag is shown')
  expect(there.drags.get().get(card)).toEqual({ x: 150, y: 200 })
  expect(there.cards.find(card)!.x).toBe(100)
  const ada = () => there.people.get().find(({ isMe }) => !isMe)
  expect(ada()).toMatchObject({
    account: { id: user.userId },
    agent: false,
    state: { user: { name: 'Ada' } },
  })
  drag.drop()
  await until(() => there.cards.find(card)!.x === 150 && there.drags.get().size === 0, 'the drop is there')
  here.drag([card]).cancel()

  const theirs = there.cards.add({ kind: 'note', title: 'Theirs' })
  await until(() => here.cards.find(theirs) !== undefined, 'their card is here')
  expect(here.history.get()).toEqual({ canUndo: true, canRedo: false })
  here.undo()
  expect(here.cards.find(card)).toBeUndefined()
  expect(here.cards.find(theirs)).toBeDefined()
  expect(here.history.get()).toEqual({ canUndo: false, canRedo: true })
  here.redo()
  expect(here.cards.find(card)).toMatchObject({ x: 150, y: 200 })
  there.show({ drag: { [card]: ['no', null], other: 5 } })
  expect(there.drags.get().size).toBe(0)
})

test('[LB26] what an offline store has kept is not called saved before the service has it', async () => {
  const id = await newBoard()
  const earlier = new Y.Doc()
  earlier.getMap('cards').set(
    'kept',
    new Y.Map([
      ['kind', 'note'],
      ['title', 'Kept'],
    ] as [string, unknown][]),
  )
  const names: string[] = []
  let [destroyed, cleared] = [0, 0]
  database.hold()
  const board = opened(id, {
    store: (name, document) => {
      names.push(name)
      const whenSynced = Promise.resolve().then(() =>
        Y.applyUpdate(document, Y.encodeStateAsUpdate(earlier), 'store'),
      )
      return { whenSynced, destroy: () => (destroyed += 1), clearData: () => (cleared += 1) }
    },
  })
  await board.ready
  expect(names).toEqual([`corkboard:${id}`])
  expect(board.cards.find('kept')).toMatchObject({ title: 'Kept' })
  await becomes(board, { connection: 'open', loaded: true, kept: true, saved: false })
  database.release()
  await board.saved()
  const other = await openEditor(service.url, { boardId: id, token: user.token })
  expect(other.cards.has('kept')).toBe(true)
  other.leave()
  expect(cleared).toBe(0)
  board.close()
  expect(destroyed).toBe(1)

  const empty = { whenSynced: Promise.resolve(), destroy: () => undefined, clearData: () => (cleared += 1) }
  const denied = opened(id, { token: (await service.user()).token, store: () => empty })
  await expect(denied.ready).rejects.toThrow('Do not come back with this account')
  expect(cleared).toBe(1)
})

test('[LB26] messages of the service are passed on, and a full storage is in the status', async () => {
  const poor = await service.user({ tier: 'free' })
  const messages: object[] = []
  const board = opened(await newBoard(poor), {
    token: poor.token,
    onMessage: (message) => messages.push(message),
  })
  await board.ready
  expect(status(board).full).toBe(false)
  board.cards.add({ kind: 'note', body: 'word '.repeat(4000) })
  await board.saved()
  await until(() => status(board).full, 'the storage is full')
  expect(messages).toEqual([{ type: 'documents', full: true, read_only: false }])
})

test('[LB28] a live list is read at the beginning, resumes after a lost connection, and counts people', async () => {
  const id = await newBoard()
  const sockets: WebSocket[] = []
  const resumes = { areLost: false, lost: 0 }
  class Kept extends TestSocket {
    constructor(url: string) {
      super(url)
      sockets.push(this)
    }
    override send(data: any): void {
      if (resumes.areLost && Buffer.from(data).includes('"resume"')) resumes.lost += 1
      else super.send(data)
    }
  }
  const told: string[] = []
  let people: ReadonlyMap<string, number> = new Map()
  const list = openLive({
    url: service.url,
    name: `workspace:${user.workspaceId}`,
    token: () => user.token,
    WebSocket: Kept,
    onReset: () => told.push('reset'),
    // What happened just before the list was read may be told, too.
    onEvent: ({ type, board, data }) =>
      type === 'board.updated' && board?.id === id && told.push(`renamed ${String(data['name'])}`),
    onPeople: (counted) => (people = counted),
  })
  onTestFinished(() => list.close())
  await until(() => told.length === 1, 'it is read')
  const rename = (name: string) => user.api.patch(`/boards/${id}`, { name })
  await rename('One')
  await until(() => told.length === 2, 'the event is there')
  const board = opened(id)
  await until(() => people.get(id) === 1, 'one is on the board')
  sockets.at(-1)!.terminate()
  await rename('Two')
  await until(() => told.includes('renamed Two'), 'it has resumed')
  await rename('Three')
  await until(() => told.includes('renamed Three'), 'it goes on')
  expect(told.filter((one, at) => told.indexOf(one) === at)).toEqual([
    'reset',
    'renamed One',
    'renamed Two',
    'renamed Three',
  ])
  expect(told.filter((one) => one === 'reset')).toHaveLength(1)
  // A connection is lost before its resume arrives, but after a newer event has come.
  resumes.areLost = true
  sockets.at(-1)!.terminate()
  await rename('Four')
  await until(() => resumes.lost === 1, 'it wants to resume')
  await rename('Five')
  await until(() => told.includes('renamed Five'), 'what is new comes')
  expect(told).not.toContain('renamed Four')
  resumes.areLost = false
  sockets.at(-1)!.terminate()
  await until(() => told.includes('renamed Four'), 'what was missed comes')
  board.close()
  await until(() => people.size === 0, 'nobody is left')
  const refused = openLive({
    ...{ url: service.url, name: `workspace:${crypto.randomUUID()}`, token: user.token, WebSocket: Kept },
    ...{ onReset: () => told.push('never'), onEvent: () => undefined },
  })
  onTestFinished(() => refused.close())
  await until(() => refused.status.get().reason?.name === 'permission-denied', 'it is refused')
})

test('[LB29] a board is opened as it was, read-only; a moment that is not kept is told as a reason', async () => {
  const id = await newBoard()
  const path = `/boards/${id}/cards`
  const { body } = await user.api.post(path, { kind: 'note', title: 'Before', x: 0, y: 0 })
  const [{ id: card }] = body.cards
  await user.api.patch(`${path}/${card}`, { title: 'After' })
  const { body: history } = await user.api.get(`/boards/${id}/history`)
  const past = opened(id, { asOf: String(history.entries.at(-1).position) })
  await past.ready
  expect(past.cards.find(card)?.title).toBe('Before')
  expect(status(past)).toMatchObject({ connection: 'open', readOnly: true })
  past.cards.change(card, { title: 'Rewritten' })
  const never = opened(id, { asOf: '2001-01-01T00:00:00Z' })
  await becomes(never, { connection: 'closed', reason: 'no-such-moment' })
  expect((await user.api.get(`${path}/${card}`)).body.card.title).toBe('After')
})
