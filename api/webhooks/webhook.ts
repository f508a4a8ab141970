/** A webhook as its row has it, and as the API shows it: never with its secret. */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { locks } from '../../sql/locks.ts'
import { named } from '../http/named.ts'
import { createdAt, updatedAt, workspaceId } from '../http/schemas.ts'

export interface WebhookRow {
  id: string
  workspace_id: string
  url: string
  events: string[]
  name: string
  active: boolean
  disabled_reason: string | null
  previous_secret_until: Date | null
  created_at: Date
  updated_at: Date
}

const id = Type.String({ format: 'uuid', description: 'Id of the webhook.' })
export const webhookParams = Type.Object({ id })
export const webhookSecret = Type.String({
  description: 'The key of its signatures, `whsec_…`. It is not shown again.',
})

export const Webhook = named(
  'Webhook',
  Type.Object({
    id,
    workspace_id: workspaceId,
    url: Type.String({ description: 'Where events are posted to.' }),
    events: Type.Array(Type.String(), { description: 'The events that it subscribes to; `*` for all.' }),
    name: Type.String({ description: 'A name to recognise it by; may be empty.' }),
    active: Type.Boolean({ description: 'Whether events are posted to it.' }),
    disabled_reason: Type.Optional(
      Type.String({ description: 'Why the service switched the webhook off. Absent otherwise.' }),
    ),
    previous_secret_valid_until: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Until when the previous secret signs as well. Absent unless the secret was replaced a short time ago.',
      }),
    ),
    created_at: createdAt,
    updated_at: updatedAt,
  }),
  'A URL that events are posted to.',
)

export const webhookColumns = (tx: Transaction) => tx`
  w.id, w.workspace_id, w.url, w.events, w.name, w.active, w.disabled_reason, w.previous_secret_until, w.created_at, w.updated_at`

/** @param now milliseconds */
export function presentWebhook(row: WebhookRow, now: number): Record<string, unknown> {
  const { disabled_reason: reason, previous_secret_until: until, ...fields } = row
  return {
    ...fields,
    ...(reason === null ? {} : { disabled_reason: reason }),
    ...(until === null || until.getTime() <= now ? {} : { previous_secret_valid_until: until.toISOString() }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** @throws ServiceError `not_found`, or `forbidden` for who may only view the webhook's workspace */
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

/** @throws ServiceError `not_found` for a workspace that the caller can't see, `forbidden` for one they may only view */
export async function requireWorkspaceWriter(tx: Transaction, workspaceId: string): Promise<void> {
  const [workspace] = await tx<{ writable: boolean }[]>`
    select id in (select writable_workspaces(current_user_id())) as writable from workspaces where id = ${workspaceId}`
  if (!workspace) throw new ServiceError('not_found', 'No such workspace.')
  if (!workspace.writable) throw notManaged()
}

/** Lets those who switch webhooks on in a workspace go one after the other, so that the count is exact. */
export async function requireRoomForActive(tx: Transaction, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${locks.activeWebhooks}, hashtext(${workspaceId}))`
  const [found] = await tx<{ count: number }[]>`
    select count(*)::integer as count from webhooks where workspace_id = ${workspaceId} and active`
  const most = limits.webhooks.activePerWorkspace
  if (found!.count < most) return
  throw new ServiceError(
    'limit_reached',
    `A workspace has at most ${most} active webhooks. Delete one, or switch one off, first.`,
  )
}

const noWebhook = () => new ServiceError('not_found', 'No such webhook.')
const notManaged = () =>
  new ServiceError('forbidden', 'Managing webhooks requires write access to their workspace.')
