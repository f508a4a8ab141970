/** Deliveries that are claimed as their events leave the outbox. The clock is the test's. */
import { expect, test } from 'vitest'
import { addDeliveries } from '../support/deliveries.ts'
import { until } from '../support/editor.ts'
import { makeWebhook } from '../support/webhook.ts'
import {
  attempts,
  boardId,
  change,
  clock,
  deliveries,
  minute,
  receiver,
  service,
  settled,
  start,
  user,
  webhook,
} from './delivery-scene.ts'

interface Entry {
  id: string
  delivery_id: string
  status: string
  event: string
  payload: string
  attempt: number
  attempts_left: number
  created_at: string
}

const log = async (webhookId: string): Promise<Entry[]> =>
  (await user.api.get(`/webhooks/${webhookId}/deliveries`)).body.deliveries
const again = (webhookId: string, id: string) =>
  user.api.post(`/webhooks/${webhookId}/deliveries/${id}/redeliver`)
const rows = async () => [...(await service.admin`select id, status from webhook_deliveries order by place`)]
const open = () => service.admin`select from webhook_deliveries where status = 'sending'`
const ended = () => until(async () => (await open()).length === 0, 'nothing is being sent')

test('[W37] a delivery that succeeds at once is in the log like any other', async () => {
  receiver.answer = () => null
  const id = await makeWebhook(service, user, receiver.url, { events: ['card.created'] })
  await change()
  await until(() => receiver.hanging.length === 1, 'it is under way')
  const [{ deliveryId, raw }] = receiver.received as [(typeof receiver.received)[0]]
  const common = {
    delivery_id: deliveryId,
    event: 'card.created',
    payload: raw.toString(),
    attempt: 1,
    attempts_left: 5,
  }
  expect(await log(id)).toMatchObject([{ ...common, id: deliveryId, status: 'sending' }])
  const [{ created_at: createdAt }] = (await log(id)) as [Entry]
  receiver.hanging[0]!.writeHead(200).end()
  await settled(id, 1)
  expect(await log(id)).toMatchObject([
    { ...common, attempts_left: 0, status: 'succeeded', status_code: 200, created_at: createdAt },
  ])
  await ended()
  expect(await rows()).toEqual([{ id: deliveryId, status: 'succeeded' }])
})

test('[W37] one that fails at once waits in the queue under its id, like any other', async () => {
  receiver.answer = () => 500
  const id = await makeWebhook(service, user, receiver.url)
  await change()
  await settled(id, 1)
  const [{ deliveryId }] = receiver.received as [(typeof receiver.received)[0]]
  expect(await rows()).toEqual([{ id: deliveryId, status: 'waiting' }])
  expect((await log(id)).map(({ delivery_id: of, status }) => [of, status])).toEqual([
    [deliveryId, 'waiting'],
    [deliveryId, 'failed'],
  ])
  await ended()
  receiver.answer = () => 200
  clock.time += minute
  await settled(id, 2)
  expect(receiver.received.map(({ deliveryId: of }) => of)).toEqual([deliveryId, deliveryId])
  expect((await log(id)).map(({ status, attempt }) => [status, attempt])).toEqual([
    ['succeeded', 2],
    ['failed', 1],
  ])
})

test('[W37] one that succeeded at once can be queued again, by its id, and each entry of the log keeps an id of its own', async () => {
  const id = await makeWebhook(service, user, receiver.url)
  const other = await makeWebhook(service, user, `${receiver.url}/other`, { events: ['image.created'] })
  await change()
  await settled(id, 1)
  const [{ id: entry, delivery_id: deliveryId, payload, created_at: createdAt }] = (await log(id)) as [Entry]
  expect((await again(other, deliveryId)).status).toBe(404)
  expect(await rows()).toEqual([{ id: deliveryId, status: 'succeeded' }])
  receiver.answer = () => 500
  clock.time += 1000
  expect(await again(id, entry)).toMatchObject({
    status: 200,
    body: {
      delivery: { delivery_id: deliveryId, status: 'waiting', payload, attempt: 1, created_at: createdAt },
    },
  })
  await settled(id, 2)
  const entries = await log(id)
  expect(entries.map(({ status }) => status)).toEqual(['waiting', 'failed', 'succeeded'])
  expect(new Set(entries.map((one) => one.id)).size).toBe(3)
  for (const one of entries)
    expect(one).toMatchObject({ delivery_id: deliveryId, payload, created_at: createdAt })
  expect(new Set(receiver.received.map(({ deliveryId: of }) => of))).toEqual(new Set([deliveryId]))
  expect((await again(id, entries[2]!.id)).body.delivery.delivery_id).toBe(deliveryId)
})

test('[W37] what a killed process had claimed is sent again where the outcome is not known, and only there', async () => {
  const quick = await makeWebhook(service, user, `${receiver.url}/quick`)
  const slow = await makeWebhook(service, user, `${receiver.url}/slow`)
  const gone = await makeWebhook(service, user, `${receiver.url}/gone`)
  await service.admin`update webhooks set failures = 19 where id = ${slow}`
  const lapsesAt = clock.time + 30_000
  // As it leaves them: one of three is recorded, and one webhook is deleted.
  const claimed = { status: 'sending', at: new Date(lapsesAt), fence: 1, payload: () => '{"a": 1}' } as const
  await addDeliveries(service.admin, quick, 1, {
    ...claimed,
    status: 'succeeded',
    at: new Date(clock.time),
    attempt: 1,
  })
  const [interrupted] = await addDeliveries(service.admin, slow, 1, claimed)
  await addDeliveries(service.admin, gone, 1, claimed)
  await service.admin`delete from webhooks where id = ${gone}`
  clock.time = lapsesAt - 1
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(receiver.received).toHaveLength(0)
  receiver.answer = () => null
  clock.time = lapsesAt
  await until(() => receiver.hanging.length === 1, 'it is sent again')
  expect(await webhook(slow)).toMatchObject({ active: true, failures: 19 })
  receiver.hanging[0]!.writeHead(200).end()
  await settled(slow, 2)
  const entries = (await attempts(slow)).map((one) => [
    one.status,
    one.attempt,
    one.attempts_left,
    one.duration_ms !== null,
  ])
  expect(entries).toEqual(
    expect.arrayContaining([
      ['failed', 1, 6, false],
      ['succeeded', 1, 0, true],
    ]),
  )
  expect(receiver.received.map(({ path, deliveryId, raw }) => [path, deliveryId, raw.toString()])).toEqual([
    ['/slow', interrupted, '{"a": 1}'],
  ])
  expect(await attempts(quick)).toHaveLength(1)
  expect(await open()).toHaveLength(0)
})

