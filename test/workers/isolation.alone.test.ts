/** Who does not harm whom: slow receivers the others, a stop what is under way, one account another’s secrets. */
import { expect, onTestFinished, test } from 'vitest'
import { cloneDatabase } from '../support/database.ts'
import { addDeliveries, allAttempts, allDeliveries } from '../support/deliveries.ts'
import { until } from '../support/editor.ts'
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { startService, type TestService, type TestServiceOptions, type TestUser } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

const minute = 60_000
const reachable = { egressAllow: ['127.0.0.1/32'], appEventPollSeconds: 1 }

async function start(options: TestServiceOptions = {}): Promise<{ service: TestService; user: TestUser }> {
  const service = await startService({ config: reachable, queueTickMs: 50, ...options })
  onTestFinished(() => service.stop())
  return { service, user: await service.user() }
}

async function receiver(answer?: Receiver['answer']): Promise<Receiver> {
  const one = await openReceiver(answer)
  onTestFinished(() => one.close())
  return one
}

const queue = (service: TestService, webhookId: string, count: number) =>
  addDeliveries(service.admin, webhookId, count)

test(
  '[W23] a receiver that never answers, with 1,000 deliveries, and 40 more like it, leave a healthy one its p95 below 2 seconds',
  { timeout: 60_000 },
  async () => {
    const { service, user } = await start()
    const tarpit = await receiver(() => null)
    const healthy = await receiver()
    const stranger = await service.user()
    await queue(service, await makeWebhook(service, user, tarpit.url, { events: ['image.created'] }), 1000)
    for (let n = 0; n < 40; n++)
      await queue(service, await makeWebhook(service, stranger, `${tarpit.url}/${n}`), 10)
    await makeWebhook(service, user, healthy.url, { events: ['card.created'] })
    const boardId = (await user.api.post('/boards', { name: 'Board' })).body.board.id
    await until(() => tarpit.hanging.length >= 100, 'the tarpits are full')
    const answered = new Map<string, number>()
    const startedAt = performance.now()
    while (performance.now() - startedAt < 12_000) {
      const { body } = await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })
      answered.set(body.cards[0].id, performance.now())
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await until(() => healthy.received.length === answered.size, 'the healthy receiver has all')
    const latencies = healthy.received
      .map((one: Received) => one.at - answered.get(one.body.data['card_ids'][0])!)
      .sort((a, b) => a - b)
    expect(latencies.length).toBeGreaterThan(100)
    expect(latencies[Math.floor(latencies.length * 0.95)]).toBeLessThan(2000)
    // Of one webhook few at a time, and one once it has failed.
    const atOnce = tarpit.received.filter(({ path, at }) => path === '/' && at - startedAt < 5000)
    expect(atOnce.length).toBeLessThanOrEqual(4)
    for (const response of tarpit.hanging) response.destroy()
    tarpit.answer = () => 500
  },
)

test('[W24] a stop lets attempts that are under way end, writes them down, and starts no others', async () => {
  const testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  const service = await startService({ testDatabase, config: reachable, queueTickMs: 50 })
  const user = await service.user()
  const slow = await receiver(() => null)
  const id = await makeWebhook(service, user, slow.url)
  await queue(service, id, 10)
  await until(() => slow.hanging.length === 4, 'four attempts are under way')
  const closed = service.close()
  await new Promise((resolve) => setTimeout(resolve, 100))
  slow.answer = () => 200
  for (const response of slow.hanging) response.writeHead(200).end()
  await closed
  const statuses = await testDatabase.admin<{ status: string; count: number }[]>`
    select status, count(*)::integer from webhook_deliveries group by status order by status`
  expect([...statuses]).toEqual([
    { status: 'succeeded', count: 4 },
    { status: 'waiting', count: 6 },
  ])
  expect(
    await testDatabase.admin`select from ${allAttempts(testDatabase.admin)} a where status = 'succeeded'`,
  ).toHaveLength(4)
})

