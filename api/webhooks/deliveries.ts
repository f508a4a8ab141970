import Type from 'typebox'
import { list } from '../http/vocabulary.ts'
import { limits } from '../../core/limits.ts'
import { route } from '../http/route.ts'
import { cursor, cursorAnswer, pageQuery } from '../http/schemas.ts'
import { pageOf } from '../http/page.ts'
import { cursorOf, Delivery, presentDelivery, readCursor, readLog } from './delivery.ts'
import { readWebhook, webhookParams } from './webhook.ts'

const query = Type.Object({
  limit: pageQuery.limit,
  cursor,
})

export const listDeliveries = route({
  method: 'GET',
  path: '/webhooks/:id/deliveries',
  scope: 'read',
  refuses: ['forbidden'],
  summary:
    'List the deliveries of a webhook, newest first. Each attempt and each waiting delivery is an entry.',
  description: `Entries are kept for ${limits.webhooks.deliveryDays} days.`,
  schemas: { params: webhookParams, query },
  answers: {
    200: Type.Object({
      deliveries: list(Delivery, 'The entries of this page.'),
      ...cursorAnswer,
    }),
  },
  async handle({ database }, { principal, params, query }) {
    const { limit } = pageOf(query)
    const after = query.cursor === undefined ? null : readCursor(query.cursor, params.id)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await readWebhook(tx, params.id)
      return readLog(tx, params.id, after, limit + 1)
    })
    const page = rows.slice(0, limit)
    const more = rows.length > limit
    return {
      body: {
        deliveries: page.map(presentDelivery),
        limit,
        has_more: more,
        next_cursor: more ? cursorOf(page.at(-1)!) : null,
      },
    }
  },
})
