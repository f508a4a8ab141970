import { expect, test } from 'vitest'
import { Lanes } from '../../workers/deliveries/lanes.ts'

const perWebhook = 4

test('[W36] however many webhooks there were, of the one that was busy last the pace is known', () => {
  const lanes = new Lanes({ perWebhook, total: 512, failing: 256 })
  const use = (webhookId: string) => {
    const lane = lanes.of(webhookId)
    lane.underWay += 1
    lane.succeeded(5)
    lane.underWay -= 1
    lanes.forgetIfIdle(lane)
  }
  use('busy')
  for (let n = 0; n < 1000; n++) {
    use(`other ${n}`)
    if (n % 100 === 0) use('busy')
    expect(lanes.of(`other ${n}`).room).toBeGreaterThan(perWebhook)
  }
  expect(lanes.of('busy').room).toBeGreaterThan(perWebhook)
  expect(lanes.of('other 0').room).toBe(perWebhook)
  expect([...lanes.all()].length).toBeLessThan(500)
})