test('[W38] while an attempt that succeeded cannot be written down it is not made again: it is written once it can', async () => {
  const id = await makeWebhook(service, user, receiver.url)
  await service.admin.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
    create trigger refuse before update on webhook_deliveries for each row execute function refuse()`)
  for (let n = 0; n < 5; n++) await change()
  await until(() => receiver.received.length === 5, 'all are sent')
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(await attempts(id)).toHaveLength(0)
  await service.admin.unsafe('drop function refuse cascade')
  await settled(id, 5)
  await ended()
  expect((await attempts(id)).every(({ status }) => status === 'succeeded')).toBe(true)
  expect(receiver.received).toHaveLength(5)
})

test('[W38] written down twice, because the first answer was lost, it is in the log once', async () => {
  receiver.answer = () => null
  const id = await makeWebhook(service, user, receiver.url)
  await change()
  await until(() => receiver.hanging.length === 1, 'it is under way')
  const write = () =>
    service.database.asSystem(
      (tx) => tx`
        select record_successes(array[${id}::uuid], array[d.id], array[1::bigint], array[1], array[200], array[7], array[${clock.time}::bigint])
        from webhook_deliveries d`,
    )
  expect(await write()).toHaveLength(0)
  expect(await write()).toHaveLength(0)
  receiver.hanging[0]!.writeHead(200).end()
  await ended()
  expect(await attempts(id)).toMatchObject([{ duration_ms: 7 }])
})

test('[W19] what is queued again while its success is being written down is queued again: the success decides nothing', async () => {
  receiver.answer = () => null
  const id = await makeWebhook(service, user, receiver.url)
  await change()
  await until(() => receiver.hanging.length === 1, 'it is under way')
  const [one] = await deliveries(id)
  let writing: Promise<{ id: string }[]> | null = null
  await service.database.asUser(user.userId, async (tx) => {
    await tx`select queue_again(${id}, ${one!.id}, ${new Date(clock.time + minute)})`
    writing = service.database.callAsSystem(
      (sql) => sql<{ id: string }[]>`
        select record_successes(array[${id}::uuid], array[${one!.id}::uuid], array[1::bigint], array[1], array[200], array[7], array[${clock.time}::bigint]) as id`,
    )
    const waits = async () =>
      (
        await service.admin`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%record_successes%'`
      ).length > 0
    await until(waits, 'the success waits')
  })
  expect([...(await writing!)]).toEqual([{ id: one!.id }])
  expect(await attempts(id)).toHaveLength(0)
  expect(await rows()).toEqual([{ id: one!.id, status: 'waiting' }])
  receiver.hanging[0]!.writeHead(200).end()
  await settled(id, 1)
  expect(await rows()).toEqual([{ id: one!.id, status: 'waiting' }])
  expect(new Set((await log(id)).map((entry) => entry.id)).size).toBe(2)
})

test(
  '[W24] what was claimed as it left the outbox and not sent is given back by a stop: all of it goes out later, in order, once',
  { timeout: 60_000, retry: 2 }, // on a busy machine the receiver may not look quick enough for claims ahead
  async () => {
    const narrow = await start({ deliveryBounds: { perWebhook: 1 } })
    await service.close()
    const id = await makeWebhook(narrow, user, receiver.url, { events: ['card.created'] })
    const writer = (await narrow.token(user, {})).api
    const ids: string[] = []
    const write = async (count: number) => {
      const { body } = await writer.post(`/boards/${boardId}/cards`, { kind: 'note', x: count, y: 0 })
      ids.push(body.cards[0].id)
    }
    for (let n = 0; n < 5; n++) await write(n)
    await until(async () => (await attempts(id)).length === 5, 'it is known to be quick')
    receiver.answer = () => null
    for (let n = 0; n < 30; n++) await write(n)
    await until(async () => (await deliveries(id)).length === 35, 'all have left the outbox')
    expect((await open()).length).toBeGreaterThan(1)
    const closed = narrow.close()
    for (const response of receiver.hanging.splice(0)) response.writeHead(200).end()
    await closed
    expect(await open()).toHaveLength(0)
    const left = (await rows()).filter(({ status }) => status !== 'succeeded')
    expect(left.every(({ status }) => status === 'waiting')).toBe(true)
    expect(left).toHaveLength(35 - receiver.received.length)
    receiver.answer = () => 200
    const next = await start({ deliveryBounds: { perWebhook: 1 } })
    await until(() => receiver.received.length === 35, 'the rest is sent', 20_000)
    await until(async () => (await attempts(id)).length === 35, 'and written down')
    expect(receiver.received.map(({ body }) => body.data['card_ids'][0])).toEqual(ids)
    expect((await attempts(id)).every(({ status }) => status === 'succeeded')).toBe(true)
    await next.close()
  },
)
