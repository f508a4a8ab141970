/** Makes the Fastify app: ids, timeouts and log lines of requests, and the headers of every answer. */
import { randomUUID } from 'node:crypto'
import Fastify, { LogController, type FastifyInstance } from 'fastify'
import { decodableUrl } from '../api/http/url.ts'
import { mark } from '../platform/work/loop-watchdog.ts'
import type { ComposeOptions } from './basis.ts'
import type { Config } from './config.ts'
import { openLog } from './log.ts'
import { protectAnswers } from './protect-answers.ts'
import { logRequests } from './request-log.ts'
import { answerUnreadable } from './unreadable-request.ts'

export function openApp(config: Config, options: ComposeOptions): FastifyInstance {
  const headersTimeoutMs = options.headersTimeoutMs ?? 20_000
  const log = options.log ?? openLog(config.logLevel, [])
  const app = Fastify({
    loggerInstance: log,
    clientErrorHandler: answerUnreadable(log),
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[\w-]{1,100}$/.test(given) ? given : randomUUID()
    },
    trustProxy: (_address: string, hop: number) => hop < config.trustProxy,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    rewriteUrl: ({ url }) => decodableUrl(url ?? '/'),
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: headersTimeoutMs / 4 },
    return503OnClosing: false, // a request on an open connection is still answered, then the connection closes
    requestTimeout: 300_000, // for receiving the whole request
    bodyLimit: 1024 * 1024,
  })
  logRequests(app)
  protectAnswers(app, config)
  app.addHook('preHandler', (request, _reply, done) => {
    mark(`${request.method} ${request.routeOptions.url ?? '(no route)'}`)
    done()
  })
  return app
}
