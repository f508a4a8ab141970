import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../route.ts'
import { uuid } from '../schemas.ts'
import { deliveryAnswer, presentDelivery, readPending } from './delivery.ts'
import { readWebhook } from './webhook.ts'

const params = Type.Object({
  id: uuid,
  deliveryId: Type.String({ format: 'uuid', description: 'Of the delivery, or of one of its attempts.' }),
})

export const redeliver = route({
  method: 'POST',
  path: '/webhooks/:id/deliveries/:deliveryId/redeliver',
  scope: 'write',
  refuses: ['forbidden'],
  summary: 'Queue a delivery again, under its id and with six new attempts.',
  schemas: { params },
  answers: { 200: Type.Object({ delivery: deliveryAnswer }) },
  async handle({ database, clock, wakeDeliveries }, { principal, params }) {
    const body = await database.asUser(principal.userId, async (tx) => {
      const webhook = await readWebhook(tx, params.id)
      const [queued] = await tx<{ id: string | null }[]>`
        select queue_again(${params.id}, ${params.deliveryId}, ${new Date(clock.now())}) as id`
      if (!queued?.id) throw new ServiceError('not_found', 'No such delivery of this webhook.')
      if (!webhook.active) {
        throw new ServiceError(
          'conflict',
          'The webhook is switched off. Switch it on first: PATCH with active: true.',
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
