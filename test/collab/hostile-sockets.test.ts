import type { Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { flood, mixedFlood } from '../support/flood.ts'
import { authFrame, connect, enter, tcp, type RawClient } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const bounds = {
  maxUnreadBytes: 500_000,
  maxSockets: 14,
  maxStrangers: 8,
  maxSocketsPerBoard: 5,
  maxSocketsPerAccount: 7,
}

const { service, user } = await serviceOfFile({ bounds, headersTimeoutMs: 400 })
const other = await service.user()

afterEach(() => everybodyGone(service))

const newBoard = async (owner = user): Promise<string> =>
  (await owner.api.post('/boards', { name: 'Target' })).body.board.id

const upgradeHead = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

async function answerTo(socket: Socket, request: string): Promise<string> {
  let answer = ''
  socket.on('data', (data: Buffer) => (answer += data.toString('latin1')))
  socket.write(request)
  await until(() => answer.includes('\r\n\r\n') || socket.destroyed, 'an answer')
  return answer.split('\r\n')[0]!
}

test('[X20] no path of an upgrade request, and no reset while it is refused, ends the process', async () => {
  for (const path of ['//', '/other', 'http://[', '/collab/../x', '*', '/%', '/collabx'])
    expect([path, await answerTo(await tcp(service.url), upgradeHead(path))]).toEqual([
      path,
      expect.stringMatching(/^(HTTP\/1.1 40[04] .*)?$/),
    ])
  for (let n = 0; n < 30; n++) {
    const socket = await tcp(service.url)
    socket.write(upgradeHead('/other'))
    socket.resetAndDestroy()
  }
  const bad = await tcp(service.url)
  expect(await answerTo(bad, upgradeHead('/collab').replace('Version: 13', 'Version: 99'))).toMatch(/ 4\d\d /)
  const client = await connect(service.url)
  expect(client.closed).toBeNull()
})

test('[X20] who sends the head of a request byte by byte is cut off', async () => {
  const slow = await tcp(service.url)
  const head = upgradeHead('/collab')
  let sent = 0
  const drip = setInterval(() => slow.write(head[sent++ % head.length]!), 20)
  await until(() => slow.closed || slow.readyState !== 'open', 'it is cut off', 3000)
  clearInterval(drip)
})

test('[X21] beyond the bound on sockets an upgrade is refused with 503; silent strangers make room', async () => {
  const boardId = await newBoard()
  const foreign = await newBoard(other)
  const strangers: RawClient[] = []
  for (let n = 0; n < 10; n++) strangers.push(await connect(service.url))
  expect(service.counts().strangers).toBeLessThanOrEqual(8)
  expect(strangers[0]!.closed?.code).toBe(1013)
  for (let n = 0; n < 5; n++) await enter(service.url, { boardId, token: user.token })
  for (let n = 0; n < 5; n++) await enter(service.url, { boardId: foreign, token: other.token })
  // Four strangers are left that may go; after them everybody has a right to be here.
  for (const { token, api } of [user, user, other, other]) {
    const { body } = await api.post('/boards', { name: 'One more' })
    await enter(service.url, { boardId: body.board.id, token })
  }
  const refused = await tcp(service.url)
  expect(await answerTo(refused, upgradeHead('/collab'))).toBe('HTTP/1.1 503 Service Unavailable')
  await until(() => refused.destroyed || refused.readableEnded, 'the connection ends')
})

test('[X22] sockets of a board and of an account are bounded, also when they come at the same moment', async () => {
  const boardId = await newBoard()
  await service.share(boardId, other, 'editor')
  const open = async (id: string, token: string) => {
    const client = await connect(service.url)
    client.send(authFrame(id, token))
    return client
  }
  const together = await Promise.all(Array.from({ length: 8 }, () => open(boardId, other.token)))
  await until(
    () => together.filter(({ closed, denials }) => closed ?? denials.length > 0).length === 3,
    'three of eight are refused',
  )
  for (const { closed, denials } of together) {
    if (closed) expect(closed).toEqual({ code: 1013, reason: 'too many sockets' })
    else if (denials.length > 0) expect(denials).toEqual(['try-later'])
  }
  await until(() => service.counts().connections === 5, 'five are in')
  const late = await open(boardId, user.token)
  await until(() => late.denials.length > 0, 'a further one is refused')
  expect(late.denials).toEqual(['try-later'])
  for (const connections of [6, 7]) {
    await open(await newBoard(other), other.token)
    await until(() => service.counts().connections === connections, 'another board is open')
  }
  const last = await open(await newBoard(other), other.token)
  await until(() => last.denials.length > 0, 'the account has too many')
  expect(last.denials).toEqual(['try-later'])
})

test('[X23] a reader that stops reading is closed at a bounded cost, and the others go on', async () => {
  const boardId = await newBoard()
  const writer = await openEditor(service.url, { boardId, token: user.token })
  const reader = await openEditor(service.url, { boardId, token: user.token })
  const stuck = await enter(service.url, { boardId, token: user.token })
  const stream = streamOf(stuck.socket)
  stream.pause()
  const sockets = () => service.counts().sockets
  const card = writer.addCard('c')
  let most = 0
  for (let n = 0; n < 400 && sockets() === 3; n++) {
    card.set('junk', String(n).padEnd(50_000, 'x'))
    await writer.saved()
    most = Math.max(most, service.counts().unreadBytes)
  }
  await until(() => sockets() === 2, 'it is closed')
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(bounds.maxUnreadBytes + 200_000)
  card.set('title', 'after')
  await until(() => reader.cards.get('c')?.get('title') === 'after', 'the other reader goes on')
})

test('[X23] a board that is larger than the bound can be opened', async () => {
  const boardId = await newBoard()
  const writer = await openEditor(service.url, { boardId, token: user.token })
  for (let n = 0; n < 6; n++) {
    writer.addCard(`c${n}`, { junk: 'x'.repeat(200_000) })
    await writer.saved()
  }
  const reader = await openEditor(service.url, { boardId, token: user.token, reconnect: false })
  await until(() => reader.cards.size === 6, 'all of it is there')
})

test('[X24] floods on one board leave the latency of another as it is', async () => {
  const boardId = await newBoard()
  const quietBoard = await newBoard(other)
  const innocent = await openEditor(service.url, { boardId: quietBoard, token: other.token })
  const watcher = await openEditor(service.url, { boardId: quietBoard, token: other.token })
  const usual = await latencies(innocent, watcher, 30)
  const attack = await flood({ serviceUrl: service.url, boardId, token: user.token, kinds: mixedFlood })
  const flooded = await latencies(innocent, watcher, 60)
  const { sent } = await attack.stop()
  expect(sent).toBeGreaterThan(5000)
  expect(median(flooded)).toBeLessThan(median(usual) + 100)
  expect(Math.max(...flooded)).toBeLessThan(1000)
})

/** Milliseconds from an edit to its sight by another editor. */
async function latencies(writer: Editor, watcher: Editor, count: number): Promise<number[]> {
  const card = writer.addCard(`latency${Math.random()}`.replace('.', ''))
  const id = [...writer.cards.entries()].find(([, of]) => of === card)![0]
  const found: number[] = []
  for (let n = 0; n < count; n++) {
    const from = performance.now()
    card.set('x', n + 1)
    await until(() => watcher.cards.get(id)?.get('x') === n + 1, 'it is seen')
    found.push(performance.now() - from)
  }
  return found
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

const streamOf = (socket: WebSocket) => (socket as unknown as { _socket: Socket })._socket

test('[X25] rounds of hostile clients leave nothing behind', async () => {
  const boardId = await newBoard()
  const innocent = await openEditor(service.url, { boardId, token: user.token })
  for (let round = 0; round < 25; round++) {
    const [stays, leaves, lies, floods] = await Promise.all([
      enter(service.url, { boardId, token: user.token }),
      enter(service.url, { boardId, token: user.token }),
      connect(service.url),
      connect(service.url),
    ])
    leaves.send(authFrame(boardId, user.token))
    leaves.socket.terminate()
    lies.send(authFrame(boardId, other.token))
    floods.send(authFrame(boardId, user.token)) // gone before it is in
    floods.socket.terminate()
    stays.send('text')
    await stays.untilClosed()
    lies.socket.close()
    await lies.untilClosed()
  }
  await until(() => service.counts().sockets === 1, 'the innocent editor is left')
  await until(() => service.counts().connections === 1, 'with one connection')
  expect(service.counts()).toMatchObject({ strangers: 0, accounts: 1, unreadBytes: 0 })
  const document = service.live.documents.find(boardId)!.document
  expect(document.connections.size).toBe(1)
  expect(document.directConnectionsCount).toBe(0)
  expect(innocent.closes).toEqual([])
})
