import { expect, test } from 'vitest'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'

/** Work that ends when it is told, and says when it began. */
function work(queue: FairQueue, began: string[], account: string, name: string, signal?: AbortSignal) {
  const { promise: hold, resolve: end } = Promise.withResolvers<void>()
  const done = queue.run(
    account,
    async () => {
      began.push(name)
      await hold
      return name
    },
    signal ? { signal } : {},
  )
  return { end, done }
}

test('[WK1] accounts take turns: one that queues a lot delays another by one piece', async () => {
  const queue = new FairQueue({ atOnce: 1, waiting: 100, waitingPerAccount: 50 })
  const began: string[] = []
  const first = work(queue, began, 'a', 'a1')
  const rest = ['a2', 'a3', 'a4'].map((name) => work(queue, began, 'a', name))
  const other = ['b1', 'b2'].map((name) => work(queue, began, 'b', name))
  expect(queue).toMatchObject({ running: 1, waiting: 5 })
  for (const one of [first, ...rest, ...other]) one.end()
  expect(await Promise.all([first, ...rest, ...other].map(({ done }) => done))).toEqual([
    ...['a1', 'a2', 'a3', 'a4'],
    ...['b1', 'b2'],
  ])
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
  expect(queue).toMatchObject({ running: 0, waiting: 0 })
})

test('[WK1] an account has no more slots than its share, however many are free', async () => {
  const queue = new FairQueue({ atOnce: 3, atOncePerAccount: 2, waiting: 100, waitingPerAccount: 50 })
  const began: string[] = []
  const pieces = [
    ...['a1', 'a2', 'a3'].map((name) => work(queue, began, 'a', name)),
    work(queue, began, 'b', 'b1'),
  ]
  await Promise.resolve()
  expect(began).toEqual(['a1', 'a2', 'b1'])
  for (const { end } of pieces) end()
  await Promise.all(pieces.map(({ done }) => done))
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('[WK2] what waits is bounded, for an account and in all, and a refusal leaves the others alone', async () => {
  const queue = new FairQueue({ atOnce: 1, waiting: 3, waitingPerAccount: 2 })
  const began: string[] = []
  const pieces = [
    ...['a1', 'a2', 'a3'].map((name) => work(queue, began, 'a', name)),
    work(queue, began, 'b', 'b1'),
  ]
  await expect(work(queue, began, 'a', 'a4').done).rejects.toBeInstanceOf(QueueFull)
  await expect(work(queue, began, 'c', 'c1').done).rejects.toBeInstanceOf(QueueFull)
  for (const { end } of pieces) end()
  await Promise.all(pieces.map(({ done }) => done))
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('[WK2] work that is given up while it waits never begins, and work that fails frees its slot', async () => {
  const queue = new FairQueue({ atOnce: 1, waiting: 9, waitingPerAccount: 9 })
  const began: string[] = []
  const first = work(queue, began, 'a', 'a1')
  const giving = new AbortController()
  const second = work(queue, began, 'b', 'b1', giving.signal)
  giving.abort(new Error('given up'))
  await expect(second.done).rejects.toThrow('given up')
  const failing = queue.run('b', () => Promise.reject(new Error('failed')))
  first.end()
  await expect(failing).rejects.toThrow('failed')
  expect(await queue.run('c', () => 'c1')).toBe('c1')
  expect(began).toEqual(['a1'])
  expect(queue).toMatchObject({ running: 0, waiting: 0 })
})

test('[WK1] pieces that take several units do not let smaller ones of others pass for ever', async () => {
  const queue = new FairQueue({ atOnce: 4, atOncePerAccount: 3 })
  const order: string[] = []
  const take = async (account: string, units: number) => {
    const end = await queue.take(account, { units })
    order.push(`${account}${units}`)
    return end
  }
  const [first, second] = await Promise.all([take('a', 3), take('b', 1)])
  const rest = [take('c', 2), take('b', 1), take('d', 1)]
  second()
  second() // does nothing more
  await Promise.resolve()
  expect(order).toEqual(['a3', 'b1'])
  first()
  for (const one of rest) (await one)()
  expect(order).toEqual(['a3', 'b1', 'c2', 'b1', 'd1'])
  expect(queue).toMatchObject({ running: 0, waiting: 0 })
})

test('[WK2] work that is given up makes room for what waited behind it', async () => {
  const queue = new FairQueue({ atOnce: 2 })
  const first = await queue.take('a')
  const giving = new AbortController()
  const large = queue.take('b', { units: 2, signal: giving.signal })
  const small = queue.take('b')
  giving.abort(new Error('given up'))
  await expect(large).rejects.toThrow('given up')
  ;(await small)()
  first()
  expect(queue).toMatchObject({ running: 0, waiting: 0 })
})
