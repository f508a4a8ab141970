/** The API as a Fastify plugin: mounts the routes with their common hooks and error handling. */
import { Readable } from 'node:stream'
import cors from '@fastify/cors'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify'
import type { TSchema } from 'typebox'
import { limits } from '../core/limits.ts'
import {
  authorise,
  charge,
  chargeSigned,
  identify,
  refund,
  type AuthenticateOptions,
} from './http/authenticate.ts'
import type { LargeBodies } from './http/body/large-bodies.ts'
import { acceptJsonOnly, takesLargeBody } from './http/body/read-json.ts'
import { compileBody } from './http/body/validate-body.ts'
import { challenge } from './oauth/challenge.ts'
import { describeApi } from './describe-api.ts'
import { exposed } from './http/headers.ts'
import { errorBody, sendError } from './http/error-reply.ts'
import { conditionOf } from './http/if-match.ts'
import { Attempts } from './http/idempotency/attempts.ts'
import { beginAttempt, endAttempt } from './http/idempotency/hooks.ts'
import { sendJson } from './http/send-json.ts'
import { lowerCaseIds, perform } from './http/perform.ts'
import type { Principal } from '../sql/accounts/tokens.ts'
import type { Answer, ApiContext, Route } from './http/route.ts'
import { withSession } from '../sql/acting-session.ts'
import { apiRoot } from './http/root.ts'
import { routes } from './routes.ts'
import { uuidPattern } from './http/schemas.ts'
import { sendNotFound, wantsPage } from './sign-in/not-found.ts'
import { tellUnknownNames } from './http/unknown-names.ts'
import { inTurnOfRequests } from './http/request-turns.ts'
import { compileSchema } from './http/validate.ts'

declare module 'fastify' {
  interface FastifyInstance {
    publicUrl(): string
  }
}

export interface ApiOptions extends AuthenticateOptions {
  context: ApiContext
  largeBodies: LargeBodies
  /** The URL at which clients reach the service, without a slash at the end. Called only after it listens. */
  publicUrl(): string
}

export async function registerApi(app: FastifyInstance, options: ApiOptions): Promise<void> {
  app.decorate('publicUrl', options.publicUrl)
  app.decorateRequest('principal', null)
  app.decorateRequest('rate', null)
  app.decorateRequest('attempt', null)
  app.decorateRequest('streamed', null)
  app.decorateRequest('replayed', false)

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    inTurnOfRequests(done)
  })
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], // PUT: parts of uploads
    exposedHeaders: Object.keys(exposed),
    maxAge: 86_400,
    strictPreflight: false,
  })

  acceptJsonOnly(app)
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body' ? compileBody(schema as TSchema) : compileSchema(schema as TSchema, httpPart),
  )
  // Answers are sent as the handlers return them. The schemas of answers only describe them.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.setErrorHandler((error, request, reply) => {
    challenge(error, request, reply, options.publicUrl())
    return sendError(error, request, reply)
  })
  app.setNotFoundHandler((request, reply) => answerUnknown(options, request, reply))

  // The API reference at `/docs` reads it.
  await app.register(swagger, { mode: 'static', specification: { document: describeApi('') as never } })

  const attempts = new Attempts({ ...options.context, encryption: options.context.answers })
  const shared: Shared = {
    begin: beginAttempt(attempts),
    end: endAttempt(attempts),
    largeBodies: options.largeBodies,
  }
  for (const route of routes) {
    if (route.takesBytes) await app.register(takingBytes(options, route, shared))
    else addRoute(app, options, route, shared)
  }
  let described: { publicUrl: string; text: string } | null = null
  app.get(`${apiRoot}/openapi.json`, async (request, reply) => {
    await identify(options, request, reply)
    const publicUrl = options.publicUrl()
    if (described?.publicUrl !== publicUrl)
      described = { publicUrl, text: JSON.stringify(describeApi(publicUrl)) }
    return reply.type('application/json; charset=utf-8').send(described.text)
  })
}

/** Answers a request to which no route belongs: another method of a path, or a path that does not exist. */
async function answerUnknown(options: ApiOptions, request: FastifyRequest, reply: FastifyReply) {
  if (request.url.startsWith(apiRoot)) await identify(options, request, reply)
  const allowed = methodsAt(request.url)
  if (allowed.length > 0) {
    reply.code(405).header('allow', allowed.join(', '))
    return errorBody('method_not_allowed', `This path supports ${allowed.join(', ')}.`)
  }
  if (wantsPage(request)) return sendNotFound(reply)
  reply.code(404)
  return errorBody('not_found', 'There is nothing at this path. GET /api/v1 lists the endpoints.')
}

/** Objects that all routes share. */
interface Shared {
  begin: ReturnType<typeof beginAttempt>
  end: ReturnType<typeof endAttempt>
  largeBodies: LargeBodies
}

