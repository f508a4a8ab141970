/** `GET /metrics`: on a port of its own, or on the service's port behind a token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { errorBody } from '../../api/http/error-reply.ts'
import { MetricsRegistry } from '../../platform/metrics.ts'
import { figures, type FigureSources } from './figures.ts'
import { openInstruments } from './instruments.ts'

export interface MetricsOptions {
  /** 0: no port of its own. */
  metricsPort: number
  metricsHost: string
  /** Empty: a request needs none. Then only a port of its own serves metrics. */
  metricsToken: string
}

/** The port of its own, if there is one. */
export interface MetricsServer {
  listen(): Promise<void>
  close(): Promise<void>
}

/** Makes the instruments, to which the parts of the service report. `serve` is called when all parts are made. */
export function openMetrics() {
  const registry = new MetricsRegistry()
  return {
    ...openInstruments(registry),
    serve(app: FastifyInstance, options: MetricsOptions, sources: FigureSources): MetricsServer | null {
      const { metricsPort: port, metricsHost: host, metricsToken: token } = options
      if (port === 0 && token === '') return null
      for (const figure of figures(sources)) registry.figure(figure)
      registry.addProcess()
      if (port === 0) {
        addRoute(app, registry, token)
        return null
      }
      const own = Fastify({ forceCloseConnections: true })
      addRoute(own, registry, token)
      return { listen: async () => void (await own.listen({ port, host })), close: () => own.close() }
    },
  }
}

function addRoute(app: FastifyInstance, registry: MetricsRegistry, token: string): void {
  app.get('/metrics', async (request, reply) => {
    if (token !== '' && !isSame(request.headers.authorization ?? '', `Bearer ${token}`))
      return reply
        .code(401)
        .header('www-authenticate', 'Bearer')
        .send(errorBody('invalid_token', 'Metrics need the token of METRICS_TOKEN: authorization: Bearer ….'))
    return reply.type(registry.contentType).send(await registry.text())
  })
}

/** Compares hashes, so that the time tells nothing about the token. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}
