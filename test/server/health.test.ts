import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { registerHealth } from '../../server/health.ts'
import { version } from '../../server/version.ts'
import { startService } from '../support/service.ts'

test('[O14, VR1] healthz answers while the process lives, readyz when the schema is this version’s', async () => {
  const service = await startService()
  onTestFinished(() => service.stop())
  const get = async (path: string) => {
    const response = await fetch(`${service.url}${path}`)
    return { status: response.status, body: await response.json() }
  }
  expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok', version } })
  const ready = { status: 'ready', database: 'ok', migrations: 'ok', feed_lag_ms: expect.any(Number) }
  expect(await get('/readyz')).toEqual({ status: 200, body: ready })

  await service.admin`update schema_files set checksum = 'older' where name = 'migrations/0001-accounts.sql'`
  const pending = { status: 'not ready', database: 'ok', migrations: 'pending' }
  expect(await get('/readyz')).toEqual({ status: 503, body: pending })
  expect((await get('/healthz')).status).toBe(200)
  expect((await get('/api/v1/healthz')).status).toBe(404)
})

test('[O14] readyz says that the database is out of reach, and when to ask again', async () => {
  const away = () => Promise.reject(new Error('connect ECONNREFUSED'))
  const app = Fastify()
  onTestFinished(() => app.close())
  const close = () => Promise.resolve()
  await registerHealth(app, {
    asUser: away,
    asSystem: away,
    callAsSystem: away,
    search: away,
    commit: away,
    listen: away,
    openSession: away,
    takesWrites: () => true,
    onTokensEnded: () => undefined,
    lock: away,
    close,
  })
  const ready = await app.inject('/readyz')
  expect(ready.statusCode).toBe(503)
  expect(ready.headers['retry-after']).toBe('2')
  expect(ready.json()).toEqual({ status: 'not ready', database: 'out of reach', migrations: 'unknown' })
  expect((await app.inject('/healthz')).statusCode).toBe(200)
})