/** Mounts a route whose body is not parsed, whatever its content type. */
const takingBytes =
  (options: ApiOptions, route: Route, shared: Shared) =>
  (scope: FastifyInstance, _: object, done: () => void) => {
    scope.removeAllContentTypeParsers()
    if (route.inMemory)
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, parsed) => parsed(null, bytes))
    else scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    addRoute(scope, options, route, shared)
    done()
  }

function addRoute(app: FastifyInstance, options: ApiOptions, route: Route, shared: Shared): void {
  const { begin, end, largeBodies } = shared
  const { params, query, body } = route.schemas
  const bodyLimit = route.bodyLimitBytes ?? limits.jsonBodyBytes
  const tellUnknown = tellUnknownNames(route)
  const rivals = patterns.filter(({ path }) => isMoreSpecific(path, route.path)).map(({ pattern }) => pattern)
  app.route({
    method: route.method,
    url: route.path === '/' ? apiRoot : `${apiRoot}${route.path}`,
    bodyLimit,
    schema: {
      ...(params ? { params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body ? { body } : {}),
    },
    onRequest: async (request, reply) => {
      // `GET /boards/move` is the path `/boards/move` with a wrong method, not the board with the id `move`.
      if (rivals.some((pattern) => pattern.test(bare(request.url)))) return reply.callNotFound()
      if (isSigned(route, request)) return chargeSigned(options, request, reply)
      await identify(options, request, reply)
      if (!route.open) authorise(request, route)
    },
    ...(bodyLimit > limits.largeBodies.fromBytes && !route.takesBytes
      ? { preParsing: awaitTurn(options.context, route, largeBodies) }
      : {}),
    ...(route.method === 'POST' && !route.open
      ? { preValidation: [begin, tellUnknown], onSend: end }
      : { preValidation: tellUnknown }),
    handler: async (request, reply) => {
      if (isSigned(route, request)) {
        const { params, query } = request
        const call = { params: params as never, query: query as never, request }
        const answer = await route.handleSigned!(options.context, call)
        return send(reply, answer)
      }
      // An open route does not read it.
      const principal = route.open ? (request.principal as Principal) : authorise(request, route)
      const call = {
        params: lowerCaseIds(request.params as Record<string, string>) as never,
        query: request.query as never,
        body: (request.body ?? (route.takesBytes ? null : {})) as never,
        principal,
        rate: request.rate!,
        request,
        expects: conditionOf(route, request),
        resumed: request.attempt?.resumed ?? null,
        charge: () => charge(options, request, reply),
      }
      const work = () =>
        withSession(request.principal?.session?.claims, () =>
          perform(options.context, route, call, request.attempt),
        )
      const answer = await (request.largeBody ? request.largeBody.during(work) : work())
      // The client already had the bytes, so the request does not count.
      if (answer.status === 304) refund(options, principal, reply)
      if (route.answersSecret) reply.header('cache-control', 'no-store')
      return send(reply, answer)
    },
  })
}

function send(reply: FastifyReply, { status = 200, headers = {}, body }: Answer): Promise<FastifyReply> {
  // A stream that fails before its first byte is answered with an error, which these headers do not describe.
  if (body instanceof Readable)
    body.once('error', () => {
      for (const name of Object.keys(headers)) reply.removeHeader(name)
    })
  return sendJson(reply.code(status).headers(headers), body)
}

/** Whether a request needs no token, because its URL is signed. */
const isSigned = (route: Route, { query }: FastifyRequest): boolean =>
  route.handleSigned !== undefined && (query as Record<string, unknown>)['signature'] !== undefined

/**
 * A hook that runs before a large body is read. It skips the early refusal for a request with an idempotency key. Such a
 * request may be a replay, which gets its first answer whatever the rights are now. That requires the body.
 */
const awaitTurn = (context: ApiContext, route: Route, bodies: LargeBodies): preParsingHookHandler => {
  const take = takesLargeBody(bodies, async ({ params, principal, headers }) => {
    if (!route.refuseEarly || headers['idempotency-key'] !== undefined) return
    const ids = lowerCaseIds(params as Record<string, string>)
    const wrong = Object.keys(ids).find((name) => name === 'id' && !uuidPattern.test(ids[name]!))
    const refuse = () => route.refuseEarly!(context, { params: ids, principal: principal! })
    if (wrong === undefined) await withSession(principal!.session?.claims, refuse)
  })
  return (request, reply, payload, done) => {
    take(request, reply)
    done(null, payload)
  }
}

const patterns = routes.map(({ method, path }) => ({ method, path, pattern: patternOf(path) }))

function patternOf(path: string): RegExp {
  return new RegExp(`^${apiRoot}${path === '/' ? '' : path.replace(/:\w+/g, '[^/]+')}$`)
}

/** Whether `other` also matches `path`, with parameters in place of its words. */
function isMoreSpecific(path: string, other: string): boolean {
  return patternOf(other).test(apiRoot + path) && !patternOf(path).test(apiRoot + other)
}

/** The path of a URL, without query and without a slash at the end. */
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
