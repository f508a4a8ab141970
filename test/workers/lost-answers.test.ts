/** Outcomes whose record is committed, but the answer of the database is lost. */
import { expect, test } from 'vitest'
import { addDeliveries } from '../support/deliveries.ts'
import { until } from '../support/editor.ts'
import { connectionLost } from '../support/gated-database.ts'
import { openReceiver } from '../support/receiver.ts'
import { forFile, gatedServiceOfFile } from '../support/test-file.ts'
import { makeWebhook } from '../support/webhook.ts'

const { service, database, user } = await gatedServiceOfFile({
  config: { egressAllow: ['127.0.0.1/32'] },
  queueTickMs: 20,
})
const receiver = await forFile(openReceiver())

test('[W39] an attempt that failed is counted and logged once, also when the answer to its record is lost', async () => {
  let lost = 0
  const { asSystem } = database
  database.asSystem = async (work, waiting) => {
    let recorded = 0
    const result = await asSystem(async (tx) => {
      const before = await countAttempts(tx)
      const done = await work(tx)
      recorded = (await countAttempts(tx)) - before
      return done
    }, waiting)
    if (recorded === 0 || lost === 1) return result
    lost += 1
    throw connectionLost()
  }
  receiver.answer = () => 500
  const id = await makeWebhook(service, user, receiver.url)
  await service.admin`update webhooks set failures = 18 where id = ${id}`
  await addDeliveries(service.admin, id, 1)
  await until(() => lost === 1, 'the answer is lost')
  // It is recorded again before anything of its webhook is sent.
  await addDeliveries(service.admin, id, 1, { event: 'board.updated' })
  await until(() => receiver.received.length === 2, 'the next one is sent')
  const log = () => service.admin`
    select delivery_id, attempt, status from webhook_attempts where webhook_id = ${id} order by attempted_at`
  await until(async () => (await log()).length >= 2, 'the next one is recorded')
  expect(new Set((await log()).map((row) => row['delivery_id'])).size).toBe(2)
  expect(await log()).toMatchObject([
    { attempt: 1, status: 'failed' },
    { attempt: 1, status: 'failed' },
  ])
  expect(await service.admin`select failures, active from webhooks where id = ${id}`).toMatchObject([
    { failures: 20, active: false },
  ])
})

const countAttempts = async (
  tx: typeof service.admin | Parameters<Parameters<typeof database.asSystem>[0]>[0],
) => {
  const [row] = await tx<{ count: number }[]>`select count(*)::integer as count from webhook_attempts`
  return row!.count
}

test('[W39] a success is stored once, also when the answer to its record is lost', async () => {
  let lost = 0
  const { callAsSystem } = database
  database.callAsSystem = async (call, pool) => {
    const before = await countSuccesses()
    const result = await callAsSystem(call, pool)
    if (lost === 1 || (await countSuccesses()) === before) return result
    lost += 1
    throw connectionLost()
  }
  receiver.answer = () => 200
  receiver.received.length = 0
  const id = await makeWebhook(service, user, receiver.url)
  await addDeliveries(service.admin, id, 1)
  await until(() => lost === 1, 'the answer is lost')
  await addDeliveries(service.admin, id, 1, { event: 'board.updated' })
  await until(() => receiver.received.length === 2, 'the next one is sent')
  await until(async () => (await countSuccesses()) === 2, 'both are stored as successes of their deliveries')
  expect(await service.admin`select status from webhook_attempts where webhook_id = ${id}`).toEqual([])
})

async function countSuccesses(): Promise<number> {
  const [row] = await service.admin<{ count: number }[]>`
    select count(*)::integer as count from webhook_deliveries where status = 'succeeded'`
  return row!.count
}
