/** Logs one line for each request, without the query string, which may contain search words. */
import type { FastifyInstance } from 'fastify'

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
        traceId: traceIdOf(request.headers['traceparent']),
      },
      'request',
    )
    done()
  })
}

/**
 * Returns the trace id of a `traceparent` header (W3C Trace Context, section 3.2); undefined when it is missing or
 * malformed. Later versions than 00 may have more fields after the fourth.
 */
function traceIdOf(header: string | string[] | undefined): string | undefined {
  const [, version, traceId, parentId, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(String(header)) ?? []
  const isKnown = version !== 'ff' && (version !== '00' || more === undefined)
  return isKnown && /[^0]/.test(traceId ?? '') && /[^0]/.test(parentId ?? '') ? traceId : undefined
}
