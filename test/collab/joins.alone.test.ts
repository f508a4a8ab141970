import { setTimeout as delay } from 'node:timers/promises'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { cardUpdates } from '../hostile/attacks/updates.ts'
import { item } from '../support/crafted-updates.ts'
import { until } from '../support/editor.ts'
import { authFrame, connect, enter, syncFrame, type RawClient } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'
import { measureTurns } from '../support/turn-meter.ts'
import { ofReference } from '../support/cpu-time.ts'

// Other nodes would be in this process, too, and their memory.
const { service, user } = await serviceOfFile({ nodes: 1 })
const noState = Y.encodeStateVector(new Y.Doc())
const { updates } = cardUpdates(6000, (n) => ({ title: `Card ${n}`, body: 'lorem ipsum '.repeat(42) }))
const boardBytes = updates.reduce((sum, { byteLength }) => sum + byteLength, 0)

async function largeBoard(): Promise<{ boardId: string; writer: Awaited<ReturnType<typeof enter>> }> {
  const boardId: string = (await user.api.post('/boards', { name: 'Large' })).body.board.id
  const writer = await enter(service.url, { boardId, token: user.token })
  for (const [at, update] of updates.entries()) {
    writer.update(update)
    await until(() => writer.acknowledgements.length === at + 1, 'the cards are saved')
  }
  return { boardId, writer }
}

/** Bytes of all buffers in use. Those that a collection frees are counted for a moment more. */
async function bufferBytes(): Promise<number> {
  globalThis.gc!()
  await delay(100)
  globalThis.gc!()
  return process.memoryUsage().arrayBuffers
}

/** Opens the board on a socket that counts bytes, but does not decode them: that would be work of this process, too. */
async function open(boardId: string, { reads, token = user.token }: { reads: boolean; token?: string }) {
  const client = await connect(service.url)
  let bytes = 0
  client.socket.removeAllListeners('message')
  client.socket.on('message', (data: Buffer) => (bytes += data.byteLength))
  if (!reads) client.socket.pause()
  client.send(authFrame(boardId, token))
  const ask = (vector: Uint8Array = noState) => client.send(syncFrame(boardId, 0, vector))
  return { client, received: () => bytes, ask }
}

async function join(
  boardId: string,
  { vector, ...how }: Parameters<typeof open>[1] & { vector?: Uint8Array },
) {
  const opened = await open(boardId, how)
  opened.ask(vector)
  return opened
}

test('[JO2] [JO3] 40 joins of 4 MB share the bytes, and no turn is long', async () => {
  expect(boardBytes).toBeGreaterThan(4_000_000)
  await everybodyGone(service) // of a run that failed
  const { boardId, writer } = await largeBoard()
  await delay(1500) // until the writes are indexed
  const before = await bufferBytes()
  using turns = measureTurns()
  const slow = await Promise.all(Array.from({ length: 40 }, () => join(boardId, { reads: false })))
  await until(() => service.counts().connections === 41, 'all are in')
  const card = new Y.Doc()
  card.getMap('cards').set('late', new Y.Map([['kind', 'note']]))
  writer.update(Y.encodeStateAsUpdate(card))
  await until(() => writer.acknowledgements.length === updates.length + 1, 'an edit is saved meanwhile')
  const quick = await join(boardId, { reads: true })
  await until(() => quick.received() > 0.9 * boardBytes, 'another one joins')
  expect(ofReference(turns.read().longestCpuMs)).toBeLessThan(50)
  expect((await bufferBytes()) - before).toBeLessThan(3 * boardBytes)
  for (const { client } of slow.slice(1)) client.socket.terminate()
  slow[0]!.client.socket.resume()
  await until(() => slow[0]!.received() > 0.9 * boardBytes, 'a slow reader gets all of it in the end')
  for (const { client } of [slow[0]!, quick]) client.socket.terminate()
  writer.socket.terminate()
  await everybodyGone(service)
})

test('[JO3] the board is sent over several turns to 120 people who ask for it together', async () => {
  const { boardId, writer } = await largeBoard()
  const people = await Promise.all(
    Array.from({ length: 120 }, async () => {
      const person = await service.user()
      await service.share(boardId, person, 'viewer')
      return open(boardId, { reads: false, token: person.token })
    }),
  )
  await until(() => service.counts().connections === 121, 'all are in')
  using turns = measureTurns()
  for (const { ask } of people) ask() // together, so that all wait for the same bytes
  await delay(1000)
  expect(ofReference(turns.read().longestCpuMs)).toBeLessThan(50)
  for (const { client } of people) client.socket.resume()
  await until(() => people.every(({ received }) => received() > 0.9 * boardBytes), 'all get all of it')
  for (const { client } of people) client.socket.terminate()
  writer.socket.terminate()
  await everybodyGone(service)
})

const cardsOf = (client: RawClient, address: string) => client.documentOf(address).getMap('cards')

test('[JO1] a client gets the board and what is written while it joins; one that comes back gets the rest', async () => {
  const { boardId, writer } = await largeBoard()
  const board = new Y.Doc()
  for (const update of updates) Y.applyUpdate(board, update)
  const first = await enter(service.url, { boardId, token: user.token })
  const vector = Y.encodeStateVector(board)
  const [removed] = board.getMap('cards').keys()
  board.getMap('cards').delete(removed!)
  board.getMap('cards').set('new', new Y.Map([['kind', 'note']]))
  const change = Y.encodeStateAsUpdate(board, vector)
  const second = await connect(service.url)
  second.send(authFrame(boardId, user.token))
  second.send(syncFrame(boardId, 0, noState))
  writer.update(change)
  await until(
    () => cardsOf(second, boardId).has('new') && !cardsOf(second, boardId).has(removed!),
    'the change',
  )
  await until(() => cardsOf(first, boardId).has('new'), 'the change by broadcast')
  expect(cardsOf(second, boardId).size).toBe(6000)
  // It knows the cards, but not the change.
  const third = await connect(service.url)
  for (const update of updates) Y.applyUpdate(third.documentOf(boardId), update)
  third.send(authFrame(boardId, user.token))
  third.send(syncFrame(boardId, 0, vector))
  await until(() => cardsOf(third, boardId).has('new') && !cardsOf(third, boardId).has(removed!), 'the rest')
  expect(third.received(0).reduce((sum, { content }) => sum + content.byteLength, 0)).toBeLessThan(300_000)
  for (const { socket } of [writer, first, second, third]) socket.terminate()
  await everybodyGone(service)
})

