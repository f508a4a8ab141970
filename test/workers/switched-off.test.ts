/** Webhooks that are switched off: by failures, by hand, by the loss of a right. The clock is the test's. */
import { expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { makeWebhook } from '../support/webhook.ts'
import {
  attempts,
  change,
  clock,
  deliveries,
  minute,
  notices,
  queue,
  receiver,
  service,
  settled,
  start,
  user,
  webhook,
} from './delivery-scene.ts'

test('[W15] 20 failures in a row, over all deliveries, switch a webhook off and tell the owner; one success in between starts anew', async () => {
  const editor = await service.user()
  await service.member(user.workspaceId, editor, 'editor')
  let failing = true
  receiver.answer = () => (failing ? 500 : 200)
  const id = await makeWebhook(service, editor, receiver.url, { workspaceId: user.workspaceId, name: 'mine' })
  await queue(id, 19)
  await settled(id, 19)
  expect(await webhook(id)).toEqual({ active: true, disabled_reason: null, failures: 19 })
  failing = false
  await queue(id, 1)
  await settled(id, 20)
  expect(await webhook(id)).toEqual({ active: true, disabled_reason: null, failures: 0 })
  failing = true
  await queue(id, 19)
  await settled(id, 39)
  expect((await webhook(id)).active).toBe(true)
  await queue(id, 1)
  await settled(id, 40)
  expect(await webhook(id)).toEqual({
    active: false,
    failures: 20,
    disabled_reason: '20 deliveries in a row failed. The last one: answered 500',
  })
  const told = await notices(user)
  expect([...told]).toMatchObject([
    {
      type: 'webhook.disabled',
      data: { webhook_id: id, name: 'mine', reason: expect.stringMatching(/^20 deliveries/) },
    },
  ])
  expect(await notices(editor)).toHaveLength(0)
  // What happens now is not queued.
  await change()
  await until(async () => (await service.admin`select from events`).length === 0, 'the outbox is empty')
  expect(await deliveries(id)).toHaveLength(40)
})

test('[W16] 40 failures at the same moment switch it off once', async () => {
  receiver.answer = () => null
  const wide = await start({ deliveryBounds: { perWebhook: 40, total: 100, failing: 100 }, workers: true })
  await service.admin`select 1`
  const id = await makeWebhook(service, user, receiver.url)
  await queue(id, 40)
  await until(() => receiver.hanging.length >= 40, '40 attempts are under way')
  for (const response of receiver.hanging.splice(0)) response.writeHead(500).end()
  await settled(id, 40)
  expect(await webhook(id)).toMatchObject({ active: false, failures: 40 })
  expect(await notices(user)).toHaveLength(1)
  await wide.close()
})

test('[W17] what is due while a webhook is off is given up unsent, and logged; a test is sent; what is due after it was switched on again is sent', async () => {
  receiver.answer = () => 500
  const id = await makeWebhook(service, user, receiver.url)
  await queue(id, 2)
  await settled(id, 2)
  await service.admin`update webhooks set active = false, disabled_reason = 'by hand', failures = 7 where id = ${id}`
  const [first] = await deliveries(id)
  await service.admin`update webhook_deliveries set next_attempt_at = next_attempt_at + interval '10 minutes' where id = ${first!.id}`
  clock.time += minute
  await settled(id, 3)
  expect((await attempts(id)).at(-1)).toMatchObject({
    status: 'given_up',
    status_code: null,
    duration_ms: null,
    attempts_left: 0,
    error: 'not sent: the webhook was switched off',
  })
  expect(receiver.received).toHaveLength(2)
  await queue(id, 1, 'webhook.test')
  await until(() => receiver.received.length === 3, 'the test')
  expect(receiver.received[2]!.headers['x-service-event']).toBe('webhook.test')
  await settled(id, 4)
  receiver.answer = () => 200
  await service.database.asUser(user.userId, (tx) => tx`update webhooks set active = true where id = ${id}`)
  expect(await webhook(id)).toEqual({ active: true, disabled_reason: null, failures: 0 })
  clock.time += 10 * minute
  await until(
    async () => (await deliveries(id)).find((one) => one.id === first!.id)!.status === 'succeeded',
    'the retry',
  )
})

test('[W18] when its creator may no longer write in the workspace, a webhook is switched off before anything more is sent; another writer takes it over by switching it on', async () => {
  const editor = await service.user()
  await service.member(user.workspaceId, editor, 'editor')
  const id = await makeWebhook(service, editor, receiver.url, { workspaceId: user.workspaceId })
  await change()
  await settled(id, 1)
  for (const role of ['viewer', 'none'] as const) {
    await service.member(user.workspaceId, editor, role)
    const before = receiver.received.length
    await change()
    await until(async () => !(await webhook(id)).active, 'it is switched off')
    expect((await webhook(id)).disabled_reason).toBe(
      'The account that made this webhook may no longer write in the workspace.',
    )
    await until(
      async () => (await deliveries(id)).every(({ status }) => status !== 'waiting'),
      'nothing waits',
    )
    expect(receiver.received).toHaveLength(before)
    if (role === 'viewer') {
      await service.member(user.workspaceId, editor, 'editor')
      await service.admin`update webhooks set active = true where id = ${id}`
    }
  }
  expect(await notices(user)).toHaveLength(2)
  await service.database.asUser(user.userId, (tx) => tx`update webhooks set active = true where id = ${id}`)
  const before = receiver.received.length
  await change()
  await until(() => receiver.received.length > before, 'it is sent for the one who switched it on')
})
