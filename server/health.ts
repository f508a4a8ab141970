/**
 * Health checks outside the API root. `/healthz`: the process is alive. `/readyz`: a balancer may send requests to it.
 */
import type { FastifyInstance } from 'fastify'
import type { Database } from '../sql/database.ts'
import { feedLagMs } from '../sql/boards/feeds.ts'
import { readApplied, schemaFiles } from '../sql/migrate.ts'
import { compareSchema } from '../sql/schema-range.ts'
import { version } from './version.ts'

interface NodeState {
  /** Whether the process is about to stop. It still serves requests then. */
  isLeaving(): boolean
  /** Whether canvases may be opened here: this node holds its lock in the database, and the other nodes know it. */
  isSeating(): boolean
}

export async function registerHealth(
  app: FastifyInstance,
  database: Database,
  { isLeaving, isSeating }: NodeState = { isLeaving: () => false, isSeating: () => true },
): Promise<void> {
  const expected = await schemaFiles()

  async function probe(): Promise<{ migrations: 'ok' | 'pending' | 'too new'; lagMs: number | null }> {
    return database.asSystem(async (tx) => {
      const state = compareSchema(expected, await readApplied(tx))
      if (state === 'pending' || state === 'too new') return { migrations: state, lagMs: null }
      return { migrations: 'ok', lagMs: await feedLagMs(tx) }
    }, 'probe')
  }

  /** The probe in flight. Requests that arrive meanwhile share its result instead of queueing probes. */
  let probing: ReturnType<typeof probe> | null = null

  app.get('/healthz', () => ({ status: 'ok', version }))
  app.get('/readyz', async (_request, reply) => {
    if (isLeaving()) return reply.code(503).send({ status: 'stopping' })
    try {
      const { migrations, lagMs } = await (probing ??= probe().finally(() => (probing = null)))
      const writable = database.takesWrites()
      const seating = isSeating()
      const ready = migrations === 'ok' && writable && seating
      if (!writable || !seating) reply.header('retry-after', '2')
      return await reply.code(ready ? 200 : 503).send({
        status: ready ? 'ready' : 'not ready',
        database: writable ? 'ok' : 'takes no writes',
        migrations,
        ...(seating ? {} : { lock: 'lost; this node opens no canvases until it has it again' }),
        ...(lagMs === null ? {} : { feed_lag_ms: lagMs }),
      })
    } catch {
      return reply
        .code(503)
        .header('retry-after', '2')
        .send({ status: 'not ready', database: 'out of reach', migrations: 'unknown' })
    }
  })
}
