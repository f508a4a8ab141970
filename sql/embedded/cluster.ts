import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chown, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'

const run = promisify(execFile)

/** A database cluster, in PostgreSQL's terms: one data folder with one server. */
export interface Cluster {
  /** Absolute path without symbolic links. */
  folder: string
  /** PostgreSQL's `cluster_name`, derived from the folder. It identifies all processes of the cluster. */
  name: string
}

/** Passwords and port of the cluster. They are stored in a file that only this process's user may read. */
export interface Access {
  superuserPassword: string
  servicePassword: string
  /** Port of the last start. It is used again when it is free. */
  port: number | null
}

export async function locateCluster(dataDir: string): Promise<Cluster> {
  await mkdir(dataDir, { recursive: true })
  const folder = path.join(await realpath(dataDir), 'postgres')
  return { folder, name: `corkboard-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}` }
}

export async function readAccess(cluster: Cluster): Promise<Access | null> {
  try {
    return JSON.parse(await readFile(accessFile(cluster), 'utf8')) as Access
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Replaces the file atomically and durably. With a damaged file, the data would be inaccessible. */
export async function writeAccess(cluster: Cluster, access: Access): Promise<void> {
  const draft = `${accessFile(cluster)}.new`
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  await file.writeFile(`${JSON.stringify(access, null, 2)}\n`)
  await file.sync()
  await file.close()
  await rename(draft, accessFile(cluster))
}

function accessFile(cluster: Cluster): string {
  return `${cluster.folder}.json`
}

/** Returns the cluster's passwords. At the first start, creates them and the cluster. */
export async function ensureCluster(cluster: Cluster, binaries: Binaries, account: Account): Promise<Access> {
  const exists = await stat(path.join(cluster.folder, 'PG_VERSION')).then(
    () => true,
    () => false,
  )
  let access = await readAccess(cluster)
  if (exists && !access)
    throw new Error(
      `${accessFile(cluster)} is missing. It contains the passwords of ${cluster.folder}. Restore it.`,
    )
  if (!access) {
    access = { superuserPassword: secret(), servicePassword: secret(), port: null }
    await writeAccess(cluster, access)
  }
  if (exists) await handOver(cluster, account)
  else await initialise(cluster, binaries, account, access.superuserPassword)
  return access
}

/**
 * Gives the files to the current system user. In a new container this user may have another id than the files' owner.
 */
async function handOver({ folder }: Cluster, { owner }: Account): Promise<void> {
  if (!owner || (await stat(folder)).uid === owner.uid) return
  await run('chown', ['-R', `${owner.uid}:${owner.gid}`, folder])
}

/**
 * Creates the cluster in a temporary folder and renames it at the end. So an interrupted start leaves no partial
 * cluster.
 */
async function initialise(
  cluster: Cluster,
  binaries: Binaries,
  account: Account,
  password: string,
): Promise<void> {
  const draft = `${cluster.folder}.new`
  const passwordFile = `${cluster.folder}.password`
  await rm(draft, { recursive: true, force: true })
  await rm(passwordFile, { force: true })
  await mkdir(draft, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' })
  try {
    const { owner } = account
    if (owner) await Promise.all([draft, passwordFile].map((file) => chown(file, owner.uid, owner.gid)))
    await initdb(draft, passwordFile, binaries, account)
  } finally {
    await rm(passwordFile, { force: true })
  }
  await rename(draft, cluster.folder)
}

/**
 * Runs initdb. Collation is by code point and built in, so it is the same on every machine. `LC_CTYPE` comes from the
 * system's C library and must support UTF-8, because pg_trgm uses it to recognize letters. Its name differs by system.
 */
async function initdb(
  folder: string,
  passwordFile: string,
  binaries: Binaries,
  account: Account,
): Promise<void> {
  const options = [
    `--pgdata=${folder}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]
  const letters = ['C.UTF-8', 'en_US.UTF-8', 'UTF-8']
  for (const [attempt, locale] of letters.entries()) {
    const { file, args, ...user } = account.command(binaries.initdb, [...options, `--lc-ctype=${locale}`])
    try {
      await run(file, args, { ...user, cwd: '/', env: { PATH: process.env.PATH } })
      return
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: string }
      const canTryNext = /invalid locale name/.test(stderr ?? '') && attempt + 1 < letters.length
      if (!canTryNext) throw new Error(`initdb failed: ${(stderr || message).trim()}`, { cause: error })
    }
  }
}

function secret(): string {
  return randomBytes(24).toString('base64url')
}
