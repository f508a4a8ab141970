/**
 * Mounts the provider's endpoints in the fastify app. The provider is a Koa application: it reads the body and writes the
 * answer itself. Fastify adds request ids, log lines, headers and rate limits.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import { ServiceError } from '../../core/errors.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { pageHeaders } from '../sign-in/page.ts'
import { paths } from './provider.ts'

export interface MountOptions {
  provider(): Provider
  publicUrl(): string
  limiter: RateLimiter
  /** Requests an hour from one address. */
  limits: { requests: number; registrations: number }
}

export async function mountProvider(app: FastifyInstance, options: MountOptions): Promise<void> {
  await app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, parsed) => parsed(null)) // the provider reads it
    const serve = (method: 'GET' | 'POST', url: string, perHour: number, what: string) =>
      scope.route({
        method,
        url,
        exposeHeadRoute: false,
        onRequest: async (request, reply) => limit(options.limiter, request.ip, perHour, what, reply),
        handler: (request, reply) => hand(options, request, reply),
      })
    const { requests, registrations } = options.limits
    serve('GET', paths.authorization, requests, 'authorization')
    serve('GET', `${paths.authorization}/:uid`, requests, 'authorization')
    serve('POST', paths.token, requests * 10, 'grants') // many users may be behind one client's address
    serve('POST', paths.revocation, requests * 10, 'grants')
    serve('POST', paths.registration, registrations, 'registration')
    serve('GET', `${paths.registration}/:clientId`, requests, 'authorization')
    done()
  })
}

/** @throws ServiceError `rate_limited` */
function limit(
  limiter: RateLimiter,
  address: string,
  perHour: number,
  what: string,
  reply: FastifyReply,
): void {
  const { allowed, retryAfter } = limiter.take(address, perHour, what)
  if (allowed) return
  reply.header('retry-after', retryAfter)
  throw new ServiceError(
    'rate_limited',
    `This address has sent ${perHour} such requests in the last hour, the most that are allowed. Retry in ${retryAfter} seconds.`,
  )
}

async function hand(
  { provider, publicUrl }: MountOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw } = reply
  if (request.method === 'GET' && request.url.startsWith(paths.authorization)) {
    reply.headers(pageHeaders()).removeHeader('access-control-allow-origin')
  }
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value)
  addressAs(request.raw, publicUrl())
  await address.run(request.ip, () => provider().callback()(request.raw, raw))
}

/**
 * Sets the headers from which the provider builds its URLs, so that they are public ones whatever the request's Host.
 */
export function addressAs(request: IncomingMessage, publicUrl: string): void {
  const { protocol, host, pathname } = new URL(publicUrl)
  request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
  request.headers['x-forwarded-host'] = host
  request.headers.host = host
  Object.assign(request, { originalUrl: pathname.replace(/\/$/, '') + (request.url ?? '') })
}

const address = new AsyncLocalStorage<string>()

/** The client address of the request that the provider handles now. */
export const currentAddress = (): string => address.getStore() ?? ''
