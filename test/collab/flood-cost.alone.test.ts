import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { flood, type FloodKind } from '../support/flood.ts'
import { enter, type } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()
const guest = await service.user()

const cpuMs = () => {
  const { user: own, system } = process.threadCpuUsage()
  return (own + system) / 1000
}

const floodSeconds = 5

/** With how many frames each socket, or the account, may be answered in so many seconds. */
test.each<[FloodKind, (seconds: number) => number, number]>([
  ['awareness', (seconds) => 40 * (10 + 21 * seconds), 0.4],
  ['question', (seconds) => 40 * 10 + 2 * (200 + 51 * seconds), 0.4],
  // What a socket has sent is parsed, chunk by chunk. Were refused pings counted too, a socket whose client has gone would
  // take minutes to notice it.
  ['ping', (seconds) => 40 * 10 + 5000 + 5100 * seconds, 0.9],
])('[X80] 40 sockets of a guest that flood with: %s', async (kind, mostFrames, mostCores) => {
  const boardId: string = (await user.api.post('/boards', { name: 'Flooded' })).body.board.id
  await service.share(boardId, guest, 'viewer')
  const watcher = await enter(service.url, { boardId, token: user.token })
  const begun = performance.now()
  const kinds = Array.from({ length: 40 }, () => kind)
  const attack = await flood({ serviceUrl: service.url, boardId, token: guest.token, kinds })
  await delay(1000) // what an account may spend at once is spent
  const frames = () => watcher.received(type.awareness).length
  const [cpu, from, seen] = [cpuMs(), performance.now(), frames()]
  await delay(floodSeconds * 1000) // the flood's time, in which its cost is measured
  const seconds = (performance.now() - from) / 1000
  expect((cpuMs() - cpu) / 1000 / seconds).toBeLessThan(mostCores)
  // One a tick, and its joining and leaving.
  expect(frames() - seen).toBeLessThan(21 * seconds + 5)
  const { sent, received } = await attack.stop()
  expect(sent).toBeGreaterThan(10_000)
  expect(received).toBeLessThan(mostFrames((performance.now() - begun) / 1000))
  expect(watcher.closed).toBeNull()
  await everybodyGone(service)
})
