import Type from 'typebox'
import { id } from '../http/vocabulary.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { Delivery, presentDelivery, readPending } from './delivery.ts'
import { readWebhook, webhookParams } from './webhook.ts'

const params = Type.Object({
  ...webhookParams.properties,
  deliveryId: id('Id of the delivery, or of one of its attempts.'),
})

export const redeliver = route({
  method: 'POST',
  path: '/webhooks/:id/deliveries/:deliveryId/redeliver',
  scope: 'write',
  refuses: ['forbidden'],
  summary: `Queue a delivery again, with the same id and ${limits.webhooks.attempts} new attempts.`,
  schemas: { params },
  answers: { 200: Type.Object({ delivery: Delivery }) },
  async handle({ database, clock, wakeDeliveries }, { principal, params }) {
    const body = await database.asUser(principal.userId, async (tx) => {
      const webhook = await readWebhook(tx, params.id)
      const [queued] = await tx<{ id: string | null }[]>`
        select queue_again(${params.id}, ${params.deliveryId}, ${new Date(clock.now())}) as id`
      if (!queued?.id) throw new ServiceError('not_found', 'This webhook has no delivery with this id.')
      if (!webhook.active) {
        throw new ServiceError(
          'conflict',
          'The webhook is switched off. Switch it on first, with PATCH and `active: true`.',
        )
      }
      const body = { delivery: presentDelivery(await readPending(tx, queued.id)) }
      currentOperation()?.answers(body)
      return body
    })
    wakeDeliveries()
    return { body }
  },
})
