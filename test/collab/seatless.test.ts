/** Sockets on which an account has authenticated, but no board is open. */
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../support/editor.ts'
import {
  authFrame,
  connect,
  disconnectAll,
  enter,
  frame,
  type,
  updateFrame,
  type RawClient,
} from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({
  bounds: { maxSocketsPerAccount: 5, silentMs: 4000, keepAliveMs: 300 },
})

afterEach(() => everybodyGone(service))

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Seatless' })).body.board.id

/** Opens a board on a new socket, and closes the board again. */
async function withoutBoard(boardId: string) {
  const client = await enter(service.url, { boardId, token: user.token })
  client.send(frame(boardId, type.close))
  await until(() => service.counts().connections === 0, 'its seat is free')
  return client
}

async function answerTo(address: string, token: string): Promise<string> {
  const client = await connect(service.url)
  client.send(authFrame(address, token))
  await until(() => client.received(type.auth).length > 0, 'it is answered')
  return client.denials[0] ?? 'admitted'
}

test('[X82] an account has a bounded number of sockets also without seats', async () => {
  const boardId = await newBoard()
  const idle: RawClient[] = []
  for (let n = 0; n < 5; n++) idle.push(await withoutBoard(boardId))
  expect(await answerTo(boardId, user.token)).toBe('try-later')
  expect(await answerTo('account', user.token)).toBe('try-later')
  expect(service.counts().connections).toBe(0)
  // A socket that is there already may open a board again, and another account has sockets of its own.
  idle[0]!.send(authFrame(boardId, user.token))
  await until(() => service.counts().connections === 1, 'it is open again')
  const other = await service.user()
  await service.share(boardId, other, 'editor')
  expect(await answerTo(boardId, other.token)).toBe('admitted')
  idle[1]!.socket.terminate()
  await until(() => idle[1]!.socket.readyState === WebSocket.CLOSED, 'one is gone')
  await until(async () => (await answerTo(boardId, user.token)) === 'admitted', 'there is room')
  disconnectAll()
})

test('[X83] a socket without a board is closed after a while, whatever it sends', async () => {
  const boardId = await newBoard()
  const useful = await enter(service.url, { boardId, token: user.token, session: 'useful' })
  const client = await enter(service.url, { boardId, token: user.token })
  client.send(frame(boardId, type.close))
  await until(() => service.counts().connections === 1, 'its seat is free')
  const sending = setInterval(() => client.send(updateFrame(boardId, Uint8Array.of(0, 0))), 100)
  expect(await client.untilClosed(10_000)).toBe(4408)
  clearInterval(sending)
  expect([client.closed!.reason, useful.closed]).toEqual(['Connection Timeout', null])
})
