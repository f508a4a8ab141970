/** Mints sessions for tests. */
import { ApiClient } from '../support/http.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { succeeded } from './board.ts'

export interface Minter {
  accountId: string
  tokenId: string
  api: ApiClient
}

export async function serviceAccountOf(
  service: TestService,
  owner: TestUser,
  scopes = ['read', 'write', 'delete'],
): Promise<Minter> {
  const body = { workspace_id: owner.workspaceId, name: 'Backend', scopes }
  const made = succeeded(await owner.api.post('/service-accounts', body))
  return {
    accountId: made.service_account.id,
    tokenId: made.token.id,
    api: new ApiClient(() => service.url, made.access_token),
  }
}

export interface MintedUser {
  token: string
  session: any
  api: ApiClient
}

/** @param asked default: an editor’s session of the user `u-1` */
export async function mint(
  service: TestService,
  minter: { api: ApiClient },
  asked: object,
): Promise<MintedUser> {
  const user = { id: 'u-1', name: 'Ada' }
  const { access_token: token, session } = succeeded(
    await minter.api.post('/sessions', { role: 'editor', user, ...asked }),
  )
  return { token, session, api: new ApiClient(() => service.url, token) }
}
