import { openEncryption } from '../../platform/secrets/encryption.ts'
import type { Transaction } from '../../sql/database.ts'

/** What nodes get, so that the webhooks of a load work: short waits, and leave to reach a receiver on loopback. */
export const webhookSettings = {
  SECRET_KEY: 'of the crash rounds: more than 32 characters',
  EGRESS_ALLOW: '127.0.0.1/32',
  APP_EVENT_POLL_SECONDS: '1',
  WEBHOOK_RETRY_WAITS: '1,2,3,4,5',
}

/** Makes a webhook in the transaction that makes its account. */
export async function subscribe(
  tx: Transaction,
  webhook: { workspaceId: string; userId: string; url: string; events: readonly string[] },
): Promise<void> {
  const id = crypto.randomUUID()
  const secret = openEncryption([webhookSettings.SECRET_KEY], 'webhook secrets').seal('whsec_c2VjcmV0', id)
  await tx`
    insert into webhooks (id, workspace_id, created_by, url, events, secret)
    values (${id}, ${webhook.workspaceId}, ${webhook.userId}, ${webhook.url}, ${[...webhook.events]}, ${secret})`
}
