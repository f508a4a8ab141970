import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { payloadText, testEvent } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { cutAfter, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { cursor, cursorPage, pageQuery } from '../http/schemas.ts'
import { id, list } from '../http/vocabulary.ts'
import { cursorOf, Delivery, presentDelivery, readCursor, readLog, readPending } from './delivery.ts'
import { readWebhook, webhookParams } from './webhook.ts'

const logQuery = Type.Object({
  limit: pageQuery.limit,
  cursor,
})

export const listDeliveries = route('GET /webhooks/:id/deliveries', 'read', {
  notInSessions: true,
  refuses: ['forbidden'],
  summary:
    'List the deliveries of a webhook, newest first. Each attempt and each waiting delivery is an entry.',
  description: `Entries are kept for ${limits.webhooks.deliveryDays} days.`,
  schemas: { params: webhookParams, query: logQuery },
  answers: { 200: cursorPage({ deliveries: list(Delivery, 'The entries of this page.') }) },
  async handle({ database }, { principal, params, query }) {
    const { limit } = pageOf(query)
    const after = query.cursor === undefined ? null : readCursor(query.cursor, params.id)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await readWebhook(tx, params.id)
      return readLog(tx, params.id, after, limit + 1)
    })
    const { shown, end } = cutAfter(rows, limit, cursorOf)
    return { body: { deliveries: shown.map(presentDelivery), ...end } }
  },
})

export const testWebhook = route('POST /webhooks/:id/test', 'write', {
  notInSessions: true,
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

const deliveryParams = Type.Object({
  ...webhookParams.properties,
  deliveryId: id('Id of the delivery, or of one of its attempts.'),
})

export const redeliver = route('POST /webhooks/:id/deliveries/:deliveryId/redeliver', 'write', {
  notInSessions: true,
  refuses: ['forbidden'],
  summary: `Queue a delivery again, with the same id and ${limits.webhooks.attempts} new attempts.`,
  schemas: { params: deliveryParams },
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
