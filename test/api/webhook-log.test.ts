/** The log of a webhook: its deliveries, their attempts, and queueing them again. */
import { expect, test } from 'vitest'
import { addDeliveries, type DeliveryState } from '../support/deliveries.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { nowhere, succeeded, type Shown } from './board.ts'
import { createWebhook, hookUrl as url } from './webhook.ts'

const now = Date.parse('2030-01-01T00:00:00.000Z')
const { service, user } = await serviceOfFile({ workers: false, clock: { now: () => now } })

const makeWebhook = (fields: Record<string, unknown> = {}, who = user) =>
  createWebhook(who, { url, events: ['board.created'], ...fields })

test('[W67] a test is queued with its event, also for a webhook that is off', async () => {
  const owner = await service.user()
  const { id } = await makeWebhook({}, owner)
  await owner.api.patch(`/webhooks/${id}`, { active: false })
  const { delivery } = succeeded(await owner.api.post(`/webhooks/${id}/test`))
  expect(delivery).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    delivery_id: delivery.id,
    webhook_id: id,
    event: 'webhook.test',
    status: 'waiting',
    attempt: 1,
    attempts_left: 5,
    status_code: null,
    duration_ms: null,
    error: null,
    payload: expect.any(String),
    created_at: expect.stringMatching(/Z$/),
    attempted_at: null,
    next_attempt_at: new Date(now).toISOString(),
  })
  expect(JSON.parse(delivery.payload)).toEqual({
    type: 'webhook.test',
    resource: { type: 'webhook', id },
    workspace: { id: owner.workspaceId },
    board: null,
    data: {},
    occurred_at: new Date(now).toISOString(),
  })
})

/** Attempts and queue as the workers leave them. */
async function addDelivery(
  webhookId: string,
  workspaceId: string,
  state: {
    status: NonNullable<DeliveryState['status']>
    at: string
    attempts: [status: string, at: string][]
  },
) {
  const { admin } = service
  const at = state.status === 'succeeded' ? state.attempts.at(-1)![1] : state.at
  const [id] = await addDeliveries(admin, webhookId, 1, {
    event: 'board.created',
    payload: () => '{"text":"é 😀"}',
    status: state.status,
    attempt: state.attempts.length,
    at,
  })
  const attempts: string[] = []
  for (const [n, [status, attemptedAt]] of state.attempts.entries()) {
    if (status === 'succeeded') {
      attempts.push(id!) // in the delivery's own row
      continue
    }
    const [attempt] = await admin`
      insert into webhook_attempts (delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, status_code, duration_ms, error, attempted_at)
      select id, place, ${webhookId}, ${workspaceId}, ${n + 1}, ${5 - n}, ${status}, 500, 12, 'answered 500', ${attemptedAt}::text::timestamptz
      from webhook_deliveries
      where id = ${id!}
      returning id`
    attempts.push(attempt!['id'])
  }
  return { id: id!, attempts }
}

async function walk(who: TestUser, webhookId: string, limit: number): Promise<Shown[]> {
  const entries: Shown[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: any = succeeded(await who.api.get(`/webhooks/${webhookId}/deliveries?limit=${limit}${query}`))
    expect(page.has_more).toBe(page.next_cursor !== null)
    expect(page.deliveries.length).toBe(page.has_more ? limit : page.deliveries.length)
    entries.push(...page.deliveries)
    cursor = page.next_cursor
  } while (cursor !== null)
  return entries
}

test('[W68] the log has an entry for each attempt and one for what waits or is sent, newest first, by a cursor', async () => {
  const owner = await service.user()
  const [{ id }, other] = [await makeWebhook({}, owner), await makeWebhook({}, owner)]
  const at = (minute: number) => `2029-12-31T23:${String(minute).padStart(2, '0')}:00.123456Z`
  const waiting = await addDelivery(id, owner.workspaceId, {
    status: 'waiting',
    at: '2030-01-01T02:00:00Z',
    attempts: [
      ['failed', at(10)],
      ['failed', at(11)],
    ],
  })
  const sending = await addDelivery(id, owner.workspaceId, {
    status: 'sending',
    at: '2030-01-01T00:00:30Z',
    attempts: [['failed', at(30)]],
  })
  const done = await addDelivery(id, owner.workspaceId, {
    status: 'succeeded',
    at: '',
    attempts: [
      ['failed', at(20)],
      ['succeeded', at(40)],
    ],
  })
  const lost = await addDelivery(id, owner.workspaceId, {
    status: 'given_up',
    at: at(25),
    attempts: [['given_up', at(25)]],
  })
  await addDelivery(other.id, owner.workspaceId, {
    status: 'waiting',
    at: '2030-01-01T01:00:00Z',
    attempts: [['failed', at(1)]],
  })
  // Many at one moment, for the ties.
  for (let n = 0; n < 7; n++)
    await addDelivery(id, owner.workspaceId, {
      status: 'succeeded',
      at: '',
      attempts: [['succeeded', at(5)]],
    })

  const entries = await walk(owner, id, 100)
  expect(
    entries
      .slice(0, 8)
      .map((entry) => [
        entry.id,
        entry['delivery_id'],
        entry['status'],
        entry['attempt'],
        entry['attempts_left'],
      ]),
  ).toEqual([
    [waiting.id, waiting.id, 'waiting', 3, 3],
    [sending.id, sending.id, 'sending', 2, 4],
    [done.id, done.id, 'succeeded', 2, 0],
    [sending.attempts[0], sending.id, 'failed', 1, 5],
    [lost.attempts[0], lost.id, 'given_up', 1, 5],
    [done.attempts[0], done.id, 'failed', 1, 5],
    [waiting.attempts[1], waiting.id, 'failed', 2, 4],
    [waiting.attempts[0], waiting.id, 'failed', 1, 5],
  ])
  expect(entries).toHaveLength(15)
  expect(entries[0]).toMatchObject({
    next_attempt_at: '2030-01-01T02:00:00.000Z',
    attempted_at: null,
    status_code: null,
    error: null,
    payload: '{"text":"é 😀"}',
  })
  expect(entries[3]).toMatchObject({
    next_attempt_at: null,
    attempted_at: '2029-12-31T23:30:00.123Z',
    status_code: 500,
    duration_ms: 12,
    error: 'answered 500',
  })
  for (const limit of [1, 2, 3, 7]) expect(await walk(owner, id, limit)).toEqual(entries)

  const { next_cursor: cursor } = (await owner.api.get(`/webhooks/${id}/deliveries?limit=3`)).body as any
  for (const [webhookId, bad] of [
    [other.id, cursor],
    [id, 'x'],
    [id, ''],
    [id, cursor.replace('|', '-')],
    [id, cursor.replace('2029-12', '2029-13')],
  ]) {
    const answer = await owner.api.get(`/webhooks/${webhookId}/deliveries?cursor=${encodeURIComponent(bad)}`)
    expect([answer.status, answer.body['error']]).toEqual([
      400,
      'cursor must be next_cursor of a page of this list, unchanged.',
    ])
  }
  for (const query of ['limit=0', 'limit=501', 'limit=x'])
    expect((await owner.api.get(`/webhooks/${id}/deliveries?${query}`)).status).toBe(400)
})

