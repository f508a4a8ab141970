import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { afterEach, expect, test, vi } from 'vitest'
import { Intake, noRest } from '../../collab/gateway/intake.ts'

afterEach(() => vi.restoreAllMocks())

const turn = () => new Promise((resolve) => setImmediate(resolve))

function open(take: () => Promise<unknown> | null = () => null) {
  const taken: number[] = []
  const intake = new Intake<number>({
    waitMs: () => 0,
    take(frame) {
      taken.push(frame)
      return take()
    },
    socket: { readyState: WebSocket.OPEN, pause: () => undefined, resume: () => undefined },
  })
  return { intake, taken }
}

test('[X101] few frames in a turn need no pass through the event loop of their own', async () => {
  const { intake, taken } = open()
  const immediates = vi.spyOn(globalThis, 'setImmediate')
  for (let n = 0; n < 7; n++) intake.receive(n)
  expect(taken.length).toBe(7)
  expect(immediates).not.toHaveBeenCalled()
})

test('[X101] a socket gives at most 64 frames in a turn, however few it gave in the turns before', async () => {
  for (const before of [0, 1, 7, 8, 63]) {
    const { intake, taken } = open()
    for (let n = 0; n < before; n++) {
      intake.receive(n)
      await turn()
      await turn()
    }
    taken.length = 0
    for (let n = 0; n < 300; n++) intake.receive(n)
    expect(taken.length).toBeLessThanOrEqual(64)
    expect(taken.length).toBeGreaterThan(48)
    for (let last = -1; taken.length < 300;) {
      expect(taken.length).toBeGreaterThan(last)
      last = taken.length
      await turn()
      await turn()
      expect(taken.length - last).toBeLessThanOrEqual(128) // two turns
    }
    expect(taken).toEqual(Array.from({ length: 300 }, (_, n) => n))
  }
})

test('[X137] a socket rests after a slow frame, but not when the document was built for it', async () => {
  for (const result of ['applied', noRest]) {
    const slow = Promise.withResolvers<unknown>()
    const { intake, taken } = open(() => slow.promise)
    intake.receive(1)
    intake.receive(2)
    await delay(50)
    slow.resolve(result)
    await turn()
    expect(taken.length).toBe(result === noRest ? 2 : 1)
  }
})
