import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Options, Row, Sql, TransactionSql } from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import postgres, { requirePatched } from '../../sql/driver.ts'
import { startEmbedded } from '../../sql/embedded.ts'
import type { EmbeddedPostgres } from '../../sql/embedded.ts'
import { severingProxy } from './severing-proxy.ts'

// The driver as patched in patches/: what it does when a connection is lost. As published, it crashed the process,
// hung callers, lost connections of the pool, and ran statements of a dead transaction in another session.

/** Terminations in the random run; more of them by hand: DRIVER_TERMINATIONS=1000. */
const terminations = Number(process.env.DRIVER_TERMINATIONS ?? 250)

/** What the loss of a connection is called, at any step. */
const lost = /^(CONNECTION_(CLOSED|DESTROYED|ENDED)|ECONNRESET|ECONNREFUSED|EPIPE|57P0[1-3])$/

let dataDir: string
let server: EmbeddedPostgres
let admin: Sql
const pools: Sql[] = []
const faults: unknown[] = []
const noteFault = (fault: unknown): number => faults.push(fault)

beforeAll(async () => {
  process.on('unhandledRejection', noteFault)
  process.on('uncaughtException', noteFault)
  dataDir = await mkdtemp(path.join(tmpdir(), 'driver-'))
  await chmod(dataDir, 0o755)
  server = await startEmbedded({ dataDir })
  admin = postgres(server.adminUrl, { max: 2 })
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
})

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

function pool(options: Options<Record<string, never>> = {}): Sql {
  const sql = postgres(server.url, { max: 1, backoff: () => 0.02, connect_timeout: 5, ...options })
  pools.push(sql)
  return sql
}

type Outcome<T> = { value: T; error?: undefined } | { value?: undefined; error: Error & { code?: string } }

