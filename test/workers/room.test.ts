/** Bounds over all deliveries: what they hold up goes on as soon as there is room. */
import { expect, onTestFinished, test } from 'vitest'
import { openEgress } from '../../platform/egress/egress.ts'
import { Deliverer } from '../../workers/deliveries/deliverer.ts'
import { addDeliveries } from '../support/deliveries.ts'
import { until } from '../support/editor.ts'
import { openReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { makeWebhook, webhookSecret } from '../support/webhook.ts'

const webhooks = 6
const queued = 200

test(
  '[W35] while more waits than may be under way, and the database is slow, each delivery goes as soon as there is room',
  { timeout: 90_000 },
  async () => {
    const service = await startService({ workers: false })
    onTestFinished(() => service.stop())
    const receiver = await openReceiver()
    onTestFinished(() => receiver.close())
    const user = await service.user()
    await service.admin.unsafe(`
      create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.01); return null; end';
      create trigger slow after update on webhook_deliveries for each statement execute function slow()`)
    for (let n = 0; n < webhooks; n++) {
      const id = await makeWebhook(service, user, `${receiver.url}/${n}`, { events: ['card.created'] })
      await addDeliveries(service.admin, id, queued)
    }
    const egress = openEgress({ allow: ['127.0.0.1/32'] })
    onTestFinished(() => egress.close())
    const deliverer = new Deliverer({
      database: service.database,
      clock: { now: () => Date.now() },
      log: service.app.log,
      send: (request) => egress.send(request),
      openSecret: () => webhookSecret,
      waits: [60],
      jitter: () => 0,
      pollSeconds: 1,
      bounds: { total: 8 },
      tickMs: 3_600_000, // nothing is found by looking again
    })
    onTestFinished(() => deliverer.stop())
    await until(() => receiver.received.length === webhooks * queued, 'all are sent', 40_000)
    expect(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size).toBe(webhooks * queued)
  },
)
