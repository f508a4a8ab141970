/** Pools of connections: whose connection is whose, and what becomes of a pool that loses its connections. */
import { once } from 'node:events'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Sql, TransactionSql } from 'postgres'
import { describe, expect, test, vi } from 'vitest'
import postgres, { requirePatched } from '../../sql/driver.ts'
import {
  admin,
  connected,
  effects,
  expectLost,
  expectWorking,
  lost,
  pidOf,
  pool,
  pools,
  server,
  settled,
  terminate,
  untilQuerying,
} from './driver-server.ts'
import { severingProxy } from './severing-proxy.ts'

/** Terminations in the random run; more of them by hand: DRIVER_TERMINATIONS=1000. */
const terminations = Number(process.env.DRIVER_TERMINATIONS ?? 250)

describe('a backend is terminated', () => {
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

test('[D8] a pool ends when its last reserved connection is released', async () => {
  const sql = pool()
  const reserved = await sql.reserve()
  const ending = sql.end()
  expect(await reserved`select 1 as one`).toEqual([{ one: 1 }])
  reserved.release()
  expect((await settled(ending)).error).toBe(undefined)
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
  expect(() => requirePatched({})).toThrow('Run `npx patch-package`')
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

test('[D16] when BEGIN fails, the transaction fails with its error, and the connection goes on', async () => {
  const sql = pool()
  const late = sql.begin('isolation level unknown', async (t) => {
    await t`select 1`
    throw new Error('what came after it')
  })
  expect((await settled(late)).error?.code).toBe('42601') // a syntax error
  const whole = sql.begin('isolation level unknown', (t) => t`select 1`)
  expect((await settled(whole)).error?.code).toBe('42601')
  await expectWorking(sql)
})

test('[D15] after a COPY to a slow reader its connection answers the next statement', async () => {
  const sql = pool({ max: 1, answer_timeout: 5 })
  const rows = await sql`copy (select repeat('x', 500000)) to stdout`.readable()
  await vi.waitUntil(() => rows.readableLength > 0)
  let bytes = 0
  for await (const chunk of rows as AsyncIterable<Buffer>) bytes += chunk.length
  expect(bytes).toBe(500_001)
  expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }])
})