test('[W25] deliveries and their attempts are kept for 30 days', async () => {
  const testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  const quiet = await startService({ testDatabase, config: reachable, workers: false })
  const user = await quiet.user()
  const id = await makeWebhook(quiet, user, 'https://example.com/hook')
  for (const [days, status] of [
    [31, 'succeeded'],
    [31, 'given_up'],
    [29, 'succeeded'],
    [29, 'given_up'],
  ] as const) {
    const at = new Date(Date.now() - days * 24 * 60 * minute)
    await addDeliveries(testDatabase.admin, id, 1, { status, at, createdAt: at, attempt: 1 })
    await testDatabase.admin`
      insert into webhook_attempts (delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, attempted_at)
      select id, place, webhook_id, workspace_id, 1, 0, 'failed', ${at} from webhook_deliveries order by place desc limit 1`
  }
  const later = new Date(Date.now() + 60 * minute)
  await addDeliveries(testDatabase.admin, id, 1, {
    at: later,
    createdAt: new Date(Date.now() - 31 * 24 * 60 * minute),
  })
  await quiet.close()
  const service = await startService({ testDatabase, config: reachable })
  onTestFinished(() => service.close())
  await until(
    async () => (await testDatabase.admin`select from ${allDeliveries(testDatabase.admin)} d`).length === 3,
    'the old ones are gone',
  )
  const left = await testDatabase.admin<{ age: number }[]>`
    select extract(day from now() - a.attempted_at)::integer as age from webhook_attempts a`
  expect(left.map(({ age }) => age)).toEqual([29, 29])
  await until(
    async () => (await testDatabase.admin`select from webhook_payloads`).length === 3,
    'and what they sent',
  )
})

test('[W26] a secret that cannot be read sends nothing, is a failure that says so, and harms no other webhook', async () => {
  const { service, user } = await start()
  const target = await receiver()
  const broken = await makeWebhook(service, user, `${target.url}/broken`)
  await service.admin`update webhooks set secret = 'x'::bytea where id = ${broken}`
  await makeWebhook(service, user, `${target.url}/whole`)
  await user.api.post('/boards', { name: 'Board' })
  await until(() => target.received.length === 1, 'the other webhook')
  await until(
    async () => (await service.admin`select from ${allAttempts(service.admin)} a`).length === 2,
    'both attempts are logged',
  )
  const [attempt] =
    await service.admin`select status, error from webhook_attempts where webhook_id = ${broken}`
  expect(attempt).toEqual({
    status: 'failed',
    error: 'not sent: the secret of this webhook cannot be read',
  })
  expect(target.received.map(({ path }) => path)).toEqual(['/whole'])
})

test('[W27] webhooks, their queue and log are for writers of the workspace; a request reads no secret, and notifications only its own', async () => {
  const { service, user: owner } = await start({ workers: false })
  const [editor, viewer, stranger] = [await service.user(), await service.user(), await service.user()]
  await service.member(owner.workspaceId, editor, 'editor')
  await service.member(owner.workspaceId, viewer, 'viewer')
  const id = await makeWebhook(service, owner, 'https://example.com/hook')
  await queue(service, id, 1)
  await service.admin`
    insert into webhook_attempts (delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, attempted_at)
    select id, place, webhook_id, workspace_id, 1, 5, 'failed', now() from webhook_deliveries`
  await service.admin`insert into notifications (user_id, type) values (${owner.userId}, 'a'), (${editor.userId}, 'b')`
  const seen = (user: TestUser) =>
    service.database.asUser(user.userId, async (tx) => {
      const [row] = await tx`
        select (select count(id) from webhooks)::integer as webhooks,
          (select count(*) from webhook_deliveries)::integer as deliveries,
          (select count(*) from webhook_payloads)::integer as payloads,
          (select count(*) from webhook_attempts)::integer as attempts,
          (select coalesce(string_agg(type, ','), '') from notifications) as notifications`
      return row
    })
  expect(await seen(owner)).toEqual({
    webhooks: 1,
    deliveries: 1,
    payloads: 1,
    attempts: 1,
    notifications: 'a',
  })
  expect(await seen(editor)).toEqual({
    webhooks: 1,
    deliveries: 1,
    payloads: 1,
    attempts: 1,
    notifications: 'b',
  })
  for (const user of [viewer, stranger])
    expect(await seen(user)).toEqual({
      webhooks: 0,
      deliveries: 0,
      payloads: 0,
      attempts: 0,
      notifications: '',
    })
  for (const column of ['secret', 'previous_secret'])
    await expect(
      service.database.asUser(owner.userId, (tx) => tx`select ${tx(column)} from webhooks`),
    ).rejects.toMatchObject({ code: '42501' })
  await expect(service.database.asUser(owner.userId, (tx) => tx`select from events`)).rejects.toMatchObject({
    code: '42501',
  })
  const enqueue = (user: TestUser) =>
    service.database.asUser(user.userId, async (tx) => {
      const [row] = await tx<
        { id: string | null }[]
      >`select queue_delivery(${id}, 'webhook.test', '{}', now()) as id`
      return row!.id
    })
  expect(await enqueue(editor)).not.toBeNull()
  for (const user of [viewer, stranger]) expect(await enqueue(user)).toBeNull()
})
