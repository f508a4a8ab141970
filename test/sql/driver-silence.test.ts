import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises'
import type { Options, Sql } from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/editor.ts'
import { swallowingProxy, type SwallowingProxy } from '../support/swallowing-proxy.ts'
import { expectWorking, pidOf, pool, server, settled } from './driver-server.ts'

const { port } = new URL(server.url)
const silence = { code: expect.stringMatching(/^CONNECT(ION)?_(SILENT|CLOSED|DESTROYED|TIMEOUT)$/) }

async function silentPool(
  options: Options<Record<string, never>> = {},
): Promise<{ sql: Sql; proxy: SwallowingProxy }> {
  const proxy = await swallowingProxy(Number(port))
  onTestFinished(() => proxy.stop())
  const sql = pool({ port: proxy.port, answer_timeout: 1, connect_timeout: 3, max: 2, ...options })
  await sql`select 1`
  return { sql, proxy }
}

test('[L20] a query, and one that waits behind it, fail when the server falls silent; the pool goes on', async () => {
  const { sql, proxy } = await silentPool({ max: 1 })
  const calls = [sql`select pg_sleep(0.2)`, sql`select 2`].map((call) => settled(call))
  proxy.silenceOpen()
  for (const { error } of await Promise.all(calls)) expect(error).toMatchObject(silence)
  await expectWorking(sql)
})

test('[L26] an answer that came while the process was busy is read, and its connection stays', async () => {
  const sql = pool({ answer_timeout: 1, max: 1 })
  const pid = await pidOf(sql)
  const answered = settled(sql`select pg_sleep(0.3)`)
  await delay(100)
  await immediate() // so that the event loop runs its timers next, before it reads
  const busyUntil = performance.now() + 1500
  while (performance.now() < busyUntil); // longer than the server may be silent
  expect((await answered).error).toBe(undefined)
  expect(await pidOf(sql)).toBe(pid)
})

test('[L20] a connection that is never answered fails, and so does what waits for one', async () => {
  const { sql, proxy } = await silentPool({ max: 1, wait_timeout: 0.5, connect_timeout: 1 })
  proxy.silenceAll()
  const calls = await Promise.all([1, 2, 3].map(() => settled(sql.begin((tx) => tx`select 1`))))
  for (const { error } of calls) expect(error?.code).toMatch(/^CONNECT/)
  expect((await settled(sql.begin((tx) => tx`select 1`))).error).toMatchObject(silence)
  proxy.relay()
  await until(async () => !(await settled(sql`select 1`)).error, 'the pool answers again', 20_000)
  await expectWorking(sql)
})

test.each(['statement', 'commit', 'rollback'])(
  '[L20] a transaction fails when its %s has no answer, and its connection is not used again',
  async (step) => {
    const { sql, proxy } = await silentPool()
    let pid = 0
    const transaction = sql.begin(async (tx) => {
      pid = await pidOf(tx)
      proxy.silenceOpen()
      if (step === 'statement') await tx`select 1`
      if (step === 'rollback') throw new Error('changed its mind')
    })
    expect((await settled(transaction)).error).toBeTruthy()
    await expectWorking(sql)
    const pids = await Promise.all([1, 2].map(() => pidOf(sql)))
    expect(pids).not.toContain(pid)
  },
)

test('[L20] a reserved connection fails its query, and can be released', async () => {
  const { sql, proxy } = await silentPool()
  const reserved = await sql.reserve()
  proxy.silenceOpen()
  expect((await settled(reserved`select 1`)).error).toMatchObject(silence)
  reserved.release()
  await expectWorking(sql)
})

test('[L20] a cursor may rest as long as its reader does, and fails when the next rows do not come', async () => {
  const { sql, proxy } = await silentPool()
  let batches = 0
  const reading = (async () => {
    for await (const rows of sql`select generate_series(1, 30) as n`.cursor(10)) {
      expect(rows).toHaveLength(10)
      batches += 1
      // So often that the reader rests for longer than the server may be silent.
      if (batches === 1)
        for (let n = 0; n < 4; n++) expect((await settled(sql`select pg_sleep(0.3)`)).error).toBe(undefined)
      else proxy.silenceOpen()
    }
  })()
  expect((await settled(reading)).error).toMatchObject(silence)
  expect(batches).toBe(2)
  // The other connection, which rests, is found silent by the next query on it.
  await Promise.all([1, 2].map(() => settled(sql`select 1`)))
  await expectWorking(sql)
})

test('[L20] a COPY in either direction fails when the server falls silent', async () => {
  const { sql, proxy } = await silentPool({ max: 1 })
  const into = await sql`copy effects (tx, n) from stdin`.writable()
  proxy.silenceOpen()
  await expect(pipeline(Readable.from(['copied\t1\n']), into)).rejects.toThrow()
  await expectWorking(sql)

  const rows = `copy (select repeat('x', 1000) from generate_series(1, 100000)) to stdout`
  const out = await sql.unsafe(rows).readable()
  proxy.silenceOpen()
  await expect(out.toArray()).rejects.toThrow()
  await expectWorking(sql)
})

test('[L20] what listens is connected anew when its pulse has no answer', async () => {
  const { sql, proxy } = await silentPool()
  const heard: string[] = []
  const { sql: listening } = await sql.listen('pulse', (text) => heard.push(text))
  await listening`select 1`
  proxy.silenceOpen()
  expect((await settled(listening`select 1`)).error).toMatchObject(silence)
  await until(async () => {
    await settled(sql.notify('pulse', 'again'))
    return heard.includes('again')
  }, 'it hears again')
})

test('[L23] a session that was refused a write as read only is replaced', async () => {
  const sql = pool({ max: 1, retire: ({ code }) => code === '25006' })
  const pid = await pidOf(sql)
  await sql`set default_transaction_read_only = on`
  for (const write of [
    () => sql`create table never (n int)`,
    () => sql.begin((tx) => tx`create table never (n int)`),
  ]) {
    expect((await settled(write())).error?.code).toBe('25006')
    expect(await pidOf(sql)).not.toBe(pid)
    await sql`set default_transaction_read_only = on`
  }
  expect((await settled(sql`create table never (n int)`)).error?.code).toBe('25006')
  await expectWorking(sql)
})
