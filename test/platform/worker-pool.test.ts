import { afterAll, expect, test } from 'vitest'
import { QueueFull } from '../../platform/work/fair-queue.ts'
import { task, TaskExceeded, WorkerPool } from '../../platform/work/worker-pool.ts'
import type * as work from '../support/worker-tasks.ts'

const file = new URL('../support/worker-tasks.ts', import.meta.url)
const double = task<typeof work.double>(file, 'double')
const spin = task<typeof work.spin>(file, 'spin')
const fail = task<typeof work.fail>(file, 'fail')
const hoard = task<typeof work.hoard>(file, 'hoard')

const pool = new WorkerPool({ threads: 2, heapMb: 64, waitingPerAccount: 3 })
afterAll(() => pool.close())

test('[WK3] work runs in a thread, and its result and its error come back', async () => {
  const before = process.threadCpuUsage().user
  expect(await pool.run(double, new Uint8Array([1, 2, 3]), { account: 'a' })).toEqual(
    new Uint8Array([2, 4, 6]),
  )
  const spun = await pool.run(spin, 400, { account: 'a' })
  expect(spun).toBeGreaterThanOrEqual(400)
  expect((process.threadCpuUsage().user - before) / 1000).toBeLessThan(300)
  await expect(pool.run(fail, 'no such thing', { account: 'a' })).rejects.toThrow('no such thing')
})

test('[WK3] work past its time limit is ended, its thread with it, and the next is done', async () => {
  const endless = pool.run(spin, Infinity, { account: 'a', timeoutMs: 300 })
  const other = pool.run(double, new Uint8Array([4]), { account: 'b' })
  await expect(endless).rejects.toBeInstanceOf(TaskExceeded)
  expect(await other).toEqual(new Uint8Array([8]))
  expect(await pool.run(double, new Uint8Array([5]), { account: 'a' })).toEqual(new Uint8Array([10]))
})

test('[WK3] work that takes too much memory fails alone', async () => {
  await expect(pool.run(hoard, undefined, { account: 'a' })).rejects.toThrow(
    /^hoard took more than 64 MB of memory$/,
  )
  expect(await pool.run(double, new Uint8Array([6]), { account: 'a' })).toEqual(new Uint8Array([12]))
})

test('[WK3] one account never has all threads, and its queue is bounded', async () => {
  const long = Array.from({ length: 4 }, () => pool.run(spin, 300, { account: 'a' }))
  await expect(pool.run(spin, 1, { account: 'a' })).rejects.toBeInstanceOf(QueueFull)
  let done = 0
  for (const one of long) void one.then(() => (done += 1))
  await pool.run(double, new Uint8Array([7]), { account: 'b' })
  expect(done).toBeLessThan(4)
  await Promise.all(long)
})
