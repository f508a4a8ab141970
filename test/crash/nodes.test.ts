/** Nodes in processes of their own that are paused, killed and started again, beside one that goes on. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { killNode, startNode } from '../support/node-process.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service: here, user } = await serviceOfFile()

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Nodes' })).body.board.id

const writes = (boardId: string) => async (): Promise<boolean> =>
  (await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })).body.live

const isIndexed = async (boardId: string, id: string): Promise<boolean> => {
  const { body } = await user.api.get(`/boards/${boardId}/cards?source=index`)
  return body.cards.some((card: { id: string }) => card.id === id)
}

test('[NO1, NO13, IX9] a paused node is not taken for dead: `live` is false for as long as its canvases show an old state, and others leave it the index for some time', async () => {
  const boardId = await newBoard()
  const write = writes(boardId)
  const node = await startNode(here.databaseUrl)
  const editor = await openEditor(node.url, { boardId, token: user.token })
  expect(await write()).toBe(true)
  editor.addCard('taken')
  await editor.saved()
  node.signal('SIGSTOP')
  const pausedAt = performance.now()
  let count = 2
  let indexedMs = 0
  for (; performance.now() - pausedAt < 20_000 && indexedMs === 0; count++) {
    expect(await write()).toBe(false)
    if (await isIndexed(boardId, 'taken')) indexedMs = performance.now() - pausedAt
    await delay(700)
  }
  expect(indexedMs).toBeGreaterThan(7000)
  expect(editor.cards.size).toBe(2)
  node.signal('SIGCONT')
  await until(write, 'it answers again')
  await until(() => editor.cards.size > count, 'the canvas has all')
}, 90_000)

test('[NO2, NO13] a killed node counts as showing for three seconds more, then no more; what it took is indexed within five', async () => {
  const boardId = await newBoard()
  const write = writes(boardId)
  const node = await startNode(here.databaseUrl)
  const editor = await openEditor(node.url, { boardId, token: user.token, reconnect: false })
  expect(await write()).toBe(true)
  editor.addCard('last')
  await editor.saved()
  await killNode(node)
  const killedAt = performance.now()
  await until(() => isIndexed(boardId, 'last'), 'its last edit is indexed by another node', 5000)
  while (performance.now() - killedAt < 2500) expect(await write()).toBe(false)
  await until(write, 'it is not asked any more', 4000)
}, 90_000)

test('[NO8] a restarted node signs its predecessor off at once, but not a living one with the same DATA_DIR', async () => {
  const boardId = await newBoard()
  const write = writes(boardId)
  const node = await startNode(here.databaseUrl)
  const other = await newBoard()
  const sibling = await startNode(here.databaseUrl, { dataDir: node.dataDir })
  await openEditor(node.url, { boardId, token: user.token, reconnect: false })
  await openEditor(sibling.url, { boardId: other, token: user.token, reconnect: false })
  const shown = () => here.admin`select board_id from open_boards where board_id in (${boardId}, ${other})`
  await until(async () => (await shown()).length === 2, 'both are registered')
  sibling.signal('SIGSTOP')
  await killNode(node)
  await startNode(here.databaseUrl, { dataDir: node.dataDir })
  expect(await shown()).toEqual([{ board_id: other }])
  expect(await write()).toBe(true)
  expect(await writes(other)()).toBe(false)
}, 120_000)
