/** One line for each request. The query stays out of it: it may hold what people search for. */
import type { FastifyInstance } from 'fastify'

/** Probes come every few seconds, and say nothing when they succeed. */
const probes = new Set(['/healthz', '/readyz'])

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
      },
      'request',
    )
    done()
  })
}
