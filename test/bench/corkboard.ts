import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findEmbedded } from '../../sql/embedded/embedded.ts'
import type { CardServer, Corkboard, Nodes } from './bench.ts'
import type { Part } from './without.ts'
import { freePort } from '../support/free-port.ts'
import { ServerProcess } from './server-process.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const startWithinMs = 120_000
const run = promisify(execFile)

/**
 * Starts Corkboard as an operator does, with an empty data folder and one account. The bench uses only its public
 * interface. `databaseUrl` replaces its embedded PostgreSQL. `colleagues` is the number of further accounts that may edit
 * its boards.
 */
export async function startCorkboard(
  databaseUrl: string | null,
  {
    without,
    settings = {},
    colleagues = 0,
  }: { without?: Part; settings?: Record<string, string>; colleagues?: number } = {},
): Promise<Corkboard> {
  const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-bench-'))
  // As root, the embedded PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(dataDir, 0o755)
  const port = await freePort()
  const env = {
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    PORT: String(port),
    RATE_LIMIT_PER_HOUR: '100000000',
    LOG_LEVEL: 'error',
    EGRESS_ALLOW: '127.0.0.1',
    ...(without ? { BENCH_WITHOUT: without } : {}),
    SECRET_KEY: 'of the bench: the same for all nodes of a database',
    ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    ...settings,
  }
  // The command of `npm start`.
  const loadedBefore = ['server/preflight.js', ...(without ? ['test/bench/without.ts'] : [])]
  const child = new ServerProcess('corkboard', 'server/main.ts', env, loadedBefore)
  const stop = async () => {
    await child.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await child.ready(() => answersReady(port), startWithinMs)
    const token = await addAccount(env)
    const api = { root: `http://127.0.0.1:${port}/api/v1`, token }
    return {
      name: 'corkboard',
      dataDir,
      api,
      editors: {
        protocol: 'hocuspocus',
        url: `ws://127.0.0.1:${port}/collab`,
        token,
        tokens: [token, ...(await addColleagues(api, colleagues))],
      },
      createBoards: (count) => createBoards(api, count),
      memory: () => child.memory(),
      cpuMs: () => child.cpuMs(),
      peakBytes: (work) => child.peakBytes(work),
      turns: (work) => child.turns(work),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts nodes on one database: `databaseUrl`, or the embedded one of the first node. */
export async function startNodes(
  count: number,
  databaseUrl: string | null,
  settings: Record<string, string> = {},
): Promise<Nodes> {
  const nodes: Corkboard[] = []
  const stop = async () => {
    for (const node of nodes.toReversed()) await node.stop()
  }
  try {
    const first = await startCorkboard(databaseUrl, { settings })
    nodes.push(first)
    const url = databaseUrl ?? (await findEmbedded(first.dataDir))!.url
    const add = async () => {
      const started = await startCorkboard(url, { settings })
      const { token } = first.api // all boards belong to one account
      const node = {
        ...started,
        api: { ...started.api, token },
        editors: { ...started.editors, token, tokens: [token] },
      }
      nodes.push(node)
      return node
    }
    while (nodes.length < count) await add()
    return { nodes, databaseUrl: url, add, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function answersReady(port: number): Promise<true | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    await response.arrayBuffer()
    return response.status === 200 ? true : null
  } catch {
    return null
  }
}

async function addAccount(env: Record<string, string>): Promise<string> {
  const email = `bench-${randomUUID()}@example.com`
  const command = ['server/cli/main.ts', 'user', 'add', '--email', email, '--name', 'Bench']
  const options = ['--tier', 'pro', '--scopes', 'read,write,delete']
  const { stdout } = await run(process.execPath, [...command, ...options], {
    cwd: repository,
    env: { ...process.env, ...env },
  })
  return (JSON.parse(stdout) as { token: string }).token
}

/** Makes service accounts, and returns a token of each. */
async function addColleagues(api: CardServer['api'], count: number): Promise<string[]> {
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
  const listed = await fetch(`${api.root}/workspaces`, { headers })
  const { workspaces } = (await listed.json()) as { workspaces: { id: string }[] }
  const tokens: string[] = []
  while (tokens.length < count) {
    const body = JSON.stringify({ workspace_id: workspaces[0]!.id, name: 'Colleague', scopes: ['write'] })
    const response = await fetch(`${api.root}/service-accounts`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`POST /service-accounts: ${response.status} ${await response.text()}`)
    tokens.push(((await response.json()) as { access_token: string }).access_token)
  }
  return tokens
}

async function createBoards(api: CardServer['api'], count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const response = await fetch(`${api.root}/boards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Bench' }),
    })
    if (response.status !== 201) {
      throw new Error(`POST /boards answered ${response.status}: ${await response.text()}`)
    }
    ids.push(((await response.json()) as { board: { id: string } }).board.id)
  }
  return ids
}

/**
 * Returns the URL of the embedded PostgreSQL of a running Corkboard, with a role that may create databases. The default
 * of `database` is `postgres`.
 */
export async function embeddedPostgresUrl(dataDir: string, database?: string): Promise<string> {
  const embedded = await findEmbedded(dataDir)
  if (!embedded) throw new Error(`no embedded Postgres runs in ${dataDir}`)
  if (database === undefined) return embedded.adminUrl
  const url = new URL(embedded.adminUrl)
  url.pathname = `/${database}`
  return url.href
}
