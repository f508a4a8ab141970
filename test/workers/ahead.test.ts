/** Deliveries that are claimed ahead, of receivers that answer quickly: what becomes of them when the receiver, or the service, stops. */
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { addDeliveries, allAttempts } from '../support/deliveries.ts'
import { until } from '../support/editor.ts'
import { openReceiver, type Answer, type Receiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

const queued = 200
const quick = 100
/** Of a slow machine; nothing here is proved by it. */
const patienceMs = 40_000
let testDatabase: TestDatabase
let service: TestService
let receiver: Receiver
/** What follows the first `quick` answers. */
let then: Answer

/** The states of all deliveries, with how many there are. */
async function states(): Promise<Record<string, number>> {
  const rows = await testDatabase.admin<{ status: string; count: number }[]>`
    select status, count(*)::integer from webhook_deliveries group by status`
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

const attemptsThat = (status: string) =>
  testDatabase.admin<
    { error: string | null }[]
  >`select error from ${allAttempts(testDatabase.admin)} a where status = ${status}`

beforeEach(async () => {
  testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  service = await startService({
    testDatabase,
    config: { egressAllow: ['127.0.0.1/32'] },
    queueTickMs: 100,
  })
  onTestFinished(() => service.close())
  receiver = await openReceiver((_request, nth) => (nth <= quick ? 200 : then))
  onTestFinished(() => receiver.close())
  const id = await makeWebhook(service, await service.user(), receiver.url)
  await addDeliveries(testDatabase.admin, id, queued, { payload: (n) => `{"n":${n}}` })
})

async function untilClaimedAhead(): Promise<void> {
  then = null
  await until(() => receiver.hanging.length === 4, 'four attempts hang', patienceMs)
  expect(receiver.received).toHaveLength(quick + 4)
  await until(
    async () => (await attemptsThat('succeeded')).length === quick,
    'the others are written down',
    patienceMs,
  )
}

test(
  '[W31] when a receiver stops answering, what was claimed ahead goes back into the queue, unlogged, and is sent once',
  { timeout: 150_000 },
  async () => {
    then = null
    await until(
      async () => ((await states())['sending'] ?? 0) > 4,
      'more is claimed than may be under way',
      patienceMs,
    )
    await untilClaimedAhead()
    await until(async () => (await states())['sending'] === 4, 'the rest is given back', 9000)
    expect(await states()).toEqual({ succeeded: quick, sending: 4, waiting: queued - quick - 4 })
    expect(receiver.received).toHaveLength(quick + 4)
    then = 200
    for (const response of receiver.hanging.splice(0)) response.writeHead(200).end()
    await until(async () => (await attemptsThat('succeeded')).length === queued, 'all are sent', patienceMs)
    expect(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size).toBe(queued)
    expect(receiver.received).toHaveLength(queued)
    expect(await states()).toEqual({ succeeded: queued })
    expect(await attemptsThat('failed')).toHaveLength(0)
    // In their order, but for the four that are under way side by side.
    const order = receiver.received.map(({ raw }) => (JSON.parse(raw.toString()) as { n: number }).n)
    for (const [place, n] of order.entries()) expect(Math.abs(n - 1 - place)).toBeLessThan(8)
  },
)

test(
  '[W32] a failure sends back what was claimed ahead: a webhook that fails from now on is switched off after 20 of them',
  { timeout: 150_000 },
  async () => {
    then = 500
    await until(
      async () => (await testDatabase.admin`select from webhooks where active`).length === 0,
      'it is off',
      patienceMs,
    )
    await until(async () => (await states())['given_up'] !== undefined, 'the rest is given up', patienceMs)
    // Three more may have been under way beside the first.
    expect(receiver.received.length).toBeGreaterThanOrEqual(quick + 20)
    expect(receiver.received.length).toBeLessThanOrEqual(quick + 23)
    for (const { error } of await attemptsThat('failed')) expect(error).toBe('answered 500')
  },
)

test(
  '[W24] a stop gives back what was claimed ahead, and logs nothing of it',
  { timeout: 150_000 },
  async () => {
    await untilClaimedAhead()
    const closed = service.close()
    for (const response of receiver.hanging.splice(0)) response.writeHead(200).end()
    await closed
    const now = await states()
    expect(now['sending']).toBeUndefined()
    // What ended as the stop began may have let others go.
    expect(now['succeeded']).toBe(receiver.received.length)
    expect(now['waiting']).toBe(queued - receiver.received.length)
    expect(receiver.received.length).toBeLessThan(queued)
    expect(await attemptsThat('failed')).toHaveLength(0)
  },
)
