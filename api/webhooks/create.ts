import { secretOf } from '../../sql/made.ts'
import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { text } from '../http/vocabulary.ts'
import { currentOperation } from '../../sql/operation.ts'
import { openSecret, sealSecret } from '../http/idempotency/secret.ts'
import { route } from '../http/route.ts'
import { workspaceId } from '../http/schemas.ts'
import { eventNames, requireEvents, requireUrl, webhookName, webhookUrl } from './fields.ts'
import { makeWebhookSecret } from './secret.ts'
import {
  presentWebhook,
  readWebhook,
  requireRoomForActive,
  requireWorkspaceWriter,
  Webhook,
  webhookSecret,
} from './webhook.ts'

const body = Type.Object({
  workspace_id: workspaceId,
  url: webhookUrl,
  events: eventNames,
  name: Type.Optional(webhookName),
})

const next =
  'Store the secret now: it is not shown again. Use it to verify the signature of each delivery, over the raw body. Send a test delivery with POST /webhooks/{id}/test.'

export const createWebhook = route({
  method: 'POST',
  path: '/webhooks',
  scope: 'write',
  answersSecret: true,
  refuses: ['not_found', 'forbidden', 'limit_reached'],
  summary: 'Create a webhook. Only this answer contains its secret.',
  schemas: { body },
  answers: {
    200: Type.Object({
      webhook: Webhook,
      secret: webhookSecret,
      next: text('The next steps, as text for a person.'),
    }),
  },
  async handle(context, { principal, body }) {
    const events = requireEvents(body.events)
    await requireUrl(context, body.url)
    const { database, clock, webhookSecrets, answers } = context
    const id = randomUUID()
    const secret = makeWebhookSecret()
    const inWorkspace = body.workspace_id.toLowerCase()
    const webhook = await database.asUser(principal.userId, async (tx) => {
      await requireWorkspaceWriter(tx, inWorkspace)
      await requireRoomForActive(tx, inWorkspace)
      await tx`
        insert into webhooks (id, workspace_id, url, events, name, secret)
        values (${id}, ${inWorkspace}, ${body.url}, ${events}, ${body.name ?? ''}, ${webhookSecrets.seal(secret, id)})`
      currentOperation()?.concerns({ type: 'webhook', ids: [id], workspace: inWorkspace })
      currentOperation()?.made([{ type: 'secret', id, sealed: sealSecret(answers, id, secret) }])
      return readWebhook(tx, id)
    })
    return { body: { webhook: presentWebhook(webhook, clock.now()), secret, next } }
  },
  async rebuild({ database, clock, answers }, { principal }, made) {
    const { id, sealed } = secretOf(made)
    const webhook = await database.asUser(principal.userId, (tx) => readWebhook(tx, id))
    const secret = openSecret(answers, id, sealed)
    return { body: { webhook: presentWebhook(webhook, clock.now()), secret, next } }
  },
})
