import { randomBytes, randomUUID } from 'node:crypto'
import Type from 'typebox'
import { limits } from '../../core/limits.ts'
import { secretOf } from '../../sql/made.ts'
import { currentOperation } from '../../sql/operation.ts'
import { openSecret, sealSecret } from '../http/idempotency/secret.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { deletedAnswer, offsetPage, pageQuery, workspaceId } from '../http/schemas.ts'
import { flag, id, list, text, time } from '../http/vocabulary.ts'
import { eventNames, requireEvents, requireUrl, webhookName, webhookUrl } from './fields.ts'
import {
  presentWebhook,
  readWebhook,
  requireRoomForActive,
  requireWebhook,
  requireWorkspaceWriter,
  Webhook,
  webhookColumns,
  webhookParams,
  webhookSecret,
  type WebhookRow,
} from './webhook.ts'

const listQuery = Type.Object({
  workspace: Type.Optional(id('Only webhooks of this workspace.')),
  ...pageQuery,
})

export const listWebhooks = route('GET /webhooks', 'read', {
  notInSessions: true,
  refuses: ['not_found', 'forbidden'],
  summary: 'List the webhooks of a workspace, or of all workspaces that the account may write in.',
  schemas: { query: listQuery },
  answers: { 200: offsetPage({ webhooks: list(Webhook, 'The webhooks of this page.') }) },
  async handle({ database, clock }, { principal, query }) {
    const page = pageOf(query)
    const { workspace } = query
    const rows = await database.asUser(principal.userId, async (tx) => {
      if (workspace !== undefined) await requireWorkspaceWriter(tx, workspace)
      return tx<WebhookRow[]>`
        select ${webhookColumns(tx)}
        from webhooks w
        ${workspace === undefined ? tx`` : tx`where w.workspace_id = ${workspace}`}
        order by w.created_at, w.id
        limit ${page.limit + 1} offset ${page.offset}`
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { webhooks: shown.map((row) => presentWebhook(row, clock.now())), ...end } }
  },
})

const newWebhook = Type.Object({
  workspace_id: workspaceId,
  url: webhookUrl,
  events: eventNames,
  name: Type.Optional(webhookName),
})

const next =
  'Store the secret now: it is not shown again. Use it to verify the signature of each delivery, over the raw body. Send a test delivery with POST /webhooks/{id}/test.'

export const createWebhook = route('POST /webhooks', 'write', {
  notInSessions: true,
  answersSecret: true,
  refuses: ['not_found', 'forbidden', 'limit_reached'],
  summary: 'Create a webhook. Only this answer contains its secret.',
  schemas: { body: newWebhook },
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

const patch = Type.Object({
  url: Type.Optional(webhookUrl),
  events: Type.Optional(eventNames),
  name: Type.Optional(webhookName),
  active: Type.Optional(flag('`true`: switch it on and clear its failures. `false`: switch it off.')),
})

export const patchWebhook = route('PATCH /webhooks/:id', 'write', {
  notInSessions: true,
  refuses: ['forbidden', 'limit_reached'],
  summary: 'Change a webhook, or switch it on or off.',
  schemas: { params: webhookParams, body: patch },
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

export const deleteWebhook = route('DELETE /webhooks/:id', 'write', {
  notInSessions: true,
  refuses: ['forbidden'],
  summary: 'Delete a webhook, its waiting deliveries and its delivery log.',
  schemas: { params: webhookParams },
  answers: { 200: deletedAnswer('webhook') },
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await requireWebhook(tx, params.id)
      const [gone] = await tx<{ workspace: string }[]>`
        delete from webhooks where id = ${params.id} returning workspace_id as workspace`
      currentOperation()?.concerns({ type: 'webhook', ids: [params.id], workspace: gone?.workspace ?? null })
    })
    return { body: { deleted: true, id: params.id } }
  },
})

export const rotateSecret = route('POST /webhooks/:id/rotate-secret', 'write', {
  notInSessions: true,
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
        previous_secret_valid_until: until,
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

/** A secret of 256 random bits, in the format of Standard Webhooks. */
const makeWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`
