/** Bounds of the sockets at `/collab?as_of=`. */
import type { Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { makeBoard, succeeded } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { authFrame, connect, enter, syncFrame, type, updateFrame } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({
  bounds: { maxStrangersPerAddress: 5, readPastWithinMs: 1500 },
})

afterEach(() => everybodyGone(service))

const connectToPast = (moment = '0') => connect(service.url, `/collab?as_of=${moment}`)
const question = (address: string) => syncFrame(address, 0, Y.encodeStateVector(new Y.Doc()))
const nothing = Uint8Array.of(0, 0)

test('[X84] strangers at a past moment are bounded by address, and in bytes', async () => {
  const clients = []
  for (let n = 0; n < 8; n++) clients.push((await connectToPast()).socket)
  await until(() => service.counts().strangers === 5, 'the oldest had to go')
  expect(clients.slice(0, 3).map(({ readyState }) => readyState)).not.toContain(WebSocket.OPEN)
  const { id } = await makeBoard(user)
  const many = await connectToPast()
  for (let n = 0; n < 30; n++) many.send(updateFrame(id, new Uint8Array(4000)))
  expect(await many.untilClosed()).toBe(1009)
})

test('[X84] nothing but a token is answered before authentication, and the rest at the rate of the account', async () => {
  const { id } = await makeBoard(user)
  const client = await connectToPast()
  for (let n = 0; n < 10; n++) client.send(updateFrame(id, nothing))
  client.send(question(id))
  client.send(authFrame(id, user.token))
  await until(() => client.received(type.auth).length === 1, 'it is open')
  expect([client.denials, client.acknowledgements, client.received(type.sync)]).toEqual([[], [], []])
  const since = performance.now()
  for (let n = 0; n < 1000; n++) client.send(updateFrame(id, nothing))
  await until(() => client.acknowledgements.length >= 230, 'some are answered', 10_000)
  expect(client.acknowledgements).not.toContain(true)
  // A burst of 200, then 50 a second.
  expect(client.acknowledgements.length).toBeLessThan(210 + (performance.now() - since) / 20)
})

const partBytes = 6_000_000

/** Makes a board of 18 MB. @returns its id and that of a version */
async function largeBoard() {
  const { id } = await makeBoard(user)
  const editor = await enter(service.url, { boardId: id, token: user.token })
  const document = new Y.Doc()
  let update: Uint8Array = nothing
  document.on('update', (bytes) => (update = bytes))
  for (let n = 1; n <= 3; n++) {
    document.getMap('filler').set(String(n), String(n).repeat(partBytes))
    editor.update(update)
    await until(() => editor.acknowledgements.length === n, 'it is saved')
  }
  editor.socket.terminate()
  const { version } = succeeded(await user.api.post(`/boards/${id}/versions`, { name: 'Large' }))
  return { id, moment: version.id as string }
}

test(
  '[X85] [X93] one past state waits on a socket until it is read, and two of an account; a slow reader gets it',
  { timeout: 60_000 },
  async () => {
    const { id, moment } = await largeBoard()
    const opened = []
    for (let n = 0; n < 4; n++) opened.push(await connectToPast(moment))
    for (const client of opened) {
      for (let n = 0; n < 5; n++) client.send(authFrame(`${id}\0s${n}`, user.token))
      await until(() => client.received(type.auth).length === 5, 'all are open')
      expect(client.denials).toEqual([])
    }
    expect(service.counts().unreadBytes).toBe(0)
    for (const client of opened) {
      client.socket.pause()
      for (let n = 0; n < 5; n++) client.send(question(`${id}\0s${n}`))
    }
    let most = 0
    await until(
      () => {
        const { unreadBytes, sockets } = service.counts()
        most = Math.max(most, unreadBytes)
        return sockets === 0
      },
      'all are cut off',
      40_000,
    )
    expect(most).toBeGreaterThan(partBytes)
    expect(most).toBeLessThan(2 * 3.1 * partBytes)
    const reader = await connectToPast(moment)
    reader.send(authFrame(id, user.token))
    for (let n = 1; n <= 3; n++) {
      reader.send(question(id))
      await until(() => reader.received(type.sync).length === n, 'it is sent', 20_000)
    }
    expect(reader.documentOf(id).getMap('filler').size).toBe(3)
    reader.socket.terminate()
    await everybodyGone(service)
    // Another one reads slowly: 1 MB at a time.
    const slow = await connectToPast(moment)
    slow.send(authFrame(id, user.token))
    await until(() => slow.received(type.auth).length === 1, 'it is open')
    const stream = (slow.socket as unknown as { _socket: Socket })._socket
    let left = 0
    stream.on('data', ({ byteLength }: Buffer) => {
      left -= byteLength
      if (left <= 0) stream.pause()
    })
    const reading = setInterval(() => {
      left = 1_000_000
      stream.resume()
    }, 200)
    const since = performance.now()
    slow.send(question(id))
    await until(() => service.counts().unreadBytes > 0, 'it is being sent')
    await until(() => service.counts().unreadBytes === 0, 'it is read', 20_000)
    clearInterval(reading)
    stream.removeAllListeners('data')
    expect(performance.now() - since).toBeGreaterThan(1500)
    expect(service.counts().sockets).toBe(1)
    expect(slow.closed).toBeNull()
  },
)
