/** What nodes have open, and what an answer `live: true` means while canvases open and close. */
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { gatedDatabase } from '../support/gated-database.ts'
import { holdLock } from '../support/held-lock.ts'
import { enter } from '../support/raw-client.ts'
import { startService } from '../support/service.ts'
import { forFile, nodesOfFile } from '../support/test-file.ts'

const { here, there, user } = await nodesOfFile()
const gated = gatedDatabase(here.databaseUrl)
const third = await forFile(
  startService({ testDatabase: here.testDatabase, database: gated }).then((service) => ({
    ...service,
    close: async () => {
      await service.stop()
      await gated.close()
    },
  })),
)

afterEach(leaveAll)

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Nodes' })).body.board.id

const note = { kind: 'note', x: 0, y: 0 }
const writes = (boardId: string) => async (): Promise<boolean> =>
  (await user.api.post(`/boards/${boardId}/cards`, note)).body.live
const rows = (boardId: string) => here.admin`select node_id from open_boards where board_id = ${boardId}`

test('[NO6] the answer of another node does not count for one that hangs', async () => {
  const boardId = await newBoard()
  // The bystander has the document in memory, and no canvas of it.
  const editor = await openEditor(there.url, { boardId, token: user.token })
  editor.leave()
  await until(async () => (await rows(boardId)).length === 0, 'it is closed there')
  const hanging = crypto.randomUUID()
  await here.admin`insert into nodes (node_id) values (${hanging})`
  await here.admin`insert into open_boards (node_id, board_id) values (${hanging}, ${boardId})`
  expect(await writes(boardId)()).toBe(false)
  await here.admin`delete from nodes where node_id = ${hanging}`
  expect(await writes(boardId)()).toBe(true)
})

test('[NO7] the rows of what is open are written again when they are lost, and those of what is not are removed', async () => {
  const [boardId, other] = [await newBoard(), await newBoard()]
  await openEditor(there.url, { boardId, token: user.token })
  const [row] = await rows(boardId)
  const nodeId = row!['node_id'] as string
  await here.admin`insert into open_boards (node_id, board_id) values (${nodeId}, ${other})`
  await here.admin`delete from open_boards where board_id = ${boardId}`
  await until(async () => (await rows(boardId)).length === 1, 'the row is back', 5000)
  expect(await rows(other)).toEqual([])
  await here.admin`delete from nodes where node_id = ${nodeId}` // as after an outage of a minute
  await until(async () => (await rows(boardId)).length === 1, 'the row is back', 5000)
})

test('[NO9] a board is registered for as long as a canvas of it takes to open', async () => {
  const boardId = await newBoard()
  const release = await holdLock(
    here.admin,
    (connection) => connection`lock table board_updates in access exclusive mode`,
  )
  const opening = openEditor(there.url, { boardId, token: user.token })
  await until(async () => (await rows(boardId)).length === 1, 'it is registered')
  await delay(3500)
  await release()
  const editor = await opening
  expect(await rows(boardId)).toHaveLength(1)
  expect(await writes(boardId)()).toBe(true)
  expect(editor.cards.size).toBe(1)
})

test('[NO9] a board whose first canvas gives up while it is registered has its row when another one opens it', async () => {
  const boardId = await newBoard()
  const { nodes } = there.live
  const release = await holdLock(here.admin, (connection) => connection`lock table open_boards in share mode`)
  const first = nodes.hold(boardId)
  const registered = nodes.register(boardId)
  first.end()
  await delay(1500) // a heartbeat is sent that does not have the board
  const second = nodes.hold(boardId)
  await release()
  await registered
  await nodes.register(boardId)
  expect(await rows(boardId)).toHaveLength(1)
  second.end()
})

test('[NO10] a node with a canvas that is about to open does not confirm what that canvas will not show', async () => {
  const boardId = await newBoard()
  let live: boolean | null = null
  gated.afterSystem = async (result) => {
    // The document has read its log, and is not in memory yet.
    if (!Array.isArray(result) || !result[0]?.head) return
    gated.afterSystem = null
    live = await writes(boardId)()
  }
  const editor = await openEditor(third.url, { boardId, token: user.token })
  expect(live).toBe(false)
  expect(editor.cards.size).toBe(1)
})

test('[NO11] `live` is false while the service closes a canvas that does not let go of its socket', async () => {
  await until(() => there.gateway.counts().sockets === 0, 'no other canvas is left')
  const boardId = await newBoard()
  const other = await here.token(user, {})
  const stuck = await enter(there.url, { boardId, token: other.token })
  expect(await writes(boardId)()).toBe(true)
  const { _socket: stream } = stuck.socket as unknown as { _socket: Socket }
  stream.pause()
  await here.admin`update tokens set revoked_at = now() where id = ${other.tokenId}`
  await until(() => there.gateway.counts().connections === 0, 'the canvas is closed', 4000)
  expect(await writes(boardId)()).toBe(false)
  await until(writes(boardId), 'it is true when the socket is gone')
})

test('[NO12] the first state that a canvas gets is current, also when the document was in memory without hearing of commits', async () => {
  const boardId = await newBoard()
  const first = await openEditor(there.url, { boardId, token: user.token })
  first.leave()
  await until(async () => (await rows(boardId)).length === 0, 'it is closed there')
  for (let n = 1; n <= 5; n++) {
    await writes(boardId)()
    const editor = await openEditor(there.url, { boardId, token: user.token })
    expect(editor.cards.size).toBe(n)
    editor.leave()
    await until(async () => (await rows(boardId)).length === 0, 'it is closed there')
  }
})