const boardOf = (some: Uint8Array[]) => {
  const board = new Y.Doc()
  for (const update of some) Y.applyUpdate(board, update)
  return board
}

test('[X61] joins that know a single clock of a board share the bytes, too', async () => {
  const { boardId, writer } = await largeBoard()
  const [client] = boardOf(updates.slice(0, 1)).store.clients.keys()
  const vector = Uint8Array.from(Y.encodeStateVector(new Map([[client!, 1]])))
  await enter(service.url, { boardId, token: user.token })
  await delay(1500) // until the writes are indexed
  const before = await bufferBytes()
  const slow = await Promise.all(Array.from({ length: 12 }, () => join(boardId, { reads: false, vector })))
  // The kernel takes the first answer or two.
  for (const { client: one } of slow) for (let n = 0; n < 3; n++) one.send(syncFrame(boardId, 0, vector))
  await until(() => service.counts().unreadBytes > 12 * boardBytes, 'more is unread than is held', 20_000)
  expect((await bufferBytes()) - before).toBeLessThan(4 * boardBytes)
  for (const { client: one } of slow) one.socket.terminate()
  writer.socket.terminate()
  await everybodyGone(service)
})

test('[X61] joins are charged by what is encoded for them, and those that lack nothing are cheap', async () => {
  const { boardId, writer } = await largeBoard()
  await enter(service.url, { boardId, token: user.token }) // the state is encoded now
  const guest = await service.user()
  await service.share(boardId, guest, 'viewer')
  const ask = async (vector: Uint8Array, answers: number) => {
    const { client, received } = await join(boardId, { reads: true, vector, token: guest.token })
    let answered = 0
    client.socket.on('message', (data: Buffer) => (answered += isAnswer(data, boardId) ? 1 : 0))
    const beganAt = performance.now()
    for (let n = 0; n < answers; n++) client.send(syncFrame(boardId, 0, vector))
    await until(() => answered >= answers, 'they are answered', 25_000)
    client.socket.terminate()
    return { seconds: (performance.now() - beganAt) / 1000, bytes: received() }
  }
  const current = await ask(Y.encodeStateVector(boardOf(updates)), 100)
  expect(current.bytes).toBeLessThan(100_000)
  expect(current.seconds).toBeLessThan(3)
  const lacking = await ask(
    Y.encodeStateVector(boardOf(updates.slice(0, Math.floor(updates.length * 0.6)))),
    30,
  )
  expect(lacking.bytes).toBeGreaterThan(30 * 0.2 * boardBytes)
  const mostQuestions = 200 + 50 * lacking.seconds + (2 * boardBytes) / (64 * 1024)
  expect(lacking.bytes / (64 * 1024)).toBeLessThan(mostQuestions)
  writer.socket.terminate()
  await everybodyGone(service)
}, 60_000)

test('[X91] a question about a board of many clients is charged for each of them', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Clients' })).body.board.id
  const writer = await enter(service.url, { boardId, token: user.token })
  const update = ofClients(20_000)
  writer.update(update)
  await until(() => writer.acknowledgements.length === 1, 'it is saved', 20_000)
  const vector = Y.encodeStateVectorFromUpdate(update)
  const guest = await service.user()
  await service.share(boardId, guest, 'viewer')
  const { client } = await join(boardId, { reads: true, vector, token: guest.token })
  let answered = 0
  client.socket.on('message', (data: Buffer) => (answered += isAnswer(data, boardId) ? 1 : 0))
  const beganAt = performance.now()
  const count = 80
  for (let n = 1; n < count; n++) client.send(syncFrame(boardId, 0, vector))
  await until(() => answered >= count, 'they are answered', 25_000)
  // 20,000 clients cost about 5 questions, of which an account has 200, then 50 a second.
  expect(performance.now() - beganAt).toBeGreaterThan(1000 * ((5 * count - 200) / 50))
  for (const one of [client, writer]) one.socket.terminate()
  await everybodyGone(service)
}, 60_000)

/** An update with an entry of each of so many clients. */
function ofClients(count: number): Uint8Array {
  const encoder = new Y.UpdateEncoderV1()
  encoding.writeVarUint(encoder.restEncoder, count)
  for (let client = count; client > 0; client--) {
    encoding.writeVarUint(encoder.restEncoder, 1)
    encoder.writeClient(client)
    encoding.writeVarUint(encoder.restEncoder, 0)
    item(client, 0, 'filler', String(client), new Y.ContentAny([1])).write(encoder, 0)
  }
  encoding.writeVarUint(encoder.restEncoder, 0)
  return encoder.toUint8Array()
}

/** Whether a frame is an answer to a state vector: SyncStep2. */
function isAnswer(data: Buffer, address: string): boolean {
  const decoder = decoding.createDecoder(data)
  return (
    decoding.readVarString(decoder) === address &&
    decoding.readVarUint(decoder) === 0 &&
    decoding.readVarUint(decoder) === 1
  )
}
