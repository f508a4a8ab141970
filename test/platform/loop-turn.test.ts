import { expect, test, vi } from 'vitest'
import { LoopTurn, sendSoon } from '../../platform/work/loop-turn.ts'
import { openDatabase } from '../../sql/database.ts'
import { cloneDatabase } from '../support/database.ts'

test('[WK29] what is sent goes out before the next turn of long work', async () => {
  const order: string[] = []
  const next = new LoopTurn().next().then(() => order.push('long work'))
  sendSoon(() => order.push('sent'))
  await next
  expect(order).toEqual(['sent', 'long work'])
})

test('[WK29] without long work several sends of a turn go out together', async () => {
  const order: string[] = []
  sendSoon(() => order.push('sent'))
  await Promise.resolve()
  process.nextTick(() => order.push('tick'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(order).toEqual(['tick', 'sent'])
})

test('[WK29] the connections of the service send their queries through it', async () => {
  const { url, drop } = await cloneDatabase()
  const sends = vi.fn<(send: () => void) => void>((send) => process.nextTick(send))
  const database = openDatabase({ url, sendSoon: sends })
  try {
    const rows = await database.asSystem((tx) => tx<{ one: number }[]>`select 1 as one`)
    expect(rows[0]!.one).toBe(1)
    expect(sends).toHaveBeenCalled()
  } finally {
    await database.close()
    await drop()
  }
})
