import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { stateFrame } from '../hostile/attacks/frames.ts'
import { cardUpdates } from '../hostile/attacks/updates.ts'
import { until } from '../support/editor.ts'
import { authFrame, enter, frame, syncFrame, type, type RawClient } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const bounds = { maxAccountUnreadBytes: 12_000_000, maxStalledMs: 1500, keepAliveMs: 300 }
const { service, user } = await serviceOfFile({ bounds: { ...bounds, maxStalledMs: 60_000 } })
const { service: strict, user: stranger } = await serviceOfFile({ bounds })

const { service: small, user: owner } = await serviceOfFile({ bounds: { maxAccountUnreadBytes: 1_000_000 } })

const streamOf = ({ socket }: RawClient) => (socket as unknown as { _socket: Socket })._socket
const newBoard = async (owner = user): Promise<string> =>
  (await owner.api.post('/boards', { name: 'Unread' })).body.board.id

test('[X62] what an account leaves unread is bounded, and only who does not read is closed', async () => {
  const boardId = await newBoard()
  const other = await service.user()
  await service.share(boardId, other, 'viewer')
  const writer = await enter(service.url, { boardId, token: user.token })
  const reader = await enter(service.url, { boardId, token: user.token })
  const foreign = await enter(service.url, { boardId, token: other.token })
  streamOf(foreign).pause()
  for (let n = 0; n < 12; n++) streamOf(await enter(service.url, { boardId, token: user.token })).pause()
  const document = new Y.Doc()
  document.on('update', (update: Uint8Array) => writer.update(update))
  let most = 0
  for (let n = 0; n < 1200; n++) {
    document.getMap('junk').set('text', String(n).padEnd(10_000, 'x'))
    await until(() => writer.acknowledgements.length === n + 1, 'it is saved')
    most = Math.max(most, service.counts().unreadBytes)
  }
  expect(most).toBeGreaterThan(bounds.maxAccountUnreadBytes / 2)
  expect(most).toBeLessThan(2 * bounds.maxAccountUnreadBytes + 16 * 1024 * 1024)
  await until(() => service.counts().sockets < 10, 'many are closed')
  for (const { closed } of [writer, reader, foreign]) expect(closed).toBeNull()
  for (const { socket } of [writer, reader, foreign]) socket.terminate()
  await everybodyGone(service)
}, 60_000)

/** Opens a board of 4 MB on sockets that do not read, and asks for it until more is unread than the kernel takes. */
async function stuck(boardId: string, owner: typeof user, node: typeof service, count: number) {
  const writer = await enter(node.url, { boardId, token: owner.token })
  const { updates } = cardUpdates(6000, (n) => ({ title: `Card ${n}`, body: 'lorem ipsum '.repeat(42) }))
  for (const [at, update] of updates.entries()) {
    writer.update(update)
    await until(() => writer.acknowledgements.length === at + 1, 'the cards are saved')
  }
  const readers: RawClient[] = []
  for (let n = 0; n < count; n++) readers.push(await enter(node.url, { boardId, token: owner.token }))
  for (const one of readers) {
    one.socket.removeAllListeners('message')
    streamOf(one).pause()
    for (let n = 0; n < 3; n++) one.send(syncFrame(boardId, 0, Y.encodeStateVector(new Y.Doc())))
  }
  return { writer, readers }
}

test('[X92] an account is bounded also on sockets where another one authenticated first', async () => {
  const boardId = await newBoard()
  const other = await service.user()
  const decoy = (await other.api.post('/boards', { name: 'Decoy' })).body.board.id
  const writer = await enter(service.url, { boardId, token: user.token })
  const readers: RawClient[] = []
  for (let n = 0; n < 24; n++) {
    if (n % 6 === 0) await delay(500) // what is kept about an account without sockets is forgotten
    const reader = await enter(service.url, { boardId: decoy, token: other.token })
    reader.send(authFrame(boardId, user.token))
    await until(() => reader.received(type.auth).length === 2, 'it has both boards')
    reader.send(frame(decoy, type.close))
    await until(() => service.counts().connections === n + 2, 'the first one is closed')
    streamOf(reader).pause()
    readers.push(reader)
  }
  const document = new Y.Doc()
  document.on('update', (update: Uint8Array) => writer.update(update))
  let most = 0
  for (let n = 0; n < 1000; n++) {
    document.getMap('junk').set('text', String(n).padEnd(10_000, 'x'))
    await until(() => writer.acknowledgements.length === n + 1, 'it is saved')
    most = Math.max(most, service.counts().unreadBytes)
  }
  expect(most).toBeGreaterThan(bounds.maxAccountUnreadBytes / 2)
  expect(most).toBeLessThan(2 * bounds.maxAccountUnreadBytes)
  expect(writer.closed).toBeNull()
  for (const { socket } of [writer, ...readers]) socket.terminate()
  await everybodyGone(service)
}, 60_000)

test('[X62] a state that many sockets of an account have not read counts once', async () => {
  const { writer, readers } = await stuck(await newBoard(), user, service, 12)
  const isMuch = () => service.counts().unreadBytes > 3 * bounds.maxAccountUnreadBytes
  await until(isMuch, 'much is unread', 20_000)
  await delay(500)
  expect(service.counts().sockets).toBe(13)
  for (const { socket } of [writer, ...readers]) socket.terminate()
  await everybodyGone(service)
}, 60_000)

test('[X90] a board that is larger than the bound is not cut off', async () => {
  const { writer, readers } = await stuck(await newBoard(owner), owner, small, 1)
  await until(() => small.counts().unreadBytes > 4_000_000, 'much is unread', 20_000)
  await delay(500)
  expect(small.counts().sockets).toBe(2)
  streamOf(readers[0]!).resume()
  await until(() => small.counts().unreadBytes === 0, 'it is read', 20_000)
  for (const { socket } of [writer, ...readers]) socket.terminate()
  await everybodyGone(small)
}, 60_000)

test('[X62] who reads nothing is closed although it sends, who reads slowly stays', async () => {
  const boardId = await newBoard(stranger)
  const { writer, readers } = await stuck(boardId, stranger, strict, 2)
  const [slow, silent] = readers as [RawClient, RawClient]
  let left = 0
  let clock = 0
  streamOf(slow).on('data', ({ byteLength }: Buffer) => {
    left -= byteLength
    if (left <= 0) streamOf(slow).pause()
  })
  const reading = setInterval(() => {
    left = 500_000
    streamOf(slow).resume()
    silent.send(stateFrame(boardId, silent.documentOf(boardId).clientID, (clock += 1), 20))
  }, 200)
  await until(() => strict.counts().unreadBytes > 4_000_000, 'much is unread', 20_000)
  await until(() => strict.counts().sockets === 2, 'one is closed', 15_000)
  await delay(1500)
  clearInterval(reading)
  expect(strict.counts().sockets).toBe(2)
  expect(slow.closed).toBeNull()
  streamOf(silent).resume()
  await silent.untilClosed()
  for (const { socket } of [writer, slow]) socket.terminate()
  await everybodyGone(strict)
}, 60_000)
