/** Makes a webhook in the database. */
import { openEncryption } from '../../platform/secrets/encryption.ts'
import { testSecretKey, type TestService, type TestUser } from './service.ts'

export const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

export async function makeWebhook(
  service: TestService,
  user: TestUser,
  url: string,
  options: { events?: string[]; secret?: string; workspaceId?: string; name?: string } = {},
): Promise<string> {
  const id = crypto.randomUUID()
  const { events = ['*'], secret = webhookSecret, workspaceId = user.workspaceId, name = '' } = options
  const sealed = openEncryption([testSecretKey], 'webhook secrets').seal(secret, id)
  await service.admin`
    insert into webhooks (id, workspace_id, created_by, url, events, name, secret)
    values (${id}, ${workspaceId}, ${user.userId}, ${url}, ${events}, ${name}, ${sealed})`
  return id
}
