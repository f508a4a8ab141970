/** Boards of the client library that open with a store, with a token that takes time, and again after a loss of the connection. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { BoardOptions, OpenBoard } from '../../client/editor/index.ts'
import { makeBoard } from '../api/board.ts'
import { openEditor, TestSocket, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { opening } from './open-boards.ts'

const { service, user } = await serviceOfFile()
const opened = opening(service, user)
const newBoard = async () => (await makeBoard(user)).id
const socketOf = ({ provider }: OpenBoard) =>
  provider.configuration.websocketProvider.webSocket as unknown as WebSocket | null

const note = (body: string) => {
  const card = new Y.Map<unknown>([['kind', 'note']])
  card.set('body', new Y.Text(body))
  return card
}

/** The state of a board with so many notes of 100 KB. */
function largeState(notes: number): Uint8Array {
  const document = new Y.Doc()
  for (let n = 0; n < notes; n++) document.getMap('cards').set(`kept-${n}`, note('x'.repeat(100_000)))
  return Y.encodeStateAsUpdate(document)
}

const storeOf =
  (state: Uint8Array, reading: () => Promise<unknown>): NonNullable<BoardOptions['store']> =>
  (_name, document) => ({
    whenSynced: reading().then(() => Y.applyUpdate(document, state, 'store')),
    destroy: () => undefined,
  })

test('[LB33] a board opens with what its store has kept, when the token comes later than that', async () => {
  const board = opened(await newBoard(), {
    token: () => delay(500, user.token),
    store: storeOf(largeState(2), () => delay(200)),
  })
  await until(() => board.status.get().kept, 'the store is read')
  await board.saved()
  expect(board.status.get()).toMatchObject({ connection: 'open', reason: null })
})

test('[LB33] a board of more than a frame opens with its store, and what both sides have is not sent', async () => {
  const id = await newBoard()
  const state = largeState(90)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const source = new Y.Doc()
  Y.applyUpdate(source, state)
  for (const name of source.getMap('cards').keys()) {
    editor.cards.set(name, note('x'.repeat(100_000)))
    await editor.saved()
  }
  const kept = Y.encodeStateAsUpdate(editor.document)
  editor.leave()
  let sentBytes = 0
  let receivedBytes = 0
  class CountedSocket extends TestSocket {
    constructor(url: string) {
      super(url)
      this.on('message', (data: Buffer) => (receivedBytes += data.byteLength))
    }
    override send(data: Uint8Array): void {
      sentBytes += data.byteLength
      super.send(data)
    }
  }
  const options = { WebSocket: CountedSocket, store: storeOf(kept, () => delay(300)) }
  const board = opened(id, options)
  await until(() => board.status.get().kept, 'the store is read')
  await board.saved()
  expect(board.status.get()).toMatchObject({ connection: 'open', reason: null })
  expect(sentBytes + receivedBytes).toBeLessThan(20_000)
})

test('[LB33] a board opens without its store when that does not answer', async () => {
  const never = new Promise<never>(() => undefined)
  const board = opened(await newBoard(), { store: () => ({ whenSynced: never, destroy: () => undefined }) })
  await board.ready
  board.cards.add({ kind: 'note' })
  await board.saved()
  const closed = opened(await newBoard(), { store: () => ({ whenSynced: never, destroy: () => undefined }) })
  closed.close()
  await expect(closed.ready).rejects.toThrow('could not be opened')
})

test('[LB33] what is typed while a token is fetched is sent after it', async () => {
  const id = await newBoard()
  const { promise: token, resolve: fetched } = Promise.withResolvers<string>()
  const board = opened(id, { token: () => token })
  await until(() => socketOf(board)?.readyState === 1, 'the socket is open')
  for (let n = 0; n < 3; n++) board.cards.add({ kind: 'note', body: 'y'.repeat(50_000) })
  await delay(200)
  fetched(user.token)
  await board.saved()
  expect((await user.api.get(`/boards/${id}/cards`)).body.total).toBe(3)
  expect(board.provider.unsyncedChanges).toBe(0)
})

test('[LB33] what is typed while the service looks at a token that it refuses is sent after the next one', async () => {
  const id = await newBoard()
  let sent = 0
  class PastingSocket extends TestSocket {
    override send(data: Uint8Array): void {
      super.send(data)
      sent += 1
      // The first message is the token.
      if (sent === 1) for (let n = 0; n < 3; n++) board.cards.add({ kind: 'note', body: 'y'.repeat(50_000) })
    }
  }
  const board = opened(id, {
    WebSocket: PastingSocket,
    token: ({ refused }) => (refused ? user.token : 'cork_old'),
  })
  await until(() => board.cards.get().length === 3, 'it is typed')
  await board.saved()
  expect((await user.api.get(`/boards/${id}/cards`)).body.total).toBe(3)
})

test('[LB34] an editor that comes back sees those who have done nothing meanwhile', async () => {
  const id = await newBoard()
  const [here, there] = [opened(id), opened(id)]
  await Promise.all([here.ready, there.ready])
  there.show({ user: { name: 'Ada' } })
  const sees = () => here.people.get().some(({ isMe, state }) => !isMe && state['user'] !== undefined)
  await until(sees, 'the other is seen')
  socketOf(here)!.terminate()
  await until(() => !sees(), 'the connection is lost')
  await until(() => here.status.get().connection === 'open', 'it is back')
  await until(sees, 'the other is seen again', 3000)
})

test('[LB35] a board connects again at the moment at which it is told to be closed', async () => {
  let token = 'cork_old'
  const board = opened(await newBoard(), { token: () => token })
  let closed = 0
  board.status.subscribe(() => {
    if (board.status.get().connection !== 'closed' || closed > 0) return
    closed += 1
    token = user.token
    board.reconnect()
  })
  await until(() => board.status.get().connection === 'open', 'it is open')
  expect(closed).toBe(1)
})

test('[LB35] to connect again changes nothing on a board that is open, and opens no socket for one that has ended', async () => {
  let sockets = 0
  class CountedSocket extends TestSocket {
    constructor(url: string) {
      super(url)
      sockets += 1
    }
  }
  const board = opened(await newBoard(), { WebSocket: CountedSocket })
  await board.ready
  board.reconnect()
  expect(board.status.get()).toMatchObject({ connection: 'open', reason: null })
  board.cards.add({ kind: 'note' })
  await board.saved()
  board.close()
  board.reconnect()
  await delay(100)
  expect(board.status.get().connection).toBe('closed')
  expect(sockets).toBe(1)
})
