/**
 * The driver as patched in patches/: what it does when a connection is lost. As published, it crashed the process, hung
 * callers, lost connections of the pool, and ran statements of a dead transaction in another session.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Options, Sql, TransactionSql } from 'postgres'
import { afterAll, afterEach, expect, vi } from 'vitest'
import postgres from '../../sql/driver.ts'
import { startEmbedded } from '../../sql/embedded/embedded.ts'

/** What the loss of a connection is called, at any step. */
export const lost = /^(CONNECTION_(CLOSED|DESTROYED|ENDED)|ECONNRESET|ECONNREFUSED|EPIPE|57P0[1-3])$/

const faults: unknown[] = []
const noteFault = (fault: unknown): number => faults.push(fault)
process.on('unhandledRejection', noteFault)
process.on('uncaughtException', noteFault)

/** Of this file's tests alone. */
const dataDir = await mkdtemp(path.join(tmpdir(), 'driver-'))
await chmod(dataDir, 0o755)
export const server = await startEmbedded({ dataDir })
export const admin = postgres(server.adminUrl, { max: 2 })

/** Ended after each test. */
export const pools: Sql[] = []

const sql = pool()
await sql`create table effects (tx text not null, n int not null, bulk text)`
await sql.unsafe(`
  create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(10); return null; end';
  create table slow_commits (tx text);
  create table slow_copies (tx text);
  create trigger linger after insert on slow_copies for each statement execute function linger();
  create constraint trigger linger after insert on slow_commits deferrable initially deferred
    for each row execute function linger()`)
await sql.end()

afterEach(async () => {
  await Promise.all(pools.splice(0).map((sql) => settled(sql.end({ timeout: 1 }))))
  expect(faults.splice(0)).toEqual([])
})

afterAll(async () => {
  await admin.end({ timeout: 0 })
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
  process.off('unhandledRejection', noteFault)
  process.off('uncaughtException', noteFault)
})

export function pool(options: Options<Record<string, never>> = {}): Sql {
  const sql = postgres(server.url, { max: 1, backoff: () => 0.02, connect_timeout: 5, ...options })
  pools.push(sql)
  return sql
}

export type Outcome<T> =
  | { value: T; error?: undefined }
  | { value?: undefined; error: Error & { code?: string } }

/** The outcome of a call; fails when the call hangs. */
export async function settled<T>(call: PromiseLike<T>, withinMs = 10_000): Promise<Outcome<T>> {
  const done = new AbortController()
  const hung = sleep(withinMs, 'hung' as const, { signal: done.signal }).catch(() => 'hung' as const)
  const outcome = Promise.resolve(call).then(
    (value): Outcome<T> => ({ value }),
    (error: Error): Outcome<T> => ({ error }),
  )
  const first = await Promise.race([outcome, hung])
  done.abort()
  if (first === 'hung') throw new Error(`A call did not settle within ${withinMs} ms`)
  return first
}

export async function expectLost(call: PromiseLike<unknown>): Promise<void> {
  const { error } = await settled(call)
  expect(error?.code).toMatch(lost)
}

/** Every connection of the pool answers, all at the same time: none is lost to it. */
export async function expectWorking(sql: Sql): Promise<void> {
  const { max } = sql.options
  // The caller of a query that was reset learns of it a moment before the pool does.
  for (let turn = 0; turn < 3; turn++) await setImmediate()
  const query = (): PromiseLike<{ pid: number }[]> => sql`select pg_backend_pid() as pid, pg_sleep(0.1)`
  const outcomes = await Promise.all(Array.from({ length: max }, () => settled(query())))
  expect(outcomes.flatMap(({ error }) => error ?? [])).toEqual([])
  expect(new Set(outcomes.map(({ value }) => value?.[0]?.pid)).size).toBe(max)
}

export async function pidOf(sql: Sql | TransactionSql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row!.pid
}

/** Returns when the backend is gone; the driver may not have noticed yet. */
export async function terminate(pid: number): Promise<void> {
  await admin`select pg_terminate_backend(${pid}, 5000)`
}

export async function untilQuerying(pid: number, text: string): Promise<void> {
  await vi.waitUntil(
    async () => {
      const [row] = await admin`
        select from pg_stat_activity where pid = ${pid} and state = 'active' and query ilike ${`%${text}%`}`
      return row
    },
    { timeout: 10_000, interval: 5 },
  )
}

/** Number of the sessions of an application. */
export async function connected(application: string): Promise<number> {
  const [row] = await admin<{ count: number }[]>`
    select count(*)::int from pg_stat_activity where application_name = ${application}`
  return row!.count
}

export async function effects(tx: string): Promise<number> {
  const sql = postgres(server.url, { max: 1 })
  const [row] = await sql<{ count: number }[]>`select count(*)::int from effects where tx = ${tx}`
  await sql.end()
  return row!.count
}
