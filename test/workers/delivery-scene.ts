/** Deliveries of a service whose clock the test moves, to a receiver that answers as it is told. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Clock } from '../../platform/clock.ts'
import { addDeliveries, allAttempts, allDeliveries } from '../support/deliveries.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startService, type TestService, type TestServiceOptions, type TestUser } from '../support/service.ts'

export const minute = 60_000
export const clock: Clock & { time: number } = { time: Date.now(), now: () => clock.time }
let testDatabase: TestDatabase
export let service: TestService
export let receiver: Receiver
export let user: TestUser
export let boardId: string
const started: TestService[] = []

export async function start(options: TestServiceOptions = {}): Promise<TestService> {
  const one = await startService({
    testDatabase,
    clock,
    config: { egressAllow: ['127.0.0.1/32'], appEventPollSeconds: 1 },
    queueTickMs: 20,
    ...options,
  })
  started.push(one)
  return one
}

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  service = await start()
  receiver = await openReceiver()
})
afterAll(async () => {
  await receiver?.close()
  for (const one of started) await one.stop()
  await testDatabase?.drop()
})
beforeEach(async () => {
  user = await service.user()
  boardId = (await user.api.post('/boards', { name: 'Board' })).body.board.id
  await until(async () => (await service.admin`select from events`).length === 0, 'the outbox is empty')
  receiver.received.length = 0
})
afterEach(async () => {
  receiver.answer = () => 200
  for (const response of receiver.hanging.splice(0)) if (!response.headersSent) response.writeHead(200).end()
  await service.admin`delete from webhooks`
})

export interface Delivery {
  id: string
  status: string
  attempt: number
  next_attempt_at: Date | null
  event: string
}
export interface Attempt {
  delivery_id: string
  attempt: number
  attempts_left: number
  status: string
  status_code: number | null
  duration_ms: number | null
  error: string | null
  attempted_at: Date
}

export const deliveries = async (webhookId: string) => [
  ...(await service.admin<Delivery[]>`
    select * from ${allDeliveries(service.admin)} d where webhook_id = ${webhookId} order by created_at, id`),
]
export const attempts = async (webhookId: string) => [
  ...(await service.admin<Attempt[]>`
    select * from ${allAttempts(service.admin)} a where webhook_id = ${webhookId} order by attempted_at, attempt`),
]
export const webhook = async (id: string) =>
  (
    await service.admin<{ active: boolean; disabled_reason: string | null; failures: number }[]>`
      select active, disabled_reason, failures from webhooks where id = ${id}`
  )[0]!
export const notices = (of: TestUser) => service.admin<{ type: string; data: Record<string, unknown> }[]>`
  select type, data from notifications where user_id = ${of.userId}`

/** An event that the receiver will get. */
export const change = () => user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })

/** Queues deliveries as fan-out does. */
export async function queue(webhookId: string, count: number, event = 'card.created'): Promise<void> {
  const payload = (n: number) => `{"type":"${event}","n":${n}}`
  await addDeliveries(service.admin, webhookId, count, { event, payload, at: new Date(clock.time - 1000) })
}

export const settled = (webhookId: string, count: number) =>
  until(async () => (await attempts(webhookId)).length === count, `${count} attempts are written down`)
