/** Awareness of editors on two nodes. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { writeAwareness } from '../../collab/awareness/encoding.ts'
import { messageVersion } from '../../collab/bus/messages.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { awarenessFrame, disconnectAll, enter } from '../support/raw-client.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { everybodyGone, nodesOfFile } from '../support/test-file.ts'

const { here, there, user } = await nodesOfFile()
/** For a test that reads the messages on the channel of NOTIFY. */
const overNotify = await nodesOfFile({ config: { redisUrl: null } })
const channel = 'corkboard_nodes'

afterEach(async () => {
  await everybodyGone(here)
  await everybodyGone(there)
})

const newBoard = async (owner = user): Promise<string> =>
  (await owner.api.post('/boards', { name: 'Cursors' })).body.board.id

const open = (service: TestService, boardId: string, who: TestUser = user) =>
  openEditor(service.url, { boardId, token: who.token })
const seenBy = (watcher: Editor, sender: Editor) =>
  watcher.provider.awareness!.getStates().get(sender.document.clientID)

/** Waits until both nodes know that the board is open on both. */
const known = (boardId: string, { admin } = here) =>
  until(
    async () => (await admin`select from open_boards where board_id = ${boardId}`).length === 2,
    'both nodes have the board open',
  )

/** Sends a message as a node that does not exist. */
async function pretend(from: string, boardId: string, bytes: Uint8Array) {
  const head = JSON.stringify({ v: messageVersion, kind: 'awareness', from, board: boardId })
  const text = `${head}\n${Buffer.from(bytes).toString('base64')}`
  await here.admin`select pg_notify(${channel}, ${text})`
}
const states = (...entries: [client: number, clock: number, state: unknown][]) =>
  Buffer.concat([
    Uint8Array.of(1),
    writeAwareness(
      entries.map(([client, clock, state]) => ({
        client,
        clock,
        json: state === null ? null : Buffer.from(JSON.stringify(state)),
      })),
    ),
  ])

test('[AW10, AW11] editors on two nodes see each other, stamped; who leaves, leaves everywhere', async () => {
  const boardId = await newBoard()
  const viewer = await here.user({ name: 'Vera' })
  await here.share(boardId, viewer, 'viewer')
  const anna = await open(here, boardId)
  anna.provider.setAwarenessField('at', 'anna')
  const vera = await open(there, boardId, viewer)
  await until(() => seenBy(vera, anna)?.['at'] === 'anna', 'the states of the other node', 2000)
  vera.provider.setAwarenessField('at', 'vera')
  vera.provider.setAwarenessField('account', { id: user.userId, name: 'Owner' })
  await until(() => seenBy(anna, vera)?.['at'] === 'vera', 'the other way round')
  expect(seenBy(anna, vera)).toEqual({
    at: 'vera',
    account: { id: viewer.userId, name: 'Vera' },
    readOnly: true,
    agent: false,
  })
  for (let n = 0; n < 50; n++) anna.provider.setAwarenessField('at', n)
  await until(() => seenBy(vera, anna)?.['at'] === 49, 'the newest')
  expect(anna.provider.awareness!.getLocalState()).toEqual({ at: 49 })
  await here.share(boardId, viewer, 'editor')
  await until(() => seenBy(anna, vera)?.['readOnly'] === false, 'the rights change on both nodes')
  anna.leave()
  await until(() => seenBy(vera, anna) === undefined, 'it has left there, too')
})

