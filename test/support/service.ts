/** The service in this process, with a separate database and a free port. */
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { apiRoot } from '../../api/http/root.ts'
import { routes } from '../../api/routes.ts'
import { compose, type ComposeOptions, type Service } from '../../server/compose.ts'
import { readConfig, type Config } from '../../server/config.ts'
import {
  addUser,
  setMember,
  shareBoard,
  type MemberRole,
  type ShareRole,
} from '../../sql/accounts/accounts.ts'
import { mintToken, type Scope } from '../../sql/accounts/tokens.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'
import { operationFinder } from './description.ts'
import { ApiClient } from './http.ts'
import { observed } from './observed.ts'

export interface TestService extends Service {
  admin: Sql
  databaseUrl: string
  /** For a second process on the same database. */
  testDatabase: TestDatabase
  /** Makes an account with a token, and a client that uses the token. */
  user(options?: UserOptions): Promise<TestUser>
  member(workspaceId: string, user: TestUser, role: MemberRole): Promise<void>
  share(boardId: string, user: TestUser, role: ShareRole): Promise<void>
  /** Makes another token of the account. */
  token(user: TestUser, options: { scopes?: Scope[]; ttlDays?: number }): Promise<TestUser>
  anonymous: ApiClient
  stop(): Promise<void>
}

export interface UserOptions {
  tier?: 'free' | 'pro'
  scopes?: Scope[]
  name?: string
}

export interface TestUser {
  userId: string
  workspaceId: string
  email: string
  token: string
  tokenId: string
  api: ApiClient
}

export interface TestServiceOptions extends ComposeOptions {
  config?: Partial<Config>
  /** A second process on the same database. */
  testDatabase?: TestDatabase
}

let users = 0

export const testSecretKey = 'a key for tests, of more than 32 characters'

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { config, testDatabase, ...composeOptions } = options
  const database = testDatabase ?? (await cloneDatabase())
  const dataDir = config?.dataDir ?? (await mkdtemp(join(tmpdir(), 'corkboard-service-')))
  const service = await compose(
    {
      ...readConfig({
        PORT: '0',
        LOG_LEVEL: 'silent',
        RATE_LIMIT_PER_HOUR: '100000000',
        SECRET_KEY: testSecretKey,
      }),
      dataDir,
      ...config,
    },
    database.url,
    composeOptions,
  )
  observeAnswers(service)
  const client = (token: string | null) => new ApiClient(service.url, token)
  return {
    ...service,
    admin: database.admin,
    databaseUrl: database.url,
    testDatabase: database,
    anonymous: client(null),
    async user(user = {}) {
      const email = `user${(users += 1)}-${Date.now()}@example.test`
      return service.database.asSystem(async (tx) => {
        const name = user.name ?? `User ${users}`
        const { userId, workspaceId } = await addUser(tx, { email, name, tier: user.tier ?? 'pro' })
        const scopes = user.scopes ?? ['read', 'write', 'delete']
        const { token, tokenId } = await mintToken(tx, { userId, name: 'test', scopes })
        return { userId, workspaceId, email, token, tokenId, api: client(token) }
      })
    },
    member: (workspaceId, user, role) =>
      service.database.asSystem((tx) => setMember(tx, { workspaceId, userId: user.userId, role })),
    share: (boardId, user, role) =>
      service.database.asSystem((tx) => shareBoard(tx, { boardId, userId: user.userId, role })),
    token: (user, { scopes = ['read', 'write', 'delete'], ttlDays }) =>
      service.database.asSystem(async (tx) => {
        const { token, tokenId } = await mintToken(tx, { userId: user.userId, name: 'test', scopes, ttlDays })
        return { ...user, token, tokenId, api: client(token) }
      }),
    async stop() {
      await service.close()
      if (!config?.dataDir) await rm(dataDir, { recursive: true, force: true })
      if (!testDatabase) await database.drop()
    },
  }
}

const described = new Set(routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`))
const templateOf = operationFinder([...described].map((operation) => operation.split(' ')[1]!))

/** Records the status of every answer, whatever client sent the request. */
function observeAnswers(service: Service): void {
  service.app.server.on('request', ({ method = '', url = '' }: IncomingMessage, response: ServerResponse) => {
    const operation = `${method} ${templateOf(url.slice(apiRoot.length))}`
    if (!url.startsWith(apiRoot) || !described.has(operation)) return
    response.once('finish', () => observed({ how: 'sent', operation, status: response.statusCode, code: '' }))
  })
}
