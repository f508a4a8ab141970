/** Switches webhooks off, notifies the workspace's owner, and gives up deliveries that are due meanwhile. */
import { testEvent } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import type { Database, Transaction } from '../../sql/database.ts'

/** Most deliveries that one transaction gives up. */
const giveUpBatch = 500

export interface Webhook {
  id: string
  name: string
  url: string
  workspace_id: string
}

/**
 * Switches a webhook off when its creator may no longer write in the workspace. When it is off, gives up due deliveries.
 *
 * @returns whether more deliveries may be due
 */
export async function refuseDue(database: Database, webhookId: string, now: number): Promise<boolean> {
  return database.asSystem(async (tx) => {
    const [webhook] = await tx<(Webhook & { active: boolean; permitted: boolean })[]>`
      select id, name, url, workspace_id, active,
        created_by is not null and workspace_id in (select writable_workspaces(created_by)) as permitted
      from webhooks
      where id = ${webhookId}
      for no key update`
    if (!webhook) return false
    if (webhook.active && webhook.permitted) return true
    if (webhook.active)
      await switchOff(tx, webhook, 'The account that made this webhook may no longer write in the workspace.')
    return (await giveUpDue(tx, webhookId, now)) === giveUpBatch
  })
}

/** Switches a webhook off and notifies the workspace's owner, unless it is off already. */
export async function switchOff(tx: Transaction, webhook: Webhook, reason: string): Promise<void> {
  const rows = await tx`
    update webhooks set active = false, disabled_reason = ${reason} where id = ${webhook.id} and active returning id`
  if (rows.length === 0) return
  const data = { webhook_id: webhook.id, name: webhook.name, url: webhook.url, reason }
  await tx`
    insert into notifications (user_id, workspace_id, type, data)
    select owner_id, id, 'webhook.disabled', ${tx.json(data)} from workspaces where id = ${webhook.workspace_id}`
}

/** Gives up the deliveries that are due while the webhook is off. Those that become due after it is on again are sent. */
async function giveUpDue(tx: Transaction, webhookId: string, now: number): Promise<number> {
  const rows = await tx`
    with given_up as (
      update webhook_deliveries d
      set status = 'given_up', next_attempt_at = null
      where d.id = any (array(
        select x.id
        from webhook_deliveries x
        join webhook_payloads p on p.place = x.place
        where x.webhook_id = ${webhookId} and x.status = 'waiting' and x.next_attempt_at <= ${new Date(now)}
          and p.event <> ${testEvent}
        order by x.next_attempt_at
        limit ${giveUpBatch}
        for update of x skip locked
      ))
      returning d.*
    )
    insert into webhook_attempts (
      delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, error, attempted_at
    )
    select id, place, webhook_id, workspace_id, least(attempt + 1, ${limits.webhooks.attempts}), 0, 'given_up',
      'not sent: the webhook was switched off', ${new Date(now)}
    from given_up
    returning id`
  return rows.length
}