test('[AW12] one message for each tick, and none about a board that no other node has open', async () => {
  const { here, there, user } = overNotify
  const open = (service: TestService, boardId: string) =>
    openEditor(service.url, { boardId, token: user.token })
  const [boardId, alone] = [await newBoard(user), await newBoard(user)]
  const messages: string[] = []
  const listener = await here.admin.listen(channel, (text) => messages.push(text))
  const about = (board: string) =>
    messages.filter(
      (text) => text.includes('"awareness"') && text.includes(board) && !text.endsWith('\nAA=='),
    )
  const anna = await open(here, boardId)
  const ben = await open(here, boardId)
  const watcher = await open(there, boardId)
  const lone = await open(here, alone)
  await known(boardId, here)
  await until(() => here.gateway.counts().states === 4, 'all are there')
  messages.length = 0
  const startedAt = performance.now()
  for (let n = 1; n <= 60; n++) {
    for (const editor of [anna, ben, lone]) editor.provider.setAwarenessField('at', n)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await until(
    () => [anna, ben].every((editor) => seenBy(watcher, editor)?.['at'] === 60),
    'the newest states',
  )
  const ticks = (performance.now() - startedAt) / 150
  const sent = about(boardId).length
  expect(sent).toBeGreaterThan(1)
  expect(sent).toBeLessThanOrEqual(Math.ceil(ticks) + 1)
  expect(about(alone)).toEqual([])
  await listener.unlisten()
  for (const node of [here, there]) await everybodyGone(node)
})

test('[AW13] the states of a node leave with it', async () => {
  const boardId = await newBoard()
  const watcher = await open(here, boardId)
  const has = (client: number) => watcher.provider.awareness!.getStates().has(client)
  const [dead, leaving] = [randomUUID(), randomUUID()]
  await here.admin`insert into nodes (node_id) values (${dead})`
  await here.admin`insert into open_boards (node_id, board_id) values (${dead}, ${boardId})`
  const say = () =>
    Promise.all([
      pretend(dead, boardId, states([1, 1, { n: 1 }])),
      pretend(leaving, boardId, states([2, 1, { n: 2 }])),
    ])
  await until(async () => (await say(), has(1) && has(2)), 'both nodes show somebody')
  const write = () => user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })
  await until(async () => (await write()).body.live === false, 'the node has the board open')
  await delay(2500) // two heartbeats have seen it
  const left = JSON.stringify({ v: messageVersion, kind: 'left', from: leaving })
  await here.admin`select pg_notify(${channel}, ${left})`
  await until(() => !has(2), 'a node signs off')
  expect(has(1)).toBe(true)
  await here.admin`update nodes set seen_at = now() - interval '1 hour' where node_id = ${dead}`
  await until(() => !has(1), 'a node is dead')
})

test('[AW15] an editor that moves to the other node stays seen, and nobody else takes its client', async () => {
  const boardId = await newBoard()
  const watchers = [await open(here, boardId), await open(there, boardId)]
  const old = await enter(here.url, { boardId, token: user.token })
  await known(boardId)
  const state = (clock: number, at: unknown) => ({ client: 7, clock, state: JSON.stringify({ at }) })
  const shown = () => watchers.map(({ provider }) => provider.awareness!.getStates().get(7)?.['at'])
  old.send(awarenessFrame(boardId, [state(1, 'old')]))
  await until(() => shown().every((at) => at === 'old'), 'it is seen on both')
  const other = await here.user()
  await here.share(boardId, other, 'editor')
  const thief = await enter(there.url, { boardId, token: other.token })
  thief.send(awarenessFrame(boardId, [state(50, 'stolen')]))
  const moved = await enter(there.url, { boardId, token: user.token })
  moved.send(awarenessFrame(boardId, [state(1, 'moved')]))
  await until(() => shown().every((at) => at === 'moved'), 'it is seen on both from the other node')
  old.socket.terminate()
  moved.send(awarenessFrame(boardId, [state(9, 'on')]))
  await until(() => shown().every((at) => at === 'on'), 'it stays')
  moved.socket.terminate()
  await until(() => shown().every((at) => at === undefined), 'it has left')
  const back = await enter(here.url, { boardId, token: user.token })
  back.send(awarenessFrame(boardId, [state(9, 'back')]))
  await until(() => shown().every((at) => at === 'back'), 'it is back')
  disconnectAll()
})

test('[AW16] bytes that are no awareness reach nobody', async () => {
  const boardId = await newBoard()
  const watcher = await open(here, boardId)
  const bad = [
    Buffer.alloc(0),
    Buffer.of(9, 9),
    Buffer.of(1),
    Buffer.of(1, 5, 1),
    Buffer.concat([Buffer.of(1, 1, 8, 1, 2), Buffer.of(0xff, 0xff)]),
    states([8, 1, 'text']),
  ]
  const node = randomUUID()
  for (const bytes of bad) await pretend(node, boardId, bytes)
  await pretend(node, randomUUID(), states([8, 1, {}]))
  await pretend(node, boardId, states([9, 1, { ok: true }]))
  await until(() => watcher.provider.awareness!.getStates().has(9), 'what is right arrives')
  expect(watcher.provider.awareness!.getStates().has(8)).toBe(false)
  expect(watcher.closes).toEqual([])
})
