import Type from 'typebox'
import { payloadText, testEvent } from '../../core/events.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { Delivery, presentDelivery, readPending } from './delivery.ts'
import { readWebhook, webhookParams } from './webhook.ts'

export const testWebhook = route({
  method: 'POST',
  path: '/webhooks/:id/test',
  scope: 'write',
  refuses: ['forbidden'],
  summary: `Send a test delivery with the event \`${testEvent}\`, also to an inactive webhook.`,
  schemas: { params: webhookParams },
  answers: { 200: Type.Object({ delivery: Delivery }) },
  async handle({ database, clock, wakeDeliveries }, { principal, params }) {
    const occurredAt = new Date(clock.now())
    const body = await database.asUser(principal.userId, async (tx) => {
      const webhook = await readWebhook(tx, params.id)
      const payload = payloadText({
        type: testEvent,
        resource: { type: 'webhook', id: webhook.id },
        workspaceId: webhook.workspace_id,
        boardId: null,
        data: {},
        occurredAt,
      })
      const [queued] = await tx<{ id: string }[]>`
        select queue_delivery(${webhook.id}, ${testEvent}, ${payload}, ${occurredAt}) as id`
      const body = { delivery: presentDelivery(await readPending(tx, queued!.id)) }
      currentOperation()?.answers(body)
      return body
    })
    wakeDeliveries()
    return { body }
  },
})
