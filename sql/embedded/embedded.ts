import { setTimeout as sleep } from 'node:timers/promises'
import path from 'node:path'
import postgres from '../driver.ts'
import { chooseAccount } from './account.ts'
import { locateBinaries } from './binaries.ts'
import { claim } from './claim.ts'
import { ensureCluster, locateCluster, readAccess, writeAccess } from './cluster.ts'
import type { Access } from './cluster.ts'
import { choosePort, isFree } from './port.ts'
import { startPostmaster } from './postmaster.ts'
import type { Postmaster, PostmasterOptions } from './postmaster.ts'
import { clusterProcesses, endLeftovers, readPidFile } from './processes.ts'

/** A PostgreSQL server on this machine, on 127.0.0.1 only. */
export interface RunningPostgres {
  /** URL of the service's login role `corkboard`: no superuser, may create roles, owns the database `corkboard`. */
  url: string
  /** URL of the superuser, database `postgres`: for maintenance and for tests. */
  adminUrl: string
  port: number
  /** Process id of the postmaster; another one after it died and was started again. */
  readonly pid: number
}

/** The server that this process started. It is started again, on the same port, whenever it dies. */
export interface EmbeddedPostgres extends RunningPostgres {
  /** Fast shutdown; waits until the server is down. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  /** The server's files lie under `${dataDir}/postgres`, its passwords in `${dataDir}/postgres.json`. */
  dataDir: string
  log?: (line: string) => void
  /** PostgreSQL's settings, over the ones chosen here. */
  settings?: Record<string, string>
}

/**
 * Starts PostgreSQL, making its data at the first start. A server that a killed process left running is shut
 * down first and not taken over: what its sessions had under way or locked must not outlive that process.
 *
 * Throws one sentence when another process runs on the folder (after waiting 10 s for it to end), when the
 * binaries are missing, or when no system user can run them.
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
        await endLeftovers(cluster, log) // its logger ends a moment after it
        await release()
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** The server that another process runs under `dataDir` now, or null. */
export async function findEmbedded(dataDir: string): Promise<RunningPostgres | null> {
  const cluster = await locateCluster(dataDir)
  const access = await readAccess(cluster)
  const file = await readPidFile(cluster)
  if (!access || !file?.ready || !(await clusterProcesses(cluster)).includes(file.pid)) return null
  return { ...urls(access, file.port), pid: file.pid }
}

/** Another process may take the port between the look and the start. */
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
      log(`PostgreSQL ended unexpectedly (${String(end)}) and is started again`)
      postmaster = null
      waitMs = 50
    }
    try {
      await endLeftovers(cluster, log)
      postmaster = await startPostmaster(options)
      onStart(postmaster.pid)
      log(`PostgreSQL runs again (pid ${postmaster.pid})`)
    } catch (error) {
      if (signal.aborted) break
      log((error as Error).message)
      await sleep(waitMs, undefined, { ref: false, signal }).catch(() => {})
      waitMs = Math.min(waitMs * 2, 5_000)
    }
  }
  await postmaster?.stop()
}

/** The service's role and database. Looks before it makes each: the first start may have ended in between. */
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
