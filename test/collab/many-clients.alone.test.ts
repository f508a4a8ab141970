/** Documents with very many clients. Each transaction of Yjs costs in proportion to them. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { makeBoard } from '../api/board.ts'
import { manyClients } from '../hostile/attacks/updates.ts'
import { openEditor, until } from '../support/editor.ts'
import { enter, syncFrame } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()

const newBoard = async (): Promise<string> => (await makeBoard(user)).id
const enterBoard = (boardId: string) => enter(service.url, { boardId, token: user.token })

test('[X57] state vectors and updates with too many clients are refused', async () => {
  const boardId = await newBoard()
  const asking = await enterBoard(boardId)
  asking.send(
    syncFrame(boardId, 0, Y.encodeStateVector(new Map(Array.from({ length: 50_000 }, (_, n) => [n, 1])))),
  )
  expect(await asking.untilClosed()).toBe(4400)
  const writing = await enterBoard(boardId)
  writing.update(manyClients(51_000))
  expect(await writing.untilClosed(30_000)).toBe(1009)
})

test('[X125] who edits a board of very many clients pays for them, and who writes cards there', async () => {
  const boardId = await newBoard()
  const clients = 40_000
  const making = await enterBoard(boardId)
  making.update(manyClients(clients))
  await until(() => making.acknowledgements.length === 1, 'it is saved', 30_000)
  const source = new Y.Doc()
  source.on('update', (update: Uint8Array) => making.update(update))
  const edits = 60
  const beganAt = performance.now()
  for (let n = 1; n <= edits; n++) {
    source.getMap('junk').set('n', n)
    await until(() => making.acknowledgements.length === 1 + n, 'it is saved', 30_000)
  }
  // At 0.5 µs for each client: the account has 125 ms at once, and then a quarter of the time.
  expect(performance.now() - beganAt).toBeGreaterThan((edits * clients * 0.0005 - 125) / 0.25)
  const wroteAt = performance.now()
  const writes = 20
  for (let n = 0; n < writes; n++)
    expect((await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: n, y: 0 })).status).toBe(201)
  expect(performance.now() - wroteAt).toBeGreaterThan((writes * clients * 0.0005) / 0.25)
}, 90_000)

test('[X126] a board takes no turn while its editors wait for their time', async () => {
  const boardId = await newBoard()
  const making = await enterBoard(boardId)
  making.update(manyClients(40_000))
  await until(() => making.acknowledgements.length === 1, 'it is saved', 30_000)
  const stranger = await service.user()
  const other: string = (await stranger.api.post('/boards', { name: 'Other' })).body.board.id
  const typing = await openEditor(service.url, { boardId: other, token: stranger.token })
  let turns = 0
  service.live.documents.find(boardId)!.document.on('beforeTransaction', () => void (turns += 1))
  const source = new Y.Doc()
  source.on('update', (update: Uint8Array) => making.update(update))
  const edits = 200
  const beganAt = performance.now()
  for (let n = 1; n <= edits; n++) {
    source.getMap('junk').set('n', n)
    typing.addCard(`card ${n}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await typing.saved()
  // At 0.5 µs for each client: 20 ms a turn, of which the account has 125 ms at once, and then a quarter of the time.
  expect(turns).toBeLessThan((125 + 0.25 * (performance.now() - beganAt)) / 20 + 2)
}, 90_000)
