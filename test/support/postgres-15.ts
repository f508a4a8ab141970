/** A PostgreSQL 15, as Debian has it: the oldest server that the service takes. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { until } from './editor.ts'
import { freePort } from './free-port.ts'

export interface Server {
  /** URL of the superuser, with the database `postgres`. */
  adminUrl: string
  /** URL of the role `corkboard`, which may create roles. */
  serviceUrl: string
  stop(): Promise<void>
}

const programs = '/usr/lib/postgresql/15/bin'

export async function startPostgres15(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-postgres-15-'))
  const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : null
  if (owner) chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o755)
  const data = join(folder, 'data')
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
    {
      ...owner,
      cwd: '/',
      stdio: 'ignore',
    },
  )
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off']
  const flags = settings.flatMap((setting) => ['-c', setting])
  const child = spawn(join(programs, 'postgres'), ['-D', data, ...flags], {
    ...owner,
    cwd: '/',
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`
  const admin = postgres(adminUrl, { max: 1, onnotice: () => undefined })
  await until(
    () =>
      admin`select`.then(
        () => true,
        () => false,
      ),
    'PostgreSQL 15 answers',
    20_000,
  )
  await admin`create role corkboard login createrole`
  await admin.end()
  return {
    adminUrl,
    serviceUrl: `postgres://corkboard@127.0.0.1:${port}/corkboard`,
    async stop() {
      child.kill('SIGINT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres']).toString())
