/** Sockets whose address names a board. */
import { afterEach, expect, test } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { authFrame, connect, type } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()

afterEach(() => everybodyGone(service))

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Addressed' })).body.board.id

test('[RB1] a provider syncs at the address of its board, in capital letters too', async () => {
  const boardId = await newBoard()
  const { token } = user
  const one = await openEditor(service.url, { boardId, token, path: `/collab/${boardId}` })
  const two = await openEditor(service.url, { boardId, token, path: `/collab/${boardId.toUpperCase()}?a=b` })
  const three = await openEditor(service.url, { boardId, token })
  one.addCard('of-one')
  await until(() => two.cards.has('of-one') && three.cards.has('of-one'), 'the card is on all canvases')
  await one.saved()
})

test('[RB1] an address that names no board is 404', async () => {
  const boardId = await newBoard()
  for (const path of ['/collab/', '/collab/x', `/collab/${boardId}/`, `/collab/${boardId}%00a`, '/collabs']) {
    const client = await connect(service.url, path)
    expect([path, client.closed?.code]).toEqual([path, 1006])
  }
})

test('[RB2] another board than that of the address is refused, and the socket closed', async () => {
  const [boardId, other] = [await newBoard(), await newBoard()]
  for (const [name, isOpen] of [
    [other, false],
    ['no board', false],
    [other, true],
  ] as const) {
    const client = await connect(service.url, `/collab/${boardId}`)
    if (isOpen) {
      client.send(authFrame(boardId, user.token))
      await until(() => client.received(type.auth).length > 0, 'its own board is open')
    }
    client.send(authFrame(name, user.token))
    expect(await client.untilClosed()).toBe(4404)
    expect(client.closed!.reason).toBe('the address of this socket names another board')
    expect(client.denials).toEqual([])
  }
  const session = await connect(service.url, `/collab/${boardId}`)
  session.send(authFrame(`${boardId}\0one`, user.token))
  await until(() => session.received(type.auth).length > 0, 'a session of the board is open')
  expect(session.closed).toBeNull()
})
