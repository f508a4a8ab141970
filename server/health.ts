/**
 * Health checks outside the API root. `/healthz`: the process is alive. `/readyz`: a balancer may send requests to it.
 */
import type { FastifyInstance } from 'fastify'
import type { Database } from '../sql/database.ts'
import { feedLagMs } from '../sql/boards/feeds.ts'
import { isCurrent, schemaFiles } from '../sql/migrate.ts'

/** @param isLeaving whether the process is about to stop. It still serves requests then */
export async function registerHealth(
  app: FastifyInstance,
  database: Database,
  isLeaving: () => boolean = () => false,
): Promise<void> {
  const expected = await schemaFiles()

  async function probe(): Promise<{ migrated: boolean; lagMs: number | null }> {
    return database.asSystem(async (tx) => {
      const rows = await tx<{ name: string; checksum: string }[]>`select name, checksum from schema_files`
      const migrated = isCurrent(expected, rows)
      return { migrated, lagMs: migrated ? await feedLagMs(tx) : null }
    }, 'probe')
  }

  /** The probe in flight. Requests that arrive meanwhile share its result instead of queueing probes. */
  let probing: ReturnType<typeof probe> | null = null

  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (isLeaving()) return reply.code(503).send({ status: 'stopping' })
    try {
      const { migrated, lagMs } = await (probing ??= probe().finally(() => (probing = null)))
      const writable = database.takesWrites()
      const ready = migrated && writable
      if (!writable) reply.header('retry-after', '2')
      return await reply.code(ready ? 200 : 503).send({
        status: ready ? 'ready' : 'not ready',
        database: writable ? 'ok' : 'takes no writes',
        migrations: migrated ? 'ok' : 'pending',
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
