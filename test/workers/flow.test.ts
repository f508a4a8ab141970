/** Many events of requests that wait at once: all of them leave, in order, and nobody is held back by others. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

const many = 600
/** Of a slow machine; nothing here is proved by it. */
const patienceMs = 60_000
let service: TestService
let receiver: Receiver

beforeAll(async () => {
  service = await startService({ config: { egressAllow: ['127.0.0.1/32'] } })
  receiver = await openReceiver()
})
afterAll(async () => {
  await service?.stop()
  await receiver?.close()
})

const got = (path: string) => receiver.received.filter((one) => one.path === path)

/** In the order in which they arrived. */
const numbers = (received: Received[]) => received.map(({ body }) => Number(body.data['card_ids'][0]))

/** Events of requests on the account's board, numbered, all at once. */
async function changeMuch(user: TestUser, board: string): Promise<void> {
  await service.admin`
    insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, op, origin, occurred_at)
    select 'card.created', ${user.workspaceId}::uuid, ${board}::uuid, 'board', ${board}, array[n::text], gen_random_uuid(), 'api',
      date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond'
    from generate_series(1, ${many}::integer) n
    order by n`
}

async function account(): Promise<{ user: TestUser; board: string }> {
  const user = await service.user()
  return { user, board: (await user.api.post('/boards', { name: 'Board' })).body.board.id }
}

const rename = (user: TestUser, board: string) => user.api.patch(`/boards/${board}`, { name: 'Other' })

/** Four are under way side by side; no more than that may they change places. */
function expectInOrder(order: number[]): void {
  expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: many }, (_, n) => n + 1))
  for (const [place, n] of order.entries()) expect(Math.abs(n - 1 - place)).toBeLessThan(8)
}

test(
  '[W34] many events that wait go out to each receiver once and in order',
  { timeout: 120_000 },
  async () => {
    const { user, board } = await account()
    const paths = ['/a', '/b', '/c']
    for (const path of paths)
      await makeWebhook(service, user, receiver.url + path, { events: ['card.created'] })
    await changeMuch(user, board)
    await rename(user, board)
    await until(() => paths.every((path) => got(path).length >= many), 'all of them arrive', patienceMs)
    for (const path of paths) {
      expectInOrder(numbers(got(path)))
      expect(new Set(got(path).map(({ deliveryId }) => deliveryId)).size).toBe(many)
    }
  },
)

test(
  '[W34] a receiver that falls behind holds back neither the others nor another workspace',
  { timeout: 120_000 },
  async () => {
    const { user, board } = await account()
    const stranger = await account()
    const slow = await openReceiver((_request, nth) => (nth <= 100 ? 200 : null))
    try {
      await makeWebhook(service, user, slow.url, { events: ['card.created'] })
      await makeWebhook(service, user, `${receiver.url}/quick`, { events: ['card.created'] })
      await makeWebhook(service, stranger.user, `${receiver.url}/stranger`, { events: ['board.updated'] })
      await changeMuch(user, board)
      await rename(user, board)
      await until(() => slow.hanging.length === 4, 'one has stopped answering', patienceMs)
      await rename(stranger.user, stranger.board)
      await until(
        () => got('/quick').length === many && got('/stranger').length === 1,
        'the others have theirs',
        9000,
      )
      // It would fail after 10 seconds: nobody waited for that.
      expect(slow.received).toHaveLength(104)
      expect(slow.hanging).toHaveLength(4)
      expectInOrder(numbers(got('/quick')))
    } finally {
      await service.admin`delete from webhooks`
      await slow.close()
    }
  },
)
