import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../sql/database.ts'
import { cloneDatabase } from '../support/database.ts'
import { swallowingProxy } from '../support/swallowing-proxy.ts'
import { forFile } from '../support/test-file.ts'

const testDatabase = await cloneDatabase()
await forFile(Promise.resolve({ close: () => testDatabase.drop() }))
const { admin, url } = testDatabase

async function openSession(databaseUrl = url) {
  const database = openDatabase({ url: databaseUrl })
  onTestFinished(() => database.close())
  const session = await database.openSession()
  onTestFinished(() => session.close())
  const [row] = await session.run((sql) => sql<{ pid: number }[]>`select pg_backend_pid() as pid`)
  return { session, pid: row!.pid }
}

test('[NO14] a session has one connection, is never ended for idling, and says when it was ended', async () => {
  const { session, pid } = await openSession()
  const [settings] = await session.run(
    (sql) => sql`
      select pg_backend_pid() as pid, current_setting('idle_session_timeout') as idle, current_user as role`,
  )
  expect(settings).toEqual({ pid, idle: '0', role: 'corkboard_system' })
  await admin`select pg_terminate_backend(${pid})`
  await session.ended
  await expect(session.run((sql) => sql`select 1`)).rejects.toThrow()
})

test('[NO14] a closed session is gone from the server', async () => {
  const { session, pid } = await openSession()
  await session.close()
  await session.ended
  await expect.poll(() => admin`select from pg_stat_activity where pid = ${pid}`).toHaveLength(0)
})

test('[NO14] a session counts as ended after five seconds without an answer', async () => {
  const proxy = await swallowingProxy(Number(new URL(url).port))
  onTestFinished(() => proxy.stop())
  const { session } = await openSession(proxy.through(url))
  proxy.silenceAll()
  const began = performance.now()
  const asked = session.run((sql) => sql`select 1`).catch((error: unknown) => error)
  await session.ended
  expect(await asked).toBeInstanceOf(Error)
  expect(performance.now() - began).toBeGreaterThan(4500)
  expect(performance.now() - began).toBeLessThan(8000)
}, 20_000)
