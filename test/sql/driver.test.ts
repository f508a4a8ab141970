/** What a call gets when the connection is lost that it runs on. */
import { setImmediate } from 'node:timers/promises'
import type { Row, Sql, TransactionSql } from 'postgres'
import { describe, expect, test, vi } from 'vitest'
import {
  admin,
  effects,
  expectLost,
  expectWorking,
  lost,
  pidOf,
  pool,
  settled,
  terminate,
  untilQuerying,
  type Outcome,
} from './driver-server.ts'

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
