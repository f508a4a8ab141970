import { setTimeout as sleep } from 'node:timers/promises'
import path from 'node:path'
import postgres from '../driver.ts'
import { chooseAccount } from './account.ts'
import { locateBinaries } from './binaries.ts'
import { claim } from './claim.ts'
import { ensureCluster, locateCluster, readAccess, writeAccess, type Access } from './cluster.ts'
import { choosePort, isFree } from './port.ts'
import { startPostmaster, type Postmaster, type PostmasterOptions } from './postmaster.ts'
import { clusterProcesses, endLeftovers, readPidFile } from './processes.ts'

/** A PostgreSQL server on this machine, on 127.0.0.1 only. */
export interface RunningPostgres {
  /** URL of the service's role `corkboard`. It is no superuser, may create roles, and owns the database `corkboard`. */
  url: string
  /** URL of the superuser, with the database `postgres`, for maintenance and tests. */
  adminUrl: string
  port: number
  /** Process id of the postmaster. It changes when the postmaster is restarted. */
  readonly pid: number
}

/** The server that this process started. Whenever it ends unexpectedly, it is restarted on the same port. */
export interface EmbeddedPostgres extends RunningPostgres {
  /** Fast shutdown; waits until the server is down. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  /** The server's files are in `${dataDir}/postgres`, its passwords in `${dataDir}/postgres.json`. */
  dataDir: string
  log?: (line: string) => void
  /** PostgreSQL settings that override the defaults of `startPostmaster`. */
  settings?: Record<string, string>
}

/**
 * Starts PostgreSQL, and creates its data at the first start. If a killed process left a server running, that server is
 * shut down first. It is not reused, because transactions and locks of the killed process must end with that process.
 *
 * Throws an Error for the operator in three cases: another process uses the folder and does not end within 10 s,
 * binaries are missing, or no system user can run them.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log = () => {}, settings = {} } = options
  const cluster = await locateCluster(dataDir)
  const release = await claim(cluster.name, 10_000)
  const stopping = new AbortController()
  try {
    const binaries = locateBinaries()
    const account = await chooseAccount(binaries, path.dirname(cluster.folder))
    await endLeftovers(cluster, log)
    const access = await ensureCluster(cluster, binaries, account)
    const base = { cluster, binaries, account, settings, signal: stopping.signal }
    const { postmaster, port } = await startOnFreePort(base, access.port)
    try {
      if (port !== access.port) await writeAccess(cluster, { ...access, port })
      await ensureDatabase(access, port)
    } catch (error) {
      await postmaster.stop()
      throw error
    }

    let { pid } = postmaster
    const supervision = supervise(postmaster, { ...base, port }, log, (started) => (pid = started))
    return {
      ...urls(access, port),
      get pid() {
        return pid
      },
      async stop() {
        stopping.abort()
        await supervision
        await endLeftovers(cluster, log) // PostgreSQL's logging process ends a moment after the postmaster
        await release()
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** Returns the server that another process runs in `dataDir`, or null. */
export async function findEmbedded(dataDir: string): Promise<RunningPostgres | null> {
  const cluster = await locateCluster(dataDir)
  const access = await readAccess(cluster)
  const file = await readPidFile(cluster)
  if (!access || !file?.ready || !(await clusterProcesses(cluster)).includes(file.pid)) return null
  return { ...urls(access, file.port), pid: file.pid }
}

/**
 * Starts the server on a free port. Tries again, because another process may take the port before the server starts.
 */
async function startOnFreePort(
  options: Omit<PostmasterOptions, 'port'>,
  lastPort: number | null,
): Promise<{ postmaster: Postmaster; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(lastPort)
    try {
      return { postmaster: await startPostmaster({ ...options, port }), port }
    } catch (error) {
      if (attempt === 5 || (await isFree(port))) throw error
    }
  }
}

/** Keeps the server up until `options.signal` aborts, then shuts it down. */
async function supervise(
  first: Postmaster,
  options: PostmasterOptions,
  log: (line: string) => void,
  onStart: (pid: number) => void,
): Promise<void> {
  const { cluster, signal } = options
  let postmaster: Postmaster | null = first
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  for (let waitMs = 50; !signal.aborted;) {
    if (postmaster) {
      const end = await Promise.race([postmaster.ended, aborted])
      if (signal.aborted) break
      log(`PostgreSQL ended unexpectedly (${String(end)}); restarting it`)
      postmaster = null
      waitMs = 50
    }
    try {
      await endLeftovers(cluster, log)
      postmaster = await startPostmaster(options)
      onStart(postmaster.pid)
      log(`PostgreSQL is running again (pid ${postmaster.pid})`)
    } catch (error) {
      if (signal.aborted) break
      log((error as Error).message)
      await sleep(waitMs, undefined, { ref: false, signal }).catch(() => {})
      waitMs = Math.min(waitMs * 2, 5_000)
    }
  }
  await postmaster?.stop()
}

/**
 * Creates the service's role and database if they don't exist. The first start may have been interrupted between them.
 */
async function ensureDatabase(access: Access, port: number): Promise<void> {
  const sql = postgres(urls(access, port).adminUrl, { max: 1, fetch_types: false, answer_timeout: 30 })
  try {
    const roles = await sql`select from pg_roles where rolname = 'corkboard'`
    if (roles.length === 0)
      await sql.unsafe(`create role corkboard login createrole password '${access.servicePassword}'`)
    const databases = await sql`select from pg_database where datname = 'corkboard'`
    if (databases.length === 0) await sql`create database corkboard owner corkboard`
  } finally {
    await sql.end()
  }
}

function urls(access: Access, port: number): { url: string; adminUrl: string; port: number } {
  return {
    url: `postgres://corkboard:${access.servicePassword}@127.0.0.1:${port}/corkboard`,
    adminUrl: `postgres://postgres:${access.superuserPassword}@127.0.0.1:${port}/postgres`,
    port,
  }
}
