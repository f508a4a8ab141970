/** Deliveries: attempts and their waits, what counts as a failure, leases. The clock is the test's. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { addDeliveries, allAttempts } from '../support/deliveries.ts'
import { openReceiver } from '../support/receiver.ts'
import { makeWebhook, webhookSecret } from '../support/webhook.ts'
import { waitAfter } from '../../workers/deliveries/retry.ts'
import {
  attempts,
  boardId,
  change,
  clock,
  deliveries,
  minute,
  queue,
  receiver,
  service,
  settled,
  start,
  user,
  webhook,
} from './delivery-scene.ts'

test('[W10] six attempts: at once, and 1 minute, 5 minutes, 25 minutes, 2 hours and 10 hours after the one before; never a seventh', async () => {
  receiver.answer = () => 500
  const id = await makeWebhook(service, user, receiver.url)
  const startedAt = clock.time
  await change()
  const waits = [1, 5, 25, 120, 600]
  const sinceStart: number[] = [0]
  for (const [n, minutes] of waits.entries()) {
    await settled(id, n + 1)
    const [waiting] = await deliveries(id)
    expect(waiting).toMatchObject({ status: 'waiting', attempt: n + 1 })
    expect(waiting!.next_attempt_at!.getTime()).toBe(clock.time + minutes * minute)
    clock.time += minutes * minute - 1
    await new Promise((resolve) => setTimeout(resolve, 100)) // several looks at the queue
    expect(receiver.received).toHaveLength(n + 1)
    clock.time += 1
    sinceStart.push(clock.time - startedAt)
  }
  await settled(id, 6)
  expect(sinceStart).toEqual([0, 1, 6, 31, 151, 751].map((minutes) => minutes * minute))
  const log = await attempts(id)
  expect(
    log.map(({ attempt, attempts_left, status, status_code }) => [
      attempt,
      attempts_left,
      status,
      status_code,
    ]),
  ).toEqual([
    [1, 5, 'failed', 500],
    [2, 4, 'failed', 500],
    [3, 3, 'failed', 500],
    [4, 2, 'failed', 500],
    [5, 1, 'failed', 500],
    [6, 0, 'given_up', 500],
  ])
  expect(log.map(({ attempted_at }) => attempted_at.getTime() - startedAt)).toEqual(sinceStart)
  expect(await deliveries(id)).toMatchObject([{ status: 'given_up', next_attempt_at: null }])
  clock.time += 100 * 60 * minute
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(receiver.received).toHaveLength(6)
  // The same delivery each time, to the byte; a timestamp and signature of its own.
  expect(new Set(receiver.received.map(({ deliveryId }) => deliveryId))).toEqual(
    new Set([log[0]!.delivery_id]),
  )
  expect(new Set(receiver.received.map(({ raw }) => raw.toString())).size).toBe(1)
  expect(receiver.received.map(({ headers }) => Number(headers['x-service-request-timestamp']))).toEqual(
    sinceStart.map((ms) => Math.floor((startedAt + ms) / 1000)),
  )
  expect(new Set(receiver.received.map(({ headers }) => headers['x-service-signature'])).size).toBe(6)
})

test('[W29] what is queued is sent and signed as it stands, at every attempt', async () => {
  receiver.answer = (_request, nth) => (nth === 1 ? 500 : 200)
  const id = await makeWebhook(service, user, receiver.url)
  const payload = '{ "n" : 1.0, "text": "\\u00e9\\/\u2028", "n": 1e2 }'
  await addDeliveries(service.admin, id, 1, { payload: () => payload, at: new Date(clock.time) })
  await settled(id, 1)
  clock.time += minute
  await settled(id, 2)
  for (const { raw, headers } of receiver.received) {
    expect(raw.toString()).toBe(payload)
    const signed = `v0:${String(headers['x-service-request-timestamp'])}:${payload}`
    const hmac = createHmac('sha256', webhookSecret).update(signed).digest('hex')
    expect(headers['x-service-signature']).toBe(`v0=${hmac}`)
  }
  expect(receiver.received).toHaveLength(2)
})

test('[W30] a wait grows by at most a tenth', () => {
  const waits = [60, 300, 1500, 7200, 36_000]
  for (const [n, seconds] of waits.entries()) {
    expect(waitAfter(n + 1, waits, null, 0)).toBe(seconds * 1000)
    expect(waitAfter(n + 1, waits, null, 0.5)).toBe(seconds * 1050)
    expect(waitAfter(n + 1, waits, null, 1)).toBe(seconds * 1100)
  }
  expect(waitAfter(6, waits, null, 1)).toBeNull()
})

test('[W11] a success ends it, whatever 2xx it is; the counter of failures starts again', async () => {
  receiver.answer = (_, nth) => (nth < 3 ? 503 : 204)
  const id = await makeWebhook(service, user, receiver.url)
  await change()
  await settled(id, 1)
  clock.time += minute
  await settled(id, 2)
  expect((await webhook(id)).failures).toBe(2)
  clock.time += 5 * minute
  await settled(id, 3)
  expect(await deliveries(id)).toMatchObject([{ status: 'succeeded', attempt: 3, next_attempt_at: null }])
  expect((await attempts(id)).at(-1)).toMatchObject({
    status: 'succeeded',
    status_code: 204,
    error: null,
    attempts_left: 0,
  })
  expect((await webhook(id)).failures).toBe(0)
})

test('[W12] anything but 2xx is a failure: errors, redirects, 410, a connection that is refused, reset or not permitted; each is logged with what is known', async () => {
  const elsewhere = await openReceiver()
  const cases: [
    path: string,
    answer: Parameters<typeof openReceiver>[0],
    status: number | null,
    error: RegExp,
  ][] = [
    ['/404', () => 404, 404, /^answered 404$/],
    ['/410', () => 410, 410, /^answered 410$/],
    ['/302', () => ({ status: 302, headers: { location: elsewhere.url } }), 302, /^answered 302$/],
    ['/304', () => 304, 304, /^answered 304$/],
  ]
  const byPath = new Map(cases.map(([path, answer]) => [path, answer!]))
  receiver.answer = (request, nth) => byPath.get(request.path)!(request, nth)
  const closed = await openReceiver()
  await closed.close()
  const ids = new Map<string, string>()
  for (const [path] of cases) ids.set(path, await makeWebhook(service, user, receiver.url + path))
  ids.set('refused', await makeWebhook(service, user, closed.url))
  ids.set('forbidden', await makeWebhook(service, user, 'http://10.1.2.3/hook'))
  await change()
  for (const [path, , status, error] of cases) {
    await settled(ids.get(path)!, 1)
    const [attempt] = await attempts(ids.get(path)!)
    expect(attempt).toMatchObject({ status: 'failed', status_code: status, attempts_left: 5 })
    expect(attempt!.error).toMatch(error)
    expect(attempt!.duration_ms).toBeGreaterThanOrEqual(0)
    expect(attempt!.duration_ms).toBeLessThan(10_000)
  }
  for (const name of ['refused', 'forbidden']) {
    await settled(ids.get(name)!, 1)
    const [attempt] = await attempts(ids.get(name)!)
    expect(attempt).toMatchObject({ status: 'failed', status_code: null })
    expect(attempt!.error).toMatch(name === 'refused' ? /refused/ : /^url must/)
  }
  expect(elsewhere.received).toEqual([])
  await elsewhere.close()
})

test('[W13] an attempt that is not answered in full within 10 seconds is a failure', async () => {
  receiver.answer = () => null
  const id = await makeWebhook(service, user, receiver.url)
  const askedAt = performance.now()
  await change()
  await until(async () => (await attempts(id)).length === 1, 'the attempt', 15_000)
  const tookMs = performance.now() - askedAt
  expect(tookMs).toBeGreaterThan(9900)
  expect(tookMs).toBeLessThan(12_000)
  const [attempt] = await attempts(id)
  expect(attempt).toMatchObject({ status: 'failed', status_code: null })
  expect(attempt!.error).toMatch(/within 10 s/)
  expect(attempt!.duration_ms).toBeGreaterThan(9900)
})

test.each([
  ['600', 5 * minute], // never beyond the next longer wait
  ['120', 2 * minute],
  ['5', minute],
  ['nonsense', minute],
  ['Thu, 01 Jan 1970 00:00:00 GMT', minute],
])('[W14] Retry-After: %s lengthens the wait, up to the next longer one', async (value, expected) => {
  receiver.answer = () => ({ status: 503, headers: { 'retry-after': value } })
  const id = await makeWebhook(service, user, receiver.url)
  await change()
  await settled(id, 1)
  const [delivery] = await deliveries(id)
  expect(delivery!.next_attempt_at!.getTime() - clock.time).toBe(expected)
})

test('[W19] a delivery that is queued again has six new attempts under its old id; an attempt under way then is logged and decides nothing', async () => {
  receiver.answer = () => null
  const id = await makeWebhook(service, user, receiver.url)
  await change()
  await until(() => receiver.hanging.length === 1, 'an attempt is under way')
  const [one] = await deliveries(id)
  const again = (delivery: string, account = user.userId, of = id) =>
    service.database.asUser(account, async (tx) => {
      const [row] = await tx<
        { id: string | null }[]
      >`select queue_again(${of}, ${delivery}, ${new Date(clock.time)}) as id`
      return row!.id
    })
  expect(await again(one!.id)).toBe(one!.id)
  await until(() => receiver.hanging.length === 2, 'a second one beside it')
  receiver.hanging[0]!.writeHead(200).end()
  await settled(id, 1)
  expect(await deliveries(id)).toMatchObject([{ status: 'sending', attempt: 0 }])
  receiver.hanging[1]!.writeHead(500).end()
  await settled(id, 2)
  expect(await deliveries(id)).toMatchObject([{ status: 'waiting', attempt: 1 }])
  const ended = await attempts(id)
  receiver.answer = () => 200
  await service.admin`update webhook_deliveries set status = 'given_up', next_attempt_at = null where webhook_id = ${id}`
  expect(
    await again(
      (
        await service.admin`select id from ${allAttempts(service.admin)} a where delivery_id = ${one!.id}`
      )[0]!['id'],
    ),
  ).toBe(one!.id)
  await settled(id, ended.length + 1)
  expect(await deliveries(id)).toMatchObject([{ status: 'succeeded', attempt: 1 }])
  expect(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size).toBe(1)
  const [viewer, stranger] = [await service.user(), await service.user()]
  await service.member(user.workspaceId, viewer, 'viewer')
  expect(await again(one!.id, viewer.userId)).toBeNull()
  expect(await again(one!.id, stranger.userId)).toBeNull()
  const other = await makeWebhook(service, user, receiver.url)
  expect(await again(one!.id, user.userId, other)).toBeNull()
})

test('[W19] also when the attempt under way fails, it decides nothing', async () => {
  receiver.answer = () => null
  const id = await makeWebhook(service, user, receiver.url)
  await change()
  await until(() => receiver.hanging.length === 1, 'an attempt is under way')
  const [one] = await deliveries(id)
  await service.database.asUser(
    user.userId,
    (tx) => tx`select queue_again(${id}, ${one!.id}, ${new Date(clock.time)})`,
  )
  await until(() => receiver.hanging.length === 2, 'a second one beside it')
  receiver.hanging[0]!.writeHead(500).end()
  await settled(id, 1)
  expect(await deliveries(id)).toMatchObject([{ status: 'sending', attempt: 0, next_attempt_at: null }])
  receiver.hanging[1]!.writeHead(200).end()
  await settled(id, 2)
  expect(await deliveries(id)).toMatchObject([{ status: 'succeeded', attempt: 1 }])
  expect(receiver.received).toHaveLength(2)
})

test('[W20] a lease that lapses makes the delivery due again, under the same id; the interrupted attempt is logged and not counted', async () => {
  const id = await makeWebhook(service, user, receiver.url)
  const at = new Date(clock.time + 30_000)
  await addDeliveries(service.admin, id, 1, {
    status: 'sending',
    payload: () => '{"a": 1}',
    at,
    attempt: 2,
    fence: 5,
  })
  clock.time += 29_999
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(receiver.received).toHaveLength(0)
  clock.time += 1
  await settled(id, 2)
  expect(await deliveries(id)).toMatchObject([{ status: 'succeeded', attempt: 3 }])
  expect(
    (await attempts(id)).map(({ attempt, status, duration_ms }) => [attempt, status, duration_ms !== null]),
  ).toEqual([
    [3, 'failed', false],
    [3, 'succeeded', true],
  ])
  expect(receiver.received[0]!.raw.toString()).toBe('{"a": 1}')
})

test('[W33] what a killed process had claimed and perhaps never sent costs nothing: none of the six attempts, none of the 20 failures', async () => {
  receiver.answer = () => null
  const id = await makeWebhook(service, user, receiver.url)
  await service.admin`update webhooks set failures = 19 where id = ${id}`
  // As it leaves them: 29 that were never tried, and one before its last attempt.
  const claimed = { status: 'sending', at: new Date(clock.time + 30_000 - 1), fence: 1 } as const
  await addDeliveries(service.admin, id, 1, { ...claimed, attempt: 5 })
  await addDeliveries(service.admin, id, 29, claimed)
  clock.time += 30_000
  await settled(id, 30)
  for (const entry of await attempts(id)) {
    const [number, left] = entry.attempts_left === 1 ? [6, 1] : [1, 6]
    expect(entry).toMatchObject({
      status: 'failed',
      status_code: null,
      duration_ms: null,
      attempt: number,
      attempts_left: left,
    })
    expect(entry.error).toMatch(/^interrupted: .* does not count$/)
  }
  expect(await webhook(id)).toEqual({ active: true, disabled_reason: null, failures: 19 })
  await until(() => receiver.hanging.length > 0, 'one is sent again')
  receiver.answer = () => 200
  for (const response of receiver.hanging.splice(0)) response.writeHead(200).end()
  await until(
    async () => (await deliveries(id)).every(({ status }) => status === 'succeeded'),
    'all are sent',
    30_000,
  )
  expect((await deliveries(id)).map(({ attempt }) => attempt).sort((a, b) => a - b)).toEqual([
    ...Array<number>(29).fill(1),
    6,
  ])
  expect(receiver.received).toHaveLength(30)
  expect(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size).toBe(30)
  expect(await webhook(id)).toEqual({ active: true, disabled_reason: null, failures: 0 })
})

test('[W21] two processes send each delivery once', async () => {
  const other = await start()
  const id = await makeWebhook(service, user, receiver.url)
  await queue(id, 200)
  await settled(id, 200)
  await Promise.all(Array.from({ length: 50 }, change))
  await settled(id, 250)
  const ids = receiver.received.map(({ deliveryId }) => deliveryId)
  expect(ids).toHaveLength(250)
  expect(new Set(ids).size).toBe(250)
  await other.close()
})

test('[W9] one at a time, deliveries leave in the order of the changes', async () => {
  await service.close()
  const narrow = await start({ deliveryBounds: { perWebhook: 1 } })
  const id = await makeWebhook(narrow, user, receiver.url, { events: ['card.created'] })
  receiver.answer = () => null
  const writer = (await narrow.token(user, {})).api
  const ids: string[] = []
  for (let n = 0; n < 30; n++) {
    const { body } = await writer.post(`/boards/${boardId}/cards`, { kind: 'note', x: n, y: n })
    ids.push(body.cards[0].id)
  }
  await until(async () => (await deliveries(id)).length === 30, 'all are queued')
  receiver.answer = () => 200
  for (const response of receiver.hanging.splice(0)) response.writeHead(200).end()
  await settled(id, 30)
  expect(receiver.received.map(({ body }) => body.data['card_ids'][0])).toEqual(ids)
})
