/** An application that an account has connected, as the end of its consent leaves it. */
import { randomUUID } from 'node:crypto'
import { makeToken, saveAccessToken } from '../../sql/accounts/tokens.ts'
import type { TestService, TestUser } from './service.ts'

export interface Application {
  /** Its access token. */
  token: string
  /** The key of its grant. */
  key: Buffer
  clientId: string
}

export async function connectApplication(
  service: TestService,
  { userId }: TestUser,
  clientId: string = `client-${randomUUID()}`,
): Promise<Application> {
  const token = makeToken()
  const key = Buffer.from(randomUUID())
  const scopes = ['read', 'write'] as const
  await service.database.asSystem(async (tx) => {
    const [grant] = await tx<{ id: string }[]>`
      insert into oauth_grants (key, payload, user_id, client_id, scopes, ends_at)
      values (${key}, ${Buffer.from('payload')}, ${userId}, ${clientId}, ${[...scopes]}, now() + interval '1 hour')
      returning id`
    await saveAccessToken(tx, {
      ...{ value: token, grantId: grant!.id, userId, name: 'App', scopes: [...scopes] },
      lastsSeconds: 3600,
    })
  })
  return { token, key, clientId }
}
