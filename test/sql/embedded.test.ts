import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Options, Sql } from 'postgres'
import { afterEach, expect, test, vi } from 'vitest'
import postgres from '../../sql/driver.ts'
import { findEmbedded, startEmbedded } from '../../sql/embedded/embedded.ts'
import type { EmbeddedPostgres } from '../../sql/embedded/embedded.ts'
import { locateBinaries } from '../../sql/embedded/binaries.ts'
import { claim } from '../../sql/embedded/claim.ts'
import { clusterProcesses } from '../../sql/embedded/processes.ts'
import { locateCluster } from '../../sql/embedded/cluster.ts'

const patience = { timeout: 20_000 }
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function newFolder(mode = 0o755): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'embedded-'))
  await chmod(folder, mode)
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbedded({ dataDir })
  cleanups.push(() => server.stop())
  return server
}

function connect(url: string, options: Options<Record<string, never>> = {}): Sql {
  const sql = postgres(url, { max: 1, ...options })
  cleanups.push(() => sql.end({ timeout: 0 }))
  return sql
}

/** Another node process that starts the server on the folder and keeps it. */
async function startElsewhere(
  dataDir: string,
): Promise<{ node: ChildProcess; postmaster: number; url: string }> {
  const module = new URL('../../sql/embedded/embedded.ts', import.meta.url).href
  const script = `
    import { startEmbedded } from ${JSON.stringify(module)}
    const { pid, url } = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)} })
    console.log(JSON.stringify({ pid, url }))
    setInterval(() => {}, 1000)`
  const node = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  cleanups.push(() => kill(node))
  const [line] = (await once(createInterface({ input: node.stdout }), 'line')) as [string]
  const { pid, url } = JSON.parse(line) as { pid: number; url: string }
  return { node, postmaster: pid, url }
}

async function kill(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null || node.signalCode !== null) return
  const exited = once(node, 'exit')
  node.kill('SIGKILL')
  await exited
}

/** A session in an endless loop: it does not notice that its postmaster is gone. */
async function keepBusy(url: string): Promise<number> {
  const sql = connect(url, { connection: { application_name: 'busy' } })
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  sql`do 'begin loop end loop; end'`.catch(() => {})
  const admin = connect(url)
  await vi.waitUntil(async () => {
    const [busy] = await admin`select from pg_stat_activity where pid = ${row!.pid} and state = 'active'`
    return busy
  }, patience)
  return row!.pid
}

async function running(dataDir: string): Promise<number[]> {
  return clusterProcesses(await locateCluster(dataDir))
}

async function answers(url: string): Promise<boolean> {
  return connect(url, { connect_timeout: 1 })`select 1`.then(
    () => true,
    () => false,
  )
}

test('[D20] the service gets a role that is no superuser, may create roles, and owns its database', async () => {
  const { url, adminUrl } = await start(await newFolder())
  const sql = connect(url)
  const [role] = await sql`
    select current_user, current_database(), rolsuper, rolcreaterole, rolbypassrls, datdba = r.oid as owner,
      current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as commit, current_setting('password_encryption') as passwords
    from pg_roles r, pg_database d
    where rolname = current_user and datname = current_database()`
  expect(role).toEqual({
    current_user: 'corkboard',
    current_database: 'corkboard',
    rolsuper: false,
    rolcreaterole: true,
    rolbypassrls: false,
    owner: true,
    encoding: 'UTF8',
    fsync: 'on',
    commit: 'on',
    passwords: 'scram-sha-256',
  })
  for (const name of ['pg_trgm', 'citext', 'btree_gin', 'unaccent'])
    await sql.unsafe(`create extension ${name}`)
  const [letters] = await sql`select lower('ČŠŽ') as lower, cardinality(show_trgm('čšž')) as trigrams`
  expect(letters).toEqual({ lower: 'čšž', trigrams: 4 })
  const [admin] = await connect(adminUrl)`select rolsuper from pg_roles where rolname = current_user`
  expect(admin).toEqual({ rolsuper: true })
})

test('[D21] the server listens on 127.0.0.1 alone, for scram passwords that only its user may read', async () => {
  const dataDir = await newFolder()
  const { url, adminUrl, port } = await start(dataDir)
  const { mode } = await stat(path.join(dataDir, 'postgres.json'))
  expect(mode & 0o777).toBe(0o600)

  const methods = await connect(adminUrl)`select distinct auth_method from pg_hba_file_rules`
  expect(methods).toEqual([{ auth_method: 'scram-sha-256' }])
  const wrong = url.replace(/:[^:@]+@/, ':wrong@')
  await expect(connect(wrong)`select 1`).rejects.toMatchObject({ code: '28P01' })

  const others = Object.values(networkInterfaces()).flatMap((list) =>
    list!.filter(({ family }) => family === 'IPv4'),
  )
  for (const { address } of [...others, { address: '127.0.0.2' }]) {
    if (address === '127.0.0.1') continue
    const socket = net.connect(port, address)
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNREFUSED')
  }
})

