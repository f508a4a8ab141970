import { afterAll, expect, test } from 'vitest'
import { disconnectApplication, endGrant } from '../../sql/oauth/oauth-grants.ts'
import { revokePersonalToken } from '../../sql/accounts/personal-tokens.ts'
import { revokeAccessToken, revokeToken } from '../../sql/accounts/tokens.ts'
import { connectApplication } from '../support/application.ts'
import { cloneDatabase } from '../support/database.ts'
import { openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestUser } from '../support/service.ts'

const testDatabase = await cloneDatabase()
const here = await startService({ testDatabase })
/** Its time stands still: an answer that it remembers about a token never becomes too old. */
const stopped = Date.now()
const there = await startService({ testDatabase, clock: { now: () => stopped } })
afterAll(async () => {
  await there.stop()
  await here.stop()
  await testDatabase.drop()
})

interface Revocable {
  token: string
  /** Ends the token by way of the node `here`. */
  revoke(): Promise<unknown>
}

const ways: Record<string, (user: TestUser) => Promise<Revocable>> = {
  'a personal token, in the settings': async (user) => {
    const other = await here.token(user, {})
    const revoke = () => here.database.asUser(user.userId, (tx) => revokePersonalToken(tx, other.tokenId))
    return { token: other.token, revoke }
  },
  'a token, as the command line does': async (user) => {
    const other = await here.token(user, {})
    return {
      token: other.token,
      revoke: () => here.database.asSystem((tx) => revokeToken(tx, other.tokenId)),
    }
  },
  'a token of a service account': async (user) => {
    const { account, token } = await serviceAccount(user)
    return {
      token: token.value,
      revoke: () => user.api.delete(`/service-accounts/${account}/tokens/${token.id}`),
    }
  },
  'all tokens of a service account that is retired': async (user) => {
    const { account, token } = await serviceAccount(user)
    return { token: token.value, revoke: () => user.api.delete(`/service-accounts/${account}`) }
  },
  'an access token that its application gives up': async (user) => {
    const { token } = await connectApplication(here, user)
    return { token, revoke: () => here.database.asSystem((tx) => revokeAccessToken(tx, token)) }
  },
  'what was issued under a grant that ends': async (user) => {
    const { token, key } = await connectApplication(here, user)
    return { token, revoke: () => here.database.asSystem((tx) => endGrant(tx, key)) }
  },
  'the tokens of an application that is disconnected': async (user) => {
    const { token, clientId } = await connectApplication(here, user)
    const revoke = () => here.database.asUser(user.userId, (tx) => disconnectApplication(tx, clientId))
    return { token, revoke }
  },
}

async function serviceAccount(
  user: TestUser,
): Promise<{ account: string; token: { id: string; value: string } }> {
  const made = await user.api.post('/service-accounts', { workspace_id: user.workspaceId, name: 'Bot' })
  const account = made.body.service_account.id as string
  const minted = await user.api.post(`/service-accounts/${account}/tokens`, { name: 'one', scopes: ['read'] })
  return { account, token: { id: minted.body.token.id, value: minted.body.access_token } }
}

test.each(Object.entries(ways))('[R30, R31] revoked means revoked: %s', async (_name, make) => {
  const user = await here.user()
  const { token, revoke } = await make(user)
  const api = new ApiClient(here.url, token)
  const elsewhere = new ApiClient(there.url, token)
  expect((await api.get('/me')).status).toBe(200)
  expect((await elsewhere.get('/me')).status).toBe(200)
  await revoke()
  expect((await api.get('/me')).status).toBe(401)
  await until(async () => (await elsewhere.get('/me')).status === 401, 'the other node refuses it', 1000)
})

test('[R30, R31] requests under way at the same moment leave nothing behind that lets the token in', async () => {
  const user = await here.user()
  for (let round = 0; round < 10; round++) {
    const other = await here.token(user, {})
    const busy = Array.from({ length: 10 }, () => other.api.get('/me'))
    await here.database.asSystem((tx) => revokeToken(tx, other.tokenId))
    expect((await other.api.get('/me')).status).toBe(401)
    await Promise.all(busy)
    expect((await other.api.get('/me')).status).toBe(401)
  }
})

test('[R31] open sockets of a revoked token are closed on every node', async () => {
  const user = await here.user()
  const boardId = (await user.api.post('/boards', { name: 'Open' })).body.board.id as string
  const other = await here.token(user, {})
  const editors = await Promise.all(
    [here, there].map(({ url }) => openEditor(url, { boardId, token: other.token })),
  )
  const connections = () => here.gateway.counts().connections + there.gateway.counts().connections
  expect(connections()).toBe(2)
  await here.admin`update tokens set revoked_at = now() where id = ${other.tokenId}`
  await until(() => connections() === 0, 'both are closed', 1000)
  for (const editor of editors) editor.leave()
})