/** The outcome of a call; fails when the call hangs. */
async function settled<T>(call: PromiseLike<T>, withinMs = 10_000): Promise<Outcome<T>> {
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

async function expectLost(call: PromiseLike<unknown>): Promise<void> {
  const { error } = await settled(call)
  expect(error?.code).toMatch(lost)
}

/** Every connection of the pool answers, all at the same time: none is lost to it. */
async function expectWorking(sql: Sql): Promise<void> {
  const { max } = sql.options
  // The caller of a query that was reset learns of it a moment before the pool does.
  for (let turn = 0; turn < 3; turn++) await setImmediate()
  const query = (): PromiseLike<{ pid: number }[]> => sql`select pg_backend_pid() as pid, pg_sleep(0.1)`
  const outcomes = await Promise.all(Array.from({ length: max }, () => settled(query())))
  expect(outcomes.flatMap(({ error }) => error ?? [])).toEqual([])
  expect(new Set(outcomes.map(({ value }) => value?.[0]?.pid)).size).toBe(max)
}

async function pidOf(sql: Sql | TransactionSql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row!.pid
}

/** Returns when the backend is gone; the driver may not have noticed yet. */
async function terminate(pid: number): Promise<void> {
  await admin`select pg_terminate_backend(${pid}, 5000)`
}

async function untilQuerying(pid: number, text: string): Promise<void> {
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
async function connected(application: string): Promise<number> {
  const [row] = await admin<{ count: number }[]>`
    select count(*)::int from pg_stat_activity where application_name = ${application}`
  return row!.count
}

async function effects(tx: string): Promise<number> {
  const sql = postgres(server.url, { max: 1 })
  const [row] = await sql<{ count: number }[]>`select count(*)::int from effects where tx = ${tx}`
  await sql.end()
  return row!.count
}

describe('a backend is terminated', () => {
  test('[D1] while its connection is idle', async () => {
    let terminated = 0
    let losses = 0
    const sql = pool({ onclose: () => losses++ })
    for (let round = 0; round < 10; round++) {
      // The pool may not have noticed yet that its only session is gone.
      const { value: pid, error } = await settled(pidOf(sql))
      if (error) expect(error.code).toMatch(lost)
      else terminated++
      if (pid) await terminate(pid)
    }
    await vi.waitUntil(() => losses === terminated)
    await expectWorking(sql)
  })

  test('[D1] while a query runs', async () => {
    const sql = pool()
    for (let round = 0; round < 5; round++) {
      const pid = await pidOf(sql)
      const query = sql`select pg_sleep(10)`.execute()
      await untilQuerying(pid, 'pg_sleep')
      await Promise.all([expectLost(query), terminate(pid)])
    }
    await expectWorking(sql)
  })

  test('[D1] and all others with it, their callers trying again at once', async () => {
    let losses = 0
    const sql = pool({ max: 5, onclose: () => losses++ })
    for (let round = 1; round <= 10; round++) {
      // Five sessions, of which some are idle: a caller that tries again finds one that is lost as well.
      await expectWorking(sql)
      const persistent = async (): Promise<void> => {
        for (;;) {
          const { error } = await settled(sql`select pg_sleep(0.02)`)
          if (!error) return
          expect(error.code).toMatch(lost)
        }
      }
      const calls = Array.from({ length: round % 5 }, persistent)
      const terminated = admin`
        select pg_terminate_backend(pid) from pg_stat_activity where usename = 'corkboard'`.execute()
      // A busy process learns of all the losses in the same turn of its event loop.
      for (let turn = 0; turn < 3; turn++) await setImmediate()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
      await Promise.all([...calls, terminated])
      await vi.waitUntil(() => losses >= 5 * round)
    }
    expect(losses).toBe(50)
  })

  test('[D1] while its rows come in: the next query has its own rows only', async () => {
    let rows = 0
    const sql = pool({ fetch_types: false, transform: { row: (row: unknown) => (rows++, row) } })
    for (const simple of [true, false]) {
      const pid = await pidOf(sql)
      rows = 0
      const statement = sql`select generate_series(1, 10000000), repeat('x', 1000)`
      const reading = simple ? statement.simple() : statement
      const outcome = expectLost(reading)
      await vi.waitUntil(() => rows > 0, { interval: 1 })
      await Promise.all([outcome, terminate(pid)])
      expect(await sql`select 1 as one`).toEqual([{ one: 1 }])
    }
    await expectWorking(sql)
  })

  test('[D1] and the server refuses the next connection: its own words are reported', async () => {
    const sql = pool()
    const pid = await pidOf(sql)
    const query = expectLost(sql`select pg_sleep(10)`)
    await untilQuerying(pid, 'pg_sleep')
    await admin`alter role corkboard connection limit 0`
    try {
      await terminate(pid)
      await query
      expect((await settled(sql`select 1`)).error?.code).toBe('53300')
    } finally {
      await admin`alter role corkboard connection limit -1`
    }
    await expectWorking(sql)
  })

  test('[D1] while rows are copied in', async () => {
    const sql = pool()
    for (const last of [false, true]) {
      const pid = await pidOf(sql)
      const copy = await sql`copy slow_copies from stdin`.writable()
      copy.write('row\n')
      if (last) copy.end()
      const finished = expectLost(
        new Promise((resolve, reject) => copy.on('error', reject).on('finish', resolve)),
      )
      await untilQuerying(pid, 'copy')
      await terminate(pid)
      await finished
    }
    await expectWorking(sql)
  })

  test('[D1] while others wait for its connection', async () => {
    const sql = pool()
    const pid = await pidOf(sql)
    const query = sql.begin((tx) => tx`select pg_sleep(10)`)
    await untilQuerying(pid, 'pg_sleep')
    const waiting = Array.from({ length: 20 }, (_, n) =>
      sql<{ n: number }[]>`select ${n}::int as n`.execute(),
    )
    await Promise.all([expectLost(query), terminate(pid)])
    for (const [n, call] of waiting.entries()) expect((await settled(call)).value?.[0]).toEqual({ n })
    await expectWorking(sql)
  })

  test('[D2] between the statements of a transaction', async () => {
    const sql = pool()
    for (let round = 0; round < 5; round++) {
      const tx = `between ${round}`
      await expectLost(
        sql.begin(async (t) => {
          await t`insert into effects values (${tx}, 1)`
          await terminate(await pidOf(t))
          await t`insert into effects values (${tx}, 2)`
        }),
      )
      expect(await effects(tx)).toBe(0)
    }
    await expectWorking(sql)
  })

  test('[D2] while a statement of a transaction runs, others queued behind it', async () => {
    const sql = pool()
    for (let round = 0; round < 5; round++) {
      const tx = `during ${round}`
      const outcomes: Promise<Outcome<unknown>>[] = []
      await expectLost(
        sql.begin(async (t) => {
          const pid = await pidOf(t)
          await t`insert into effects values (${tx}, 1)`
          outcomes.push(settled(t`select pg_sleep(10)`))
          for (let n = 2; n < 20; n++) outcomes.push(settled(t`insert into effects values (${tx}, ${n})`))
          await untilQuerying(pid, 'pg_sleep')
          await terminate(pid)
          await Promise.all(outcomes)
        }),
      )
      for (const outcome of outcomes) expect((await outcome).error?.code).toMatch(lost)
      expect(await effects(tx)).toBe(0)
    }
    await expectWorking(sql)
  })

  test('[D2] inside a savepoint', async () => {
    const sql = pool()
    const tx = 'savepoint'
    await expectLost(
      sql.begin(async (t) => {
        await t`insert into effects values (${tx}, 1)`
        await t.savepoint(async (s) => {
          await terminate(await pidOf(s))
          await s`insert into effects values (${tx}, 2)`
        })
      }),
    )
    expect(await effects(tx)).toBe(0)
    await expectWorking(sql)
  })

  test('[D2] during a commit', async () => {
    const sql = pool()
    const tx = 'commit'
    let pid = 0
    const call = sql.begin(async (t) => {
      pid = await pidOf(t)
      await t`insert into effects values (${tx}, 1)`
      await t`insert into slow_commits values (${tx})`
    })
    const outcome = expectLost(call)
    await vi.waitUntil(() => pid)
    await untilQuerying(pid, 'commit')
    await terminate(pid)
    await outcome
    expect(await effects(tx)).toBe(0)
    await expectWorking(sql)
  })

  test('[D3] while its transaction waits for something else: the transaction rejects at once', async () => {
    const sql = pool()
    const gate = Promise.withResolvers<void>()
    await expectLost(
      sql.begin(async (t) => {
        await terminate(await pidOf(t))
        await gate.promise
      }),
    )
    gate.resolve()
    await expectWorking(sql)
  })

  test('[D4] and what still comes over the handle of its transaction reaches no other session', async () => {
    const sql = pool()
    const tx = 'orphan'
    const { promise: handle, resolve } = Promise.withResolvers<TransactionSql>()
    const gate = Promise.withResolvers<void>()
    await expectLost(
      sql.begin(async (t) => {
        resolve(t)
        await terminate(await pidOf(t))
        await gate.promise
      }),
    )
    const orphan = await handle
    // The same connection object now carries another transaction.
    await sql.begin(async (t) => {
      await t`select 1`
      await expectLost(orphan`insert into effects values (${tx}, 1)`)
    })
    gate.resolve()
    expect(await effects(tx)).toBe(0)
    await expectWorking(sql)
  })

  test('[D5] while a reserve waits for its connection', async () => {
    const sql = pool()
    const pid = await pidOf(sql)
    const query = sql.begin((tx) => tx`select pg_sleep(10)`)
    await untilQuerying(pid, 'pg_sleep')
    const reserving = [sql.reserve(), sql.reserve(), sql.reserve()]
    await Promise.all([expectLost(query), terminate(pid)])
    for (const call of reserving) {
      const { value: reserved } = await settled(call)
      expect(await reserved!`select 1 as one`).toEqual([{ one: 1 }])
      reserved!.release()
    }
    await expectWorking(sql)
  })

  test('[D5] while its connection is reserved', async () => {
    const sql = pool({ max: 2 })
    const reserved = await sql.reserve()
    const pid = await pidOf(reserved)
    const running = expectLost(reserved`select pg_sleep(10)`)
    const queued = Array.from({ length: 5 }, () => expectLost(reserved`select 1`))
    await untilQuerying(pid, 'pg_sleep')
    await terminate(pid)
    await Promise.all([running, ...queued])
    await expectLost(reserved`select 1`)
    reserved.release()
    reserved.release()
    await expectWorking(sql)
  })

  test.each([true, false])('[D5] and a first reserve works, array types fetched: %s', async (fetchTypes) => {
    const noticed = Promise.withResolvers<void>()
    const sql = pool({ fetch_types: fetchTypes, onclose: () => noticed.resolve() })
    const { value: reserved } = await settled(sql.reserve())
    await terminate(await pidOf(reserved!))
    await noticed.promise
    reserved!.release()
    await expectWorking(sql)
  })

  test('[D6] with a long batch in the pipe', async () => {
    const sql = pool()
    for (let round = 0; round < 5; round++) {
      const pid = await pidOf(sql)
      const tx = `batch ${round}`
      const calls = Array.from({ length: 300 }, (_, n) =>
        settled(n === 50 ? sql`select pg_sleep(10)` : sql`insert into effects values (${tx}, ${n})`),
      )
      await untilQuerying(pid, 'pg_sleep')
      await terminate(pid)
      const outcomes = await Promise.all(calls)
      for (const { error } of outcomes) if (error) expect(error.code).toMatch(lost)
      expect(await effects(tx)).toBe(outcomes.filter(({ error }) => !error).length)
    }
    await expectWorking(sql)
  })

  test('[D6] with large parameters half written, inside a transaction and outside', async () => {
    const sql = pool()
    const bulk = 'x'.repeat(30_000_000)
    for (const within of ['nothing', 'transaction', 'nothing', 'transaction']) {
      const pid = await pidOf(sql)
      const tx = `bulk in ${within}`
      // The backend reads nothing while it sleeps, so most of the parameter is still here when it is gone.
      const write = async (t: Sql | TransactionSql): Promise<void> => {
        const calls = [t`select pg_sleep(10)`, t`insert into effects values (${tx}, 1, ${bulk})`].map(
          expectLost,
        )
        await untilQuerying(pid, 'pg_sleep')
        await terminate(pid)
        await Promise.all(calls)
      }
      if (within === 'nothing') await write(sql)
      else await expectLost(sql.begin(write))
      expect(await effects(tx)).toBe(0)
    }
    await expectWorking(sql)
  })

  test('[D7] while a cursor is read: reading throws, and does not end as if all had come', async () => {
    const noticed = Promise.withResolvers<void>()
    const sql = pool({ onclose: () => noticed.resolve() })
    const read = async (): Promise<void> => {
      let rows = 0
      for await (const batch of sql`select pg_backend_pid() as pid from generate_series(1, 100000)`.cursor(
        10,
      )) {
        rows += batch.length
        if (rows === 20) {
          await terminate((batch[0] as { pid: number }).pid)
          await noticed.promise
        }
      }
    }
    await expectLost(read())
    await expectWorking(sql)
  })

  test.each(['returns', 'throws'])(
    '[D7] while a cursor is read, and its reader %s when another session has the connection',
    async (reader) => {
      const sql = pool()
      const query = (): Promise<Outcome<{ one: number }[]>> =>
        settled(sql<{ one: number }[]>`select 1 as one from pg_sleep(0.02)`)
      const queries: Promise<Outcome<{ one: number }[]>>[] = []
      const left = Promise.withResolvers<void>()
      const read = async ([row]: Row[]): Promise<void> => {
        await terminate((row as { pid: number }).pid)
        await vi.waitUntil(async () => !(await query()).error)
        queries.push(query())
        await setImmediate()
        left.resolve()
        if (reader === 'throws') throw new Error('of its own')
      }
      const statement = sql`select pg_backend_pid() as pid from generate_series(1, 100)`
      await expectLost(statement.cursor(10, read as (rows: Row[]) => void))
      await left.promise
      for (let n = 0; n < 5; n++) {
        await setImmediate()
        queries.push(query())
      }
      for (const { value } of await Promise.all(queries)) expect(value).toEqual([{ one: 1 }])
      await expectWorking(sql)
    },
  )

  test('[D8] while the pool ends', async () => {
    const sql = pool({ max: 2 })
    const pid = await pidOf(sql)
    const query = expectLost(sql`select pg_sleep(10)`)
    await untilQuerying(pid, 'pg_sleep')
    const ending = sql.end()
    await terminate(pid)
    await query
    expect((await settled(ending)).error).toBe(undefined)
  })

  test('[D8] while the pool ends, with callers waiting for it', async () => {
    const sql = pool({ connection: { application_name: 'ending' } })
    const pid = await pidOf(sql)
    const holder = expectLost(sql.begin((t) => t`select pg_sleep(10)`))
    await untilQuerying(pid, 'pg_sleep')
    const waiting = [sql`select 1`, sql.begin((t) => t`select 1`), sql.reserve(), sql`select 1`]
    const outcomes = waiting.map((call) => settled<unknown>(call))
    const ending = sql.end()
    await terminate(pid)
    await holder
    expect((await settled(ending)).error).toBe(undefined)
    for (const outcome of outcomes) expect((await outcome).error?.code).toBe('CONNECTION_ENDED')
    await vi.waitUntil(async () => (await connected('ending')) === 0, { timeout: 5_000 })
  })

  test('[D8] and the pool ends before it has connected again', async () => {
    const noticed = Promise.withResolvers<void>()
    const sql = pool({
      backoff: () => 0.2,
      connection: { application_name: 'due' },
      onclose: () => noticed.resolve(),
    })
    await terminate(await pidOf(sql))
    await noticed.promise
    const waiting = settled(sql`select 1`.execute())
    await setImmediate()
    expect((await settled(sql.end({ timeout: 0 }))).error).toBe(undefined)
    expect((await waiting).error?.code).toBe('CONNECTION_DESTROYED')
    await admin`select pg_sleep(0.4)` // past the time at which it was to connect
    expect(await connected('due')).toBe(0)
  })

  test('[D9] while it listens: the listener comes back', async () => {
    const sql = pool()
    const heard: string[] = []
    let listening = 0
    await sql.listen(
      'news',
      (news) => heard.push(news),
      () => listening++,
    )
    for (let round = 1; round <= 3; round++) {
      const [row] = await admin<
        { pid: number }[]
      >`select pid from pg_stat_activity where query ilike 'listen%'`
      await terminate(row!.pid)
      await vi.waitUntil(() => listening === round + 1, { timeout: 10_000 })
      await sql.notify('news', `${round}`)
      await vi.waitUntil(() => heard.length === round, { timeout: 10_000 })
    }
    expect(heard).toEqual(['1', '2', '3'])
  })
})

test.each(['commit', 'rollback'])(
  '[D4] after its %s, a transaction takes no more statements',
  async (end) => {
    const sql = pool()
    const tx = `late ${end}`
    const late: Promise<Outcome<unknown>>[] = []
    let handle: TransactionSql | undefined
    const { error } = await settled(
      sql.begin(async (t) => {
        handle = t
        await t`insert into effects values (${tx}, 0)`
        // Not waited for, and issued again and again while the end of the transaction is under way.
        const issue = async (): Promise<void> => {
          for (let turn = 0; turn < 40; turn++) {
            await Promise.resolve()
            if (turn > 2) late.push(settled(t`insert into effects values (${tx}, 1)`))
          }
        }
        void issue()
        if (end === 'rollback') throw new Error('roll back')
      }),
    )
    expect(error?.message).toBe(end === 'rollback' ? 'roll back' : undefined)
    expect((await settled(handle!`insert into effects values (${tx}, 1)`)).error?.code).toBe(
      'TRANSACTION_ENDED',
    )
    const accepted = (await Promise.all(late)).filter((outcome) => !outcome.error).length
    expect(await effects(tx)).toBe(end === 'rollback' ? 0 : 1 + accepted)
    await expectWorking(sql)
  },
)

test('[D8] a pool ends when its last reserved connection is released', async () => {
  const sql = pool()
  const reserved = await sql.reserve()
  const ending = sql.end()
  expect(await reserved`select 1 as one`).toEqual([{ one: 1 }])
  reserved.release()
  expect((await settled(ending)).error).toBe(undefined)
})

test('[D10] a transaction that begins on a full pipe has its connection to itself', async () => {
  const sql = postgres(`${server.url}?max_pipeline=3`, { max: 1 })
  pools.push(sql)
  const rolledBack = async (t: TransactionSql): Promise<void> => {
    await t`insert into effects values ('pipe', 1)`
    throw new Error('roll back')
  }
  for (let ahead = 0; ahead < 8; ahead++) {
    const queries = Array.from({ length: ahead }, () => sql`select 1`.execute())
    const { error } = await settled(sql.begin(rolledBack))
    expect(error?.message).toBe('roll back')
    await Promise.all(queries)
    expect(await sql`select from effects where tx = 'pipe'`).toEqual([])
  }
  await expectWorking(sql)
})

describe.each(['close', 'reset'] as const)('the network cuts a connection (%s)', (cut) => {
  test('[D11] at any message of connecting and of a transaction', async () => {
    let cutAll = false
    for (let chunk = 1; !cutAll; chunk++) {
      const proxy = await severingProxy(server.port, chunk, cut)
      const sql = pool({ port: proxy.port, connect_timeout: 2 })
      const tx = `${cut} ${chunk}`
      const { error } = await settled(
        sql.begin(async (t) => {
          await t`insert into effects values (${tx}, 1)`
          await t`insert into effects values (${tx}, 2, ${'x'.repeat(100_000)})`
        }),
      )
      cutAll = !proxy.disarm()
      if (error) expect(error.code).toMatch(lost)
      const count = await effects(tx)
      expect(error ? [0, 2] : [2]).toContain(count)
      await expectWorking(sql)
      await sql.end()
      await proxy.stop()
    }
  })
})

test('[D11] a server that closes every connection at once leaves no caller waiting', async () => {
  const refusing = net.createServer((socket) => socket.end())
  refusing.listen(0, '127.0.0.1')
  await once(refusing, 'listening')
  const sql = pool({ port: (refusing.address() as AddressInfo).port })
  await Promise.all([expectLost(sql`select 1`), expectLost(sql.reserve()), expectLost(sql.begin(() => {}))])
  refusing.close()
})

test('[D11] a connection lost before its password is known is lost quietly', async () => {
  const proxy = await severingProxy(server.port, Infinity, 'close')
  const noticed = Promise.withResolvers<void>()
  const sql = pool({
    port: proxy.port,
    onclose: () => noticed.resolve(),
    password: async () => {
      await proxy.stop()
      await noticed.promise
      return new URL(server.url).password
    },
  })
  await expectLost(sql`select 1`)
  // What it would write now, it would write in the next turn.
  for (let turn = 0; turn < 3; turn++) await setImmediate()
})

test('[D14] a driver without its patch is refused', () => {
  expect(requirePatched(postgres)).toBe(postgres)
  expect(() => requirePatched({})).toThrow('run `npx patch-package`')
})

describe('under load', () => {
  /** Callers that use the pool in every way, until told to stop; returns what became of their calls. */
  function startLoad(sql: Sql, name: string): { stop(): Promise<{ done: number; lost: number }> } {
    const stopping = new AbortController()
    let serial = 0
    const rows = 3
    const bulk = 'x'.repeat(200_000)
    const counts = { done: 0, lost: 0 }
    const committed: string[] = []

    const insert = (t: Sql | TransactionSql, tx: string, n: number): PromiseLike<unknown> =>
      t`insert into effects values (${tx}, ${n}, ${n === 2 ? bulk : ''})`
    const reading: (() => Promise<unknown>)[] = [
      async () => sql`select pg_sleep(0.002)`,
      async () => {
        // All of them are waited for: what is left of a rejected batch would still use the pool.
        const batch = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => sql`select ${n}::int`))
        const failure = batch.find(({ status }) => status === 'rejected')
        if (failure?.status === 'rejected') throw failure.reason as Error
      },
    ]
    const writing: ((tx: string) => Promise<unknown>)[] = [
      async (tx) => sql`insert into effects select ${tx}, n from generate_series(1, ${rows}::int) n`,
      async (tx) =>
        sql.begin(async (t) => {
          for (let n = 1; n <= rows; n++) await insert(t, tx, n)
        }),
      async (tx) => sql.begin((t) => Array.from({ length: rows }, (_, n) => insert(t, tx, n + 1))),
      async (tx) =>
        sql.begin(async (t) => {
          await insert(t, tx, 1)
          await t.savepoint(async (s) => Promise.all([insert(s, tx, 2), insert(s, tx, 3)]))
        }),
      async (tx) => {
        const reserved = await sql.reserve()
        try {
          await reserved`select pg_advisory_lock_shared(1)`
          await reserved`insert into effects select ${tx}, n from generate_series(1, ${rows}::int) n`
          await reserved`select pg_advisory_unlock_shared(1)`
        } finally {
          reserved.release()
        }
      },
    ]

    async function caller(): Promise<void> {
      while (!stopping.signal.aborted) {
        const tx = `${name} ${serial++}`
        const writes = Math.random() < 0.8
        const ways = writes ? writing : reading
        const { error } = await settled(ways[Math.floor(Math.random() * ways.length)]!(tx))
        if (error) {
          expect(error.code).toMatch(lost)
          counts.lost++
        } else {
          if (writes) committed.push(tx)
          counts.done++
        }
      }
    }
    const callers = Promise.all(Array.from({ length: 12 }, caller))

    return {
      async stop() {
        stopping.abort()
        await callers
        const check = postgres(server.url, { max: 1 })
        const written = await check<{ tx: string; count: number }[]>`
          select tx, count(*)::int from effects where starts_with(tx, ${name}) group by tx`
        await check.end()
        expect(written.filter(({ count }) => count !== rows)).toEqual([])
        const kept = new Set(written.map(({ tx }) => tx))
        expect(committed.filter((tx) => !kept.has(tx))).toEqual([])
        return counts
      },
    }
  }

  test('[D12] backends are terminated at random', { timeout: 600_000 }, async ({ annotate }) => {
    const sql = pool({ max: 5 })
    const load = startLoad(sql, 'random')
    let terminated = 0
    while (terminated < terminations) {
      const victims = await admin<{ done: boolean }[]>`
        select pg_terminate_backend(pid) as done
        from pg_stat_activity
        where usename = 'corkboard' and pid <> pg_backend_pid()
        order by random()
        limit 1 + (random() * 2)::int`
      terminated += victims.length
      await sleep(Math.random() * 30)
    }
    const { done, lost } = await load.stop()
    await annotate(`${terminated} backends terminated: ${done} calls done, ${lost} rejected, none hung`)
    expect(done).toBeGreaterThan(0)
    await expectWorking(sql)
  })

  test('[D13] the server is killed and comes back', { timeout: 120_000 }, async () => {
    const sql = pool({ max: 5 })
    const load = startLoad(sql, 'killed')
    for (let round = 0; round < 3; round++) {
      await vi.waitUntil(async () => !(await settled(sql`select 1`)).error, { timeout: 20_000 })
      const { pid } = server
      process.kill(pid, 'SIGKILL')
      await vi.waitUntil(() => server.pid !== pid, { timeout: 20_000 })
    }
    await vi.waitUntil(async () => !(await settled(admin`select 1`)).error, { timeout: 20_000 })
    const { lost } = await load.stop()
    expect(lost).toBeGreaterThan(0)
    await expectWorking(sql)
  })
})
