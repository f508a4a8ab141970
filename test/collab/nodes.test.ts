import { expect, test } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { authFrame, enter, frame, type } from '../support/raw-client.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { here, there, user } = await nodesOfFile()

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Nodes' })).body.board.id

test('[N1] an API write on one node is on the canvases of another when it answers `live: true`', async () => {
  const boardId = await newBoard()
  const editor = await openEditor(there.url, { boardId, token: user.token })
  for (let n = 0; n < 10; n++) {
    const created = await user.api.post(`/boards/${boardId}/cards`, {
      kind: 'note',
      title: `Card ${n}`,
      x: 0,
      y: 0,
    })
    expect(created.body.live).toBe(true)
    await until(() => editor.cards.size === n + 1, 'the canvas elsewhere has the card', 250)
  }
})

test('[N2] `live` is false when a node that has the board open does not confirm it, and true once that node is gone', async () => {
  const boardId = await newBoard()
  const editor = await openEditor(there.url, { boardId, token: user.token })
  // A node that hangs: it is alive by its row, has the board open, and does not answer.
  const hanging = crypto.randomUUID()
  await here.admin`insert into nodes (node_id) values (${hanging})`
  await here.admin`insert into open_boards (node_id, board_id) values (${hanging}, ${boardId})`
  const path = `/boards/${boardId}/cards`
  expect((await user.api.post(path, { kind: 'note', x: 0, y: 0 })).body.live).toBe(false)
  await here.admin`update nodes set seen_at = now() - interval '1 hour' where node_id = ${hanging}`
  expect((await user.api.post(path, { kind: 'note', x: 0, y: 0 })).body.live).toBe(true)
  await until(() => editor.cards.size === 2, 'the canvas has both')
})

test('[N3] edits reach the canvases of other nodes after their commit, and both go on from there', async () => {
  const boardId = await newBoard()
  const anna = await openEditor(here.url, { boardId, token: user.token })
  const ben = await openEditor(there.url, { boardId, token: user.token })
  await until(
    async () => (await here.admin`select from open_boards where board_id = ${boardId}`).length === 2,
    'both nodes have the board open',
  )
  anna.addCard('of-anna')
  await until(() => ben.cards.has('of-anna'), 'the edit arrives on the other node')
  ben.cards.get('of-anna')!.set('x', 77)
  await until(() => anna.cards.get('of-anna')!.get('x') === 77, 'and one built on it comes back')
  await Promise.all([anna.saved(), ben.saved()])
})

test('[N4] a board that nobody has open any more is not asked about', async () => {
  const boardId = await newBoard()
  const editor = await openEditor(there.url, { boardId, token: user.token })
  editor.leave()
  await until(
    async () => (await here.admin`select from open_boards where board_id = ${boardId}`).length === 0,
    'the board is closed',
    6000,
  )
  expect((await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })).body.live).toBe(true)
})

test('[N4] a board that a client left before it was open is not asked about, though its socket stays', async () => {
  const [open, left] = [await newBoard(), await newBoard()]
  const client = await enter(there.url, { boardId: open, token: user.token })
  client.send(authFrame(left, user.token))
  client.send(frame(left, type.close))
  await until(() => client.received(type.close).length > 0, 'the board is closed')
  await until(() => !there.live.nodes.open.has(left), 'it does not count as open')
  expect([client.closed, there.live.nodes.open.has(open)]).toEqual([null, true])
})