test('[W66] what goes with a webhook is all of its queue and log, in whatever state, and nothing of another', async () => {
  const owner = await service.user()
  const [{ id }, other] = [await makeWebhook({}, owner), await makeWebhook({}, owner)]
  const at = '2030-01-01T00:00:00Z'
  const states: [status: NonNullable<DeliveryState['status']>, attempts: string[]][] = [
    ['waiting', []],
    ['waiting', ['failed']],
    ['sending', []],
    ['sending', ['failed']],
    ['succeeded', ['failed', 'succeeded']],
    ['given_up', ['given_up']],
  ]
  for (const webhookId of [id, other.id])
    for (const [status, attempts] of states)
      await addDelivery(webhookId, owner.workspaceId, {
        status,
        at,
        attempts: attempts.map((one) => [one, at]),
      })
  const left = async () => [
    ...(await service.admin`
      select w.id, (select count(*)::integer from webhook_deliveries where webhook_id = w.id) as deliveries,
        (select count(*)::integer from webhook_attempts where webhook_id = w.id) as attempts
      from unnest(${[id, other.id]}::uuid[]) with ordinality as w(id, place) order by place`),
  ]
  expect(await left()).toMatchObject([
    { deliveries: 6, attempts: 4 },
    { deliveries: 6, attempts: 4 },
  ])
  await owner.api.delete(`/webhooks/${id}`)
  expect(await left()).toMatchObject([
    { deliveries: 0, attempts: 0 },
    { deliveries: 6, attempts: 4 },
  ])
})

test('[W69] a delivery is queued again by either id, under its own, with six attempts', async () => {
  const owner = await service.user()
  const [{ id }, other] = [await makeWebhook({}, owner), await makeWebhook({}, owner)]
  const state = {
    status: 'given_up' as const,
    at: '2029-12-31T23:00:00Z',
    attempts: [
      ['failed', '2029-12-31T23:00:00Z'],
      ['given_up', '2029-12-31T23:30:00Z'],
    ] as [string, string][],
  }
  const delivery = await addDelivery(id, owner.workspaceId, state)
  for (const named of [delivery.id, delivery.attempts[0], delivery.attempts[1]!.toUpperCase()]) {
    await service.admin`update webhook_deliveries set status = 'given_up', next_attempt_at = null where id = ${delivery.id}`
    const answer = await owner.api.post(`/webhooks/${id}/deliveries/${named}/redeliver`)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        delivery: {
          id: delivery.id,
          delivery_id: delivery.id,
          status: 'waiting',
          attempt: 1,
          attempts_left: 5,
        },
      },
    })
  }
  expect((await walk(owner, id, 100)).map((entry) => entry['status'])).toEqual([
    'waiting',
    'given_up',
    'failed',
  ])

  const foreign = await addDelivery(other.id, owner.workspaceId, state)
  const whole = async () => service.admin`select * from webhook_deliveries order by id`
  await owner.api.patch(`/webhooks/${id}`, { active: false })
  const before = await whole()
  expect(await owner.api.post(`/webhooks/${id}/deliveries/${delivery.id}/redeliver`)).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  })
  for (const missing of [foreign.id, foreign.attempts[0], nowhere])
    expect(await owner.api.post(`/webhooks/${id}/deliveries/${missing}/redeliver`)).toMatchObject({
      status: 404,
    })
  expect((await owner.api.post(`/webhooks/${id}/deliveries/x/redeliver`)).status).toBe(400)
  expect(await whole()).toEqual(before)
})
