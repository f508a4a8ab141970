/** The API as a Fastify plugin: the table of routes, and what all of them share. */
import cors from '@fastify/cors'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { limits } from '../core/limits.ts'
import { authorise, charge, identify, type AuthenticateOptions } from './authenticate.ts'
import { challenge } from './challenge.ts'
import { describeRoute, errors, errorsOfOpen, tags } from './describe.ts'
import { errorBody, sendError } from './error-reply.ts'
import { Attempts } from './idempotency/attempts.ts'
import { beginAttempt, endAttempt } from './idempotency/hooks.ts'
import { apiVersion, openapiSummary } from './identity.ts'
import { acceptJsonOnly } from './json-body.ts'
import { lowerCaseIds, perform } from './perform.ts'
import type { ApiContext, Route } from './route.ts'
import { apiRoot } from './root.ts'
import { routes } from './routes.ts'
import { compileSchema } from './validate.ts'

declare module 'fastify' {
  interface FastifyInstance {
    publicUrl(): string
  }
}

export interface ApiOptions extends AuthenticateOptions {
  context: ApiContext
  /** Where clients reach the service, without a slash; asked only once it listens. */
  publicUrl(): string
}

const exposedHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'idempotent-replay',
  'x-request-id',
  'etag',
  'www-authenticate', // a browser's client learns from it where tokens are to be had
]

export async function registerApi(app: FastifyInstance, options: ApiOptions): Promise<void> {
  app.decorate('publicUrl', options.publicUrl)
  app.decorateRequest('principal', null)
  app.decorateRequest('rate', null)
  app.decorateRequest('attempt', null)
  app.decorateRequest('streamed', null)
  app.decorateRequest('replayed', false)

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], // PUT: parts of uploads
    exposedHeaders,
    maxAge: 86_400,
    strictPreflight: false,
  })

  acceptJsonOnly(app)
  app.setValidatorCompiler(({ schema, httpPart }) => compileSchema(schema as TSchema, httpPart))
  // The answers are what the handlers say they are; the schemas describe them.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.setErrorHandler((error, request, reply) => {
    challenge(error, request, reply, options.publicUrl())
    return sendError(error, request, reply)
  })
  app.setNotFoundHandler(async (request, reply) => {
    if (request.url.startsWith(apiRoot)) await identify(options, request, reply)
    const allowed = methodsAt(request.url)
    if (allowed.length > 0) {
      reply.header('allow', allowed.join(', '))
      return reply.code(405).send(errorBody('method_not_allowed', `This path takes ${allowed.join(', ')}.`))
    }
    return reply.code(404).send(errorBody('not_found', 'There is nothing at this path.'))
  })

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Corkboard',
        version: apiVersion,
        description:
          'Boards of cards that open editors and this API share. A card written here appears at once on open canvases.',
      },
      components: {
        securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An access token.' } },
      },
      security: [{ token: [] }],
      tags,
    },
    stripBasePath: true,
    transform: ({ schema, url }) => ({
      schema,
      url: url === apiRoot ? '/' : url.slice(apiRoot.length) || '/',
    }),
  })

  const attempts = new Attempts({ ...options.context, encryption: options.context.answers })
  const keyed: Keyed = { begin: beginAttempt(attempts), end: endAttempt(attempts) }
  for (const route of routes) {
    if (route.takesBytes) await app.register(takingBytes(options, route, keyed))
    else addRoute(app, options, route, keyed)
  }
  app.get(
    `${apiRoot}/openapi.json`,
    {
      schema: {
        summary: openapiSummary,
        operationId: 'getOpenapiJson',
        tags: ['Account'],
        security: [],
        response: {
          200: { description: 'The description.', type: 'object', additionalProperties: true },
          ...errors(errorsOfOpen),
        },
      },
    },
    async (request, reply) => {
      await identify(options, request, reply)
      return { ...app.swagger(), servers: [{ url: `${options.publicUrl()}${apiRoot}` }] }
    },
  )
}

interface Keyed {
  begin: ReturnType<typeof beginAttempt>
  end: ReturnType<typeof endAttempt>
}

/** Its body is handed on as it comes, of whatever type. */
const takingBytes =
  (options: ApiOptions, route: Route, keyed: Keyed) =>
  (scope: FastifyInstance, _: object, done: () => void) => {
    scope.removeAllContentTypeParsers()
    if (route.inMemory) {
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, parsed) => parsed(null, bytes))
      scope.setValidatorCompiler(() => () => true)
    } else scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    addRoute(scope, options, route, keyed)
    done()
  }

function addRoute(app: FastifyInstance, options: ApiOptions, route: Route, { begin, end }: Keyed): void {
  const rivals = patterns.filter(({ path }) => isMoreSpecific(path, route.path)).map(({ pattern }) => pattern)
  app.route({
    method: route.method,
    url: route.path === '/' ? apiRoot : `${apiRoot}${route.path}`,
    bodyLimit: route.bodyLimitBytes ?? limits.jsonBodyBytes,
    schema: describeRoute(route),
    onRequest: async (request, reply) => {
      // `GET /boards/move` is that path with a wrong method, not the board `move`.
      if (rivals.some((pattern) => pattern.test(bare(request.url)))) return reply.callNotFound()
      await identify(options, request, reply)
      authorise(request, route.scope)
    },
    ...(route.method === 'POST' ? { preValidation: begin, onSend: end } : {}),
    handler: async (request, reply) => {
      const principal = authorise(request, route.scope)
      const call = {
        params: lowerCaseIds(request.params as Record<string, string>) as never,
        query: request.query as never,
        body: (request.body ?? (route.takesBytes ? null : {})) as never,
        principal,
        rate: request.rate!,
        request,
        resumed: request.attempt?.resumed ?? null,
        charge: () => charge(options, request, reply),
      }
      const answer = await perform(options.context, route, call, request.attempt)
      if (answer.headers) reply.headers(answer.headers)
      return reply.code(answer.status ?? 200).send(answer.body)
    },
  })
}

const patterns = routes.map(({ method, path }) => ({ method, path, pattern: patternOf(path) }))

function patternOf(path: string): RegExp {
  return new RegExp(`^${apiRoot}${path === '/' ? '' : path.replace(/:\w+/g, '[^/]+')}$`)
}

/** Whether `path` is one that `other` matches as well, with words where that has parameters. */
function isMoreSpecific(path: string, other: string): boolean {
  return patternOf(other).test(apiRoot + path) && !patternOf(path).test(apiRoot + other)
}

/** Without query, and without a slash at the end. */
const bare = (url: string) => (url.split('?')[0] ?? '').replace(/\/$/, '')

function methodsAt(url: string): string[] {
  const path = bare(url)
  if (path === `${apiRoot}/openapi.json`) return ['GET', 'HEAD']
  const matching = patterns.filter(({ pattern }) => pattern.test(path))
  const methods = matching
    .filter((one) => !matching.some((other) => isMoreSpecific(other.path, one.path)))
    .map(({ method }) => method as string)
  return methods.includes('GET') ? ['HEAD', ...methods] : methods
}
