/** A webhook: its row, its form in the API, and the access checks. The API never shows its secret. */
import Type, { type Static } from 'typebox'
import { flag, id, list, named, text, time } from '../http/vocabulary.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { locks } from '../../sql/locks.ts'
import { createdAt, updatedAt, workspaceId } from '../http/schemas.ts'

export const webhookParams = Type.Object({ id: id('Id of the webhook.') })
export const webhookSecret = text('The secret that signs deliveries, `whsec_…`. It is not shown again.')

export const Webhook = named('Webhook', 'A URL that events are posted to.', {
  id: webhookParams.properties.id,
  workspace_id: workspaceId,
  url: text('The URL that events are posted to.'),
  events: list(Type.String(), 'The events that it subscribes to. `*`: all events.'),
  name: text('Name of the webhook, for people. It may be empty.'),
  active: flag('Whether events are posted to it.'),
  disabled_reason: Type.Optional(text('Why the service switched the webhook off. Absent when it did not.')),
  previous_secret_valid_until: Type.Optional(
    time('Until then, deliveries are also signed with the previous secret. Absent when that time is over.'),
  ),
  created_at: createdAt,
  updated_at: updatedAt,
})

export type WebhookRow = Omit<Static<typeof Webhook>, 'disabled_reason' | 'previous_secret_valid_until'> & {
  disabled_reason: string | null
  previous_secret_until: Date | null
}

export const webhookColumns = (tx: Transaction) => tx`
  w.id, w.workspace_id, w.url, w.events, w.name, w.active, w.disabled_reason, w.previous_secret_until, w.created_at, w.updated_at`

/** @param now milliseconds */
export function presentWebhook(row: WebhookRow, now: number): Record<string, unknown> {
  const { disabled_reason: reason, previous_secret_until: until, ...fields } = row
  return {
    ...fields,
    ...(reason === null ? {} : { disabled_reason: reason }),
    ...(until === null || until.getTime() <= now ? {} : { previous_secret_valid_until: until }),
  }
}

/** @throws ServiceError `not_found`; `forbidden` when the account may only view the webhook's workspace */
export async function requireWebhook(tx: Transaction, id: string): Promise<void> {
  const [found] = await tx<{ access: string | null }[]>`select webhook_access(${id}) as access`
  if (!found?.access) throw noWebhook()
  if (found.access !== 'write') throw notManaged()
}

/** @throws ServiceError as `requireWebhook` */
export async function readWebhook(tx: Transaction, id: string): Promise<WebhookRow> {
  await requireWebhook(tx, id)
  const [row] = await tx<WebhookRow[]>`select ${webhookColumns(tx)} from webhooks w where w.id = ${id}`
  if (!row) throw noWebhook()
  return row
}

/** @throws ServiceError `not_found` when the account can't see the workspace; `forbidden` when it may only view it */
export async function requireWorkspaceWriter(tx: Transaction, workspaceId: string): Promise<void> {
  const [workspace] = await tx<{ writable: boolean }[]>`
    select id in (select writable_workspaces(current_user_id())) as writable from workspaces where id = ${workspaceId}`
  if (!workspace) throw new ServiceError('not_found', 'No such workspace.')
  if (!workspace.writable) throw notManaged()
}

/** Locks the workspace, so that concurrent requests can't exceed the limit. @throws ServiceError `limit_reached` */
export async function requireRoomForActive(tx: Transaction, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${locks.activeWebhooks}, hashtext(${workspaceId}))`
  const [found] = await tx<{ count: number }[]>`
    select count(*)::integer as count from webhooks where workspace_id = ${workspaceId} and active`
  const most = limits.webhooks.activePerWorkspace
  if (found!.count < most) return
  throw new ServiceError(
    'limit_reached',
    `The workspace has ${most} active webhooks, the most that are allowed. Delete one or switch one off first.`,
  )
}

const noWebhook = () => new ServiceError('not_found', 'There is no webhook with this id.')
const notManaged = () => new ServiceError('forbidden', 'Webhooks require write access to their workspace.')
