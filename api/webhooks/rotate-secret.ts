import Type from 'typebox'
import { time } from '../http/vocabulary.ts'
import { limits } from '../../core/limits.ts'
import { secretOf } from '../../sql/made.ts'
import { currentOperation } from '../../sql/operation.ts'
import { openSecret, sealSecret } from '../http/idempotency/secret.ts'
import { route } from '../http/route.ts'
import { makeWebhookSecret } from './secret.ts'
import {
  presentWebhook,
  readWebhook,
  requireWebhook,
  Webhook,
  webhookParams,
  webhookSecret,
} from './webhook.ts'

export const rotateSecret = route({
  method: 'POST',
  path: '/webhooks/:id/rotate-secret',
  scope: 'write',
  answersSecret: true,
  refuses: ['forbidden'],
  summary: `Replace the secret of a webhook. Deliveries are also signed with the previous one for ${limits.webhooks.previousSecretMs / 3_600_000} hours.`,
  schemas: { params: webhookParams },
  answers: {
    200: Type.Object({
      webhook: Webhook,
      secret: webhookSecret,
      previous_secret_valid_until: time('Until then, deliveries are also signed with the previous secret.'),
    }),
  },
  async handle({ database, clock, webhookSecrets, answers }, { principal, params }) {
    const secret = makeWebhookSecret()
    const until = new Date(clock.now() + limits.webhooks.previousSecretMs)
    const webhook = await database.asUser(principal.userId, async (tx) => {
      await requireWebhook(tx, params.id)
      const sealed = sealSecret(answers, params.id, secret)
      currentOperation()?.made([{ type: 'secret', id: params.id, sealed, until: until.toISOString() }])
      await tx`select rotate_webhook_secret(${params.id}, ${webhookSecrets.seal(secret, params.id)}, ${until})`
      return readWebhook(tx, params.id)
    })
    return {
      body: {
        webhook: presentWebhook(webhook, clock.now()),
        secret,
        previous_secret_valid_until: until.toISOString(),
      },
    }
  },
  async rebuild({ database, clock, answers }, { principal, params }, made) {
    const { sealed, until } = secretOf(made)
    const webhook = await database.asUser(principal.userId, (tx) => readWebhook(tx, params.id))
    const secret = openSecret(answers, params.id, sealed)
    return {
      body: { webhook: presentWebhook(webhook, clock.now()), secret, previous_secret_valid_until: until },
    }
  },
})
