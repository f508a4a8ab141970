import Type from 'typebox'
import { flag } from '../http/vocabulary.ts'
import { route } from '../http/route.ts'
import { eventNames, requireEvents, requireUrl, webhookName, webhookUrl } from './fields.ts'
import { presentWebhook, readWebhook, requireRoomForActive, Webhook, webhookParams } from './webhook.ts'

const body = Type.Object({
  url: Type.Optional(webhookUrl),
  events: Type.Optional(eventNames),
  name: Type.Optional(webhookName),
  active: Type.Optional(flag('`true`: switch it on and clear its failures. `false`: switch it off.')),
})

export const patchWebhook = route({
  method: 'PATCH',
  path: '/webhooks/:id',
  scope: 'write',
  refuses: ['forbidden', 'limit_reached'],
  summary: 'Change a webhook, or switch it on or off.',
  schemas: { params: webhookParams, body },
  answers: { 200: Type.Object({ webhook: Webhook }) },
  async handle(context, { principal, params, body }) {
    const { url, name, active } = body
    const events = body.events && requireEvents(body.events)
    if (url !== undefined) await requireUrl(context, url)
    const changes = Object.fromEntries(
      Object.entries({ url, name, active, events }).filter(([, value]) => value !== undefined),
    )
    const webhook = await context.database.asUser(principal.userId, async (tx) => {
      const before = await readWebhook(tx, params.id)
      if (active === true && !before.active) await requireRoomForActive(tx, before.workspace_id)
      if (Object.keys(changes).length > 0) {
        await tx`update webhooks set ${tx(changes as Record<string, never>)} where id = ${params.id}`
      }
      return readWebhook(tx, params.id)
    })
    return { body: { webhook: presentWebhook(webhook, context.clock.now()) } }
  },
})
