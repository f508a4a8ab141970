/** Webhooks that are made by the API. */
import type { TestUser } from '../support/service.ts'
import { succeeded, type Shown } from './board.ts'

/** A public address, to which no test sends. */
export const hookUrl = 'https://93.184.215.14/hook'

export async function createWebhook(
  user: TestUser,
  fields: { url: string; events: string[] } & Record<string, unknown>,
): Promise<Shown & { secret: string }> {
  const body = { workspace_id: user.workspaceId, ...fields }
  const { webhook, secret } = succeeded(await user.api.post('/webhooks', body))
  return { ...webhook, secret }
}