test('[D22] a stopped server is down; the next start has its data, on the same port', async () => {
  const dataDir = await newFolder()
  const first = await start(dataDir)
  await connect(first.url)`create table notes as select 'kept' as words`
  expect(await findEmbedded(dataDir)).toEqual({
    url: first.url,
    adminUrl: first.adminUrl,
    port: first.port,
    pid: first.pid,
  })
  await first.stop()
  expect(await running(dataDir)).toEqual([])
  expect(await findEmbedded(dataDir)).toBe(null)

  const second = await start(dataDir)
  expect(second.url).toBe(first.url)
  expect(await connect(second.url)`table notes`).toEqual([{ words: 'kept' }])
})

test('[D23] after kill -9 of the process, the next start ends its server and its sessions and has the data', async () => {
  const dataDir = await newFolder()
  const { node, postmaster, url } = await startElsewhere(dataDir)
  await connect(url)`create table notes as select 'kept' as words`
  const busy = await keepBusy(url)
  await kill(node)
  expect(await running(dataDir)).toContain(postmaster)

  const server = await start(dataDir)
  expect(await running(dataDir)).not.toContain(postmaster)
  expect(await running(dataDir)).not.toContain(busy)
  expect(await connect(server.url)`table notes`).toEqual([{ words: 'kept' }])
})

test('[D24] after kill -9 of process and server, the next start works beside a busy orphan', async () => {
  const dataDir = await newFolder()
  const { node, postmaster, url } = await startElsewhere(dataDir)
  await connect(url)`create table notes as select 'kept' as words`
  const busy = await keepBusy(url)
  await kill(node)
  process.kill(postmaster, 'SIGKILL')
  await vi.waitUntil(async () => !(await running(dataDir)).includes(postmaster), patience)
  expect(await running(dataDir)).toContain(busy)

  const server = await start(dataDir)
  expect(await running(dataDir)).not.toContain(busy)
  expect(await connect(server.url)`table notes`).toEqual([{ words: 'kept' }])
})

test('[D25] a server that is killed comes back by itself on the same port, also beside a busy orphan', async () => {
  const dataDir = await newFolder()
  const server = await start(dataDir)
  await connect(server.url)`create table notes as select 'kept' as words`
  for (const withOrphan of [false, true, false]) {
    if (withOrphan) await keepBusy(server.url)
    const killed = server.pid
    process.kill(killed, 'SIGKILL')
    await vi.waitUntil(() => server.pid !== killed && answers(server.url), patience)
    expect(await connect(server.url)`table notes`).toEqual([{ words: 'kept' }])
  }
  await server.stop()
  expect(await running(dataDir)).toEqual([])
})

test('[D26] files that an interrupted start left behind do not hinder the next one', async () => {
  const dataDir = await newFolder()
  await mkdir(path.join(dataDir, 'postgres.new', 'base'), { recursive: true })
  await writeFile(path.join(dataDir, 'postgres.password'), 'torn')
  await writeFile(path.join(dataDir, 'postgres.json.new'), '{')
  const first = await start(dataDir)
  await first.stop()

  // A process id that another process has by now, as after the restart of a container.
  const pidFile = [process.pid, dataDir, 0, first.port, '', '127.0.0.1', '0 0', 'ready   ', ''].join('\n')
  await writeFile(path.join(dataDir, 'postgres', 'postmaster.pid'), pidFile)
  expect(await findEmbedded(dataDir)).toBe(null)
  const second = await start(dataDir)
  expect(await answers(second.url)).toBe(true)
})

test('[D27] a folder that only its owner may enter serves', async () => {
  const server = await start(await newFolder(0o700))
  expect(await answers(server.url)).toBe(true)
})

test('[D28] one process at a time runs the server of a folder; a successor waits for it to end', async () => {
  const name = `embedded-test-${process.pid}`
  const release = await claim(name, 0)
  await expect(claim(name, 0)).rejects.toThrow('Another process uses this data folder')
  const waiting = claim(name, 10_000)
  await release()
  await (
    await waiting
  )()
})

test('[D29] binaries that npm left incomplete are reported in one sentence', async () => {
  const root = await newFolder()
  expect(() => locateBinaries(null)).toThrow('Set DATABASE_URL')
  await mkdir(path.join(root, 'native', 'bin'), { recursive: true })
  for (const name of ['initdb', 'postgres']) await writeFile(path.join(root, 'native', 'bin', name), '')
  expect(locateBinaries(root).postgres).toBe(path.join(root, 'native', 'bin', 'postgres'))
  await writeFile(path.join(root, 'native', 'pg-symlinks.json'), '[{"target":"native/lib/libpq.so.5"}]')
  expect(() => locateBinaries(root)).toThrow(/libpq\.so\.5 is missing.*npm rebuild/)
})

test('[D22] a lost password file is reported, and the data is left alone', async () => {
  const dataDir = await newFolder()
  await (await start(dataDir)).stop()
  await rm(path.join(dataDir, 'postgres.json'))
  await expect(startEmbedded({ dataDir })).rejects.toThrow('is missing. It contains the passwords')
  expect(await readFile(path.join(dataDir, 'postgres', 'PG_VERSION'), 'utf8')).toBe('18\n')
})
