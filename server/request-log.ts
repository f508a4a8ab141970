/** Logs one line for each request, without the query string, which may contain search words. */
import type { FastifyInstance } from 'fastify'
import { traceOf } from '../core/trace.ts'

/** Health checks and scrapes arrive every few seconds, so successful ones are logged only at `debug`. */
const probes = new Set(['/healthz', '/readyz', '/metrics'])

export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const [path = ''] = request.url.split('?')
    const level = probes.has(path) && reply.statusCode < 400 ? 'debug' : 'info'
    request.log[level](
      {
        method: request.method,
        path,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        tokenId: request.principal?.tokenId,
        traceId: traceOf(request.headers['traceparent'])?.slice(0, 32),
      },
      'request',
    )
    done()
  })
}
