import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { inTurnOfRequests } from '../../api/http/request-turns.ts'

afterEach(() => vi.restoreAllMocks())

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** The count begins anew. */
beforeEach(async () => {
  burst(2)
  for (let turns = 0; turns < 3; turns++) await turn()
})

/** Begins so many requests at once. @returns those that have begun, in order */
function burst(count: number): number[] {
  const begun: number[] = []
  for (let n = 0; n < count; n++) inTurnOfRequests(() => void begun.push(n))
  return begun
}

test('[RQ1] of requests that come together, four begin in each turn, in their order', async () => {
  const begun = burst(14)
  const counts = [begun.length]
  for (let turns = 0; turns < 3; turns++) {
    await turn()
    counts.push(begun.length)
  }
  expect(counts).toEqual([4, 8, 12, 14])
  expect(begun).toEqual(Array.from({ length: 14 }, (_, n) => n))
})

test('[RQ1] a request that comes while others wait begins after them', async () => {
  const begun = burst(6)
  inTurnOfRequests(() => void begun.push(99))
  await turn()
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 99])
})

test('[RQ1] a thousand requests begin within 40 turns', async () => {
  const begun = burst(1000)
  for (let turns = 0; turns < 40; turns++) await turn()
  expect(begun.length).toBe(1000)
})

test('[RQ2] a request alone begins at once, and needs no pass through the event loop', () => {
  const immediates = vi.spyOn(globalThis, 'setImmediate')
  expect(burst(1)).toEqual([0])
  expect(immediates).not.toHaveBeenCalled()
})
