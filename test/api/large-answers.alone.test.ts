/** Large answers, and clients that do not read them. */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Readable } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { readingMs, readInTime } from '../../api/http/read-in-time.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCards } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })
const sockets: Socket[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Asks for a page, and reads nothing but its first bytes. */
async function askAndStop(path: string): Promise<void> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.write(`GET /api/v1${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${user.token}\r\n\r\n`)
  const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
  expect(first.toString('latin1')).toMatch(/^HTTP\/1.1 200 /)
  socket.pause()
}

function heldBytes(): number {
  gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('[A222] clients that do not read a large answer hold little memory, and it is whole for one that reads', async () => {
  const { id } = await makeBoard(user)
  const body = '漢'.repeat(19_000)
  for (let n = 0; n < 5; n++)
    await makeCards(
      user,
      id,
      Array.from({ length: 100 }, (_, at) => ({ title: `${n} ${at}`, body: `${n} ${at} ${body}` })),
    )
  const path = `/boards/${id}/cards?limit=500`
  const { cards } = (await user.api.get(path)).body
  expect(cards.length).toBe(500)
  expect(new Set(cards.map((card: { body: string }) => card.body)).size).toBe(500)
  await delay(500)
  const before = heldBytes()
  const clients = 20
  for (let n = 0; n < clients; n++) await askAndStop(path)
  await delay(1000)
  expect((heldBytes() - before) / clients / 2 ** 20).toBeLessThan(3)
}, 60_000)

test('[A222] a client that reads nothing for 30 s is cut off, and one that reads is not', async () => {
  vi.useFakeTimers()
  const stopped = readInTime(Readable.from(['a', 'b'], { highWaterMark: 1 }))
  const ended = new Promise<Error>((resolve) => stopped.once('error', resolve))
  stopped.read(0)
  await vi.advanceTimersByTimeAsync(readingMs.piece - 1)
  expect(stopped.destroyed).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect((await ended).message).toBe('The client did not read the answer in time.')
  const read = await Readable.from(['a', 'b'])[Symbol.asyncIterator]().next()
  expect(read.value).toBe('a')
  const text: string[] = []
  for await (const piece of readInTime(Readable.from(['c', 'd']))) text.push(String(piece))
  expect(text).toEqual(['c', 'd'])
  await vi.advanceTimersByTimeAsync(readingMs.whole)
})
