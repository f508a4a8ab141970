/**
 * Metrics that parts of the service report to. Each part gets the function that it calls. Labels never name a board or an
 * account, and have few values.
 *
 * A report takes less than a microsecond of CPU time. So commits, transactions and requests report, but frames don't.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { CommitFigures } from '../../collab/commit/commit.ts'
import type { Stale } from '../../collab/documents/show.ts'
import { closeCodes } from '../../core/errors.ts'
import type { MetricsRegistry } from '../../platform/metrics.ts'
import type { StorageCall } from '../../platform/storage/metered-store.ts'
import type { Waiting } from '../../sql/database.ts'

const seconds = {
  short: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  long: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
}
const kib = 1024
const bytes = [kib / 4, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, kib ** 2, 4 * kib ** 2, 16 * kib ** 2]

/** 1000 and 1001: the client left. 1005: it sent no code. 1006: the connection was lost. */
const knownCodes = new Set<number>([
  ...[1000, 1001, 1005, 1006],
  ...Object.values(closeCodes).map(({ code }) => code),
])

export const openInstruments = (registry: MetricsRegistry) => ({
  ...requests(registry),
  ...editors(registry),
  ...commits(registry),
  ...deliveries(registry),
  ...stores(registry),
})

function requests(registry: MetricsRegistry) {
  const duration = registry.histogram(
    'corkboard_http_request_duration_seconds',
    'Duration of HTTP requests until the answer was sent. `route` is the template of the path.',
    seconds.long,
    ['method', 'route', 'status'],
  )
  return {
    /** Measures all requests of `app`. */
    measureRequests(app: FastifyInstance) {
      app.addHook('onResponse', (request, reply, done) => {
        if (isEventStream(reply)) return done() // it lasts until its client leaves
        const { url } = request.routeOptions
        // Any client can send any method to an unknown path.
        const labels = url ? { method: request.method, route: url } : { method: '', route: 'unknown' }
        duration.observe({ ...labels, status: reply.statusCode }, reply.elapsedTime / 1000)
        done()
      })
    },
  }
}

const isEventStream = (reply: FastifyReply) =>
  String(reply.getHeader('content-type')).startsWith('text/event-stream')

function editors(registry: MetricsRegistry) {
  const closes = registry.counter(
    'corkboard_socket_closes_total',
    'Sockets that have ended, by close code. Codes that clients made up are `other`.',
    ['code'],
  )
  const stale = registry.counter(
    'corkboard_live_false_total',
    'Writes that were answered with `live: false`, by reason.',
    ['reason'],
  )
  return {
    onSocketClosed: (code: number) => closes.inc({ code: knownCodes.has(code) ? code : 'other' }),
    onStale: (reason: Stale | 'other_node') => stale.inc({ reason }),
  }
}

function commits(registry: MetricsRegistry) {
  const duration = registry.histogram(
    'corkboard_commit_duration_seconds',
    'Duration of commits. `large` ones run beside the `small` ones.',
    seconds.short,
    ['kind', 'result'],
  )
  const size = registry.histogram('corkboard_commit_size_bytes', 'Bytes of updates in a commit.', bytes)
  const ackLag = registry.histogram(
    'corkboard_ack_lag_seconds',
    'Time from applying an edit to its acknowledgement. Each commit counts once, with its oldest edit.',
    seconds.short,
  )
  return {
    onCommit({ outcome, isLarge, durationMs, bytes, ackLagMs }: CommitFigures) {
      duration.observe({ kind: isLarge ? 'large' : 'small', result: outcome }, durationMs / 1000)
      size.observe(bytes)
      if (ackLagMs !== null) ackLag.observe(ackLagMs / 1000)
    },
  }
}

function deliveries(registry: MetricsRegistry) {
  const attempts = registry.counter(
    'corkboard_deliveries_total',
    'Attempts of webhook deliveries. `failed`: another attempt follows. `given_up`: none follows.',
    ['result'],
  )
  const duration = registry.histogram(
    'corkboard_delivery_duration_seconds',
    'Duration of attempts of webhook deliveries.',
    seconds.long,
  )
  return {
    onAttempt(result: 'succeeded' | 'failed' | 'given_up', durationMs: number) {
      attempts.inc({ result })
      duration.observe(durationMs / 1000)
    },
  }
}

function stores(registry: MetricsRegistry) {
  const database = registry.histogram(
    'corkboard_database_wait_seconds',
    'Time until a transaction began: its wait for a connection of the pool, and one round trip.',
    seconds.short,
    ['pool'],
  )
  const files = registry.histogram(
    'corkboard_storage_call_duration_seconds',
    'Duration of calls of the file store. `failed`: the store failed. `aborted`: the sender of a body broke off.',
    seconds.long,
    ['call', 'result'],
  )
  return {
    onBegun: (pool: Waiting, waitedMs: number) => database.observe({ pool }, waitedMs / 1000),
    onStorageCall: ({ name, result, durationMs }: StorageCall) =>
      files.observe({ call: name, result }, durationMs / 1000),
  }
}
