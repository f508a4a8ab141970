/** The service in this process, with a separate database and a free port. With `NODES=3` it is three nodes, see nodes.ts. */
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { apiRoot } from '../../api/http/root.ts'
import { routes } from '../../api/routes.ts'
import type { BoardDocument } from '../../collab/documents/document.ts'
import type { GatewayCounts } from '../../collab/gateway/gateway.ts'
import type { ComposeOptions } from '../../server/basis.ts'
import { compose, type Service } from '../../server/compose.ts'
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
import { inTurn, nodesPerService } from './nodes.ts'
import { observed } from './observed.ts'

export interface TestService extends Service {
  /** The address that the service calls its own: that of the first node. `url` may be another node's at each reading. */
  homeUrl: string
  /** All of its nodes. The fields of `Service` are those of the first one. */
  nodes: Service[]
  /** Writes the index rows of all edits that a node has taken on this board. */
  flush(boardId: string): Promise<void>
  /** The documents of a board in the memory of all nodes. */
  inMemory(boardId: string): BoardDocument[]
  /** What all gateways hold together. */
  counts(): GatewayCounts
  admin: Sql
  databaseUrl: string
  /** For a second process on the same database. */
  testDatabase: TestDatabase
  dataDir: string
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
  /** Default: `NODES`, and one for a service whose database or port the test chooses. */
  nodes?: number
}

let users = 0

export const testSecretKey = 'a key for tests, of more than 32 characters'

/** The Redis between all nodes of the tests. Without it, messages go over NOTIFY. */
export const testRedisUrl = process.env['REDIS_URL'] ?? ''

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { config, testDatabase, nodes: count = nodesFor(options), ...composeOptions } = options
  const database = testDatabase ?? (await cloneDatabase())
  const dataDir = config?.dataDir ?? (await mkdtemp(join(tmpdir(), 'corkboard-service-')))
  const given = { ...readConfig(environment), dataDir, ...config }
  const service = await compose(given, database.url, composeOptions)
  const others = { ...given, publicUrl: given.publicUrl ?? service.url }
  const nodes = [service]
  const starting = Array.from({ length: count - 1 }, () => compose(others, database.url, composeOptions))
  nodes.push(...(await Promise.all(starting)))
  for (const node of nodes) observeAnswers(node)
  const next = inTurn(nodes)
  const nextUrl = () => next().url
  const client = (token: string | null) => new ApiClient(nextUrl, token)
  const close = async () => void (await Promise.all(nodes.map((node) => node.close())))
  return {
    ...service,
    get url() {
      return nextUrl()
    },
    homeUrl: service.url,
    nodes,
    flush: async (boardId) => void (await Promise.all(nodes.map(({ live }) => live.queue.flush(boardId)))),
    inMemory: (boardId) => nodes.flatMap(({ live }) => live.documents.find(boardId) ?? []),
    counts: () => together(nodes.map(({ gateway }) => gateway.counts())),
    close,
    admin: database.admin,
    databaseUrl: database.url,
    testDatabase: database,
    dataDir,
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
      await close()
      if (!config?.dataDir) await rm(dataDir, { recursive: true, force: true })
      if (!testDatabase) await database.drop()
    },
  }
}

const environment = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  RATE_LIMIT_PER_HOUR: '100000000',
  SECRET_KEY: testSecretKey,
  REDIS_URL: testRedisUrl,
}

/** The sum. But an awareness state is on each node that has its board open, and counts once. */
const together = ([first, ...others]: GatewayCounts[]) =>
  others.reduce((total, counts) => {
    const states = Math.max(total.states, counts.states)
    for (const name of Object.keys(total) as (keyof GatewayCounts)[]) total[name] += counts[name]
    return { ...total, states }
  }, first!)

/** A test that brings its database, or chooses the port, makes its nodes itself. */
const nodesFor = ({ testDatabase, database, config }: TestServiceOptions) =>
  testDatabase || database || config?.port ? 1 : nodesPerService

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
