import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { until } from '../support/editor.ts'
import { authFrame, connect, syncFrame, tcp, updateFrame } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({
  config: { trustProxy: 1 },
  bounds: { maxStrangersPerAddress: 5 },
})

afterEach(() => everybodyGone(service))

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Strangers' })).body.board.id

test('[X76] nobody sends more than 64 KB before authenticating, in a finished frame or not: 1009', async () => {
  const stream = await tcp(service.url)
  const received: Buffer[] = []
  stream.on('data', (data: Buffer) => received.push(data))
  stream.write(
    'GET /collab HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  await until(() => Buffer.concat(received).includes('\r\n\r\n'), 'the upgrade')
  received.length = 0
  // A frame of 8 MB, of which 100 KB come.
  stream.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0x7a, 0x12, 0, 0, 0, 0, 0]))
  stream.write(Buffer.alloc(100_000))
  await until(() => received.length > 0, 'it is closed')
  const closing = Buffer.concat(received)
  expect([closing[0], closing.readUInt16BE(2)]).toEqual([0x88, 1009])
  stream.destroy()

  const boardId = await newBoard()
  const many = await connect(service.url)
  for (let n = 0; n < 30; n++) many.send(updateFrame(boardId, new Uint8Array(4000)))
  expect(await many.untilClosed()).toBe(1009)
})

test('[X76] what comes right behind the token waits for the answer, whatever its size', async () => {
  const boardId = await newBoard()
  const client = await connect(service.url)
  const document = new Y.Doc()
  document.getMap('cards').set('c', new Y.Map([['title', 'x'.repeat(300_000)]]))
  client.send(authFrame(boardId, 'wrong'))
  client.send(authFrame(boardId, user.token))
  client.send(syncFrame(boardId, 0, Y.encodeStateVector(new Y.Doc())))
  client.send(updateFrame(boardId, Y.encodeStateAsUpdate(document)))
  await until(() => client.acknowledgements.length === 1, 'it is acknowledged')
  expect(client.denials).toEqual(['token-invalid'])
})

const opened: WebSocket[] = []

/** Opens a socket by way of a proxy; resolves with the status, 101 when it is open. */
function openFrom(address: string): Promise<{ status: number; socket: WebSocket }> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/collab`, {
    headers: { 'x-forwarded-for': `10.9.9.9, ${address}` },
  })
  opened.push(socket)
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.on('open', () => resolve({ status: 101, socket }))
    socket.on('unexpected-response', (_request, { statusCode = 0 }) =>
      resolve({ status: statusCode, socket }),
    )
  })
}

test('[X77] one address has a bounded number of sockets on which nobody has authenticated', async () => {
  const boardId = await newBoard()
  const fresh = await service.token(user, {})
  const sockets: WebSocket[] = []
  for (let n = 0; n < 8; n++) sockets.push((await openFrom('2001:db8:1:2::' + n)).socket)
  await until(() => service.counts().strangers === 5, 'the oldest had to go')
  expect(sockets.slice(0, 3).map(({ readyState }) => readyState)).not.toContain(WebSocket.OPEN)
  // While all of them are at it, there is no room for another one, but there is for other addresses.
  await service.admin.begin(async (tx) => {
    await tx`lock table tokens in access exclusive mode`
    for (const socket of sockets.slice(3)) socket.send(authFrame(boardId, fresh.token))
    await until(async () => (await openFrom('2001:db8:1:2::99')).status === 503, 'it is refused')
    expect((await openFrom('2001:db8:1:3::1')).status).toBe(101)
  })
  for (const socket of opened) socket.terminate()
})
