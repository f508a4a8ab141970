/** Outside the API root: `/healthz`, is the process alive; `/readyz`, can it do its work. */
import type { FastifyInstance } from 'fastify'
import type { Database } from '../sql/database.ts'
import { feedLagMs } from '../sql/feeds.ts'
import { isCurrent, schemaFiles } from '../sql/migrate.ts'

export async function registerHealth(app: FastifyInstance, database: Database): Promise<void> {
  const expected = await schemaFiles()
  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'ok' }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    try {
      const { migrated, lagMs } = await database.asSystem(async (tx) => {
        const rows = await tx<{ name: string; checksum: string }[]>`select name, checksum from schema_files`
        const migrated = isCurrent(expected, rows)
        return { migrated, lagMs: migrated ? await feedLagMs(tx) : null }
      })
      return await reply.code(migrated ? 200 : 503).send({
        status: migrated ? 'ready' : 'not ready',
        database: 'ok',
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
