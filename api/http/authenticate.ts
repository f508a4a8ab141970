/** Who asks, how often, and what for: before anything else is looked at. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Principal, Scope, TokenVerifier } from '../../sql/accounts/tokens.ts'
import type { RateFigures, RateLimiter } from './rate-limit.ts'
import type { TokenLimiter } from './token-limiter.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
    rate: RateFigures | null
  }
}

export interface AuthenticateOptions {
  tokens: TokenVerifier
  /** Requests without a valid token, by their address. */
  limiter: RateLimiter
  tokenLimiter: TokenLimiter
  requestsPerHour: number
}

/**
 * Finds the principal and counts the request; sets the rate-limit headers whatever comes of it. From an address that is
 * over its limit, only some tokens that were not used of late are looked up.
 */
export async function identify(
  options: AuthenticateOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const token = bearer(request.headers.authorization)
  const { limiter, requestsPerHour } = options
  const mayLookUp = () =>
    limiter.hasRoom(request.ip, requestsPerHour) ||
    limiter.take(request.ip, limits.lookUpsPastLimitPerHour, 'look-ups').allowed
  request.principal = token === null ? null : await options.tokens.verify(token, mayLookUp)
  await charge(options, request, reply)
}

/** Counts a request of who was found. @throws ServiceError `rate_limited` */
export async function charge(
  options: AuthenticateOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { principal } = request
  const decision = principal
    ? await options.tokenLimiter.take(countedAs(principal), principal.rateLimit ?? options.requestsPerHour)
    : options.limiter.take(request.ip, options.requestsPerHour)
  request.rate = decision
  reply.header('x-ratelimit-limit', decision.limit)
  reply.header('x-ratelimit-remaining', decision.remaining)
  reply.header('x-ratelimit-reset', decision.reset)
  // The same as the IETF's draft has it (draft-ietf-httpapi-ratelimit-headers-10): seconds instead of a time.
  reply.header('ratelimit-policy', `"hour";q=${decision.limit};w=3600`)
  reply.header('ratelimit', `"hour";r=${decision.remaining};t=${decision.resetAfter}`)
  if (decision.allowed) return
  reply.header('retry-after', decision.retryAfter)
  throw new ServiceError(
    'rate_limited',
    `More than ${decision.limit} requests in the last hour. Retry in ${decision.retryAfter} seconds.`,
  )
}

/** Takes the request back out of its token's hour, and says so in the headers. */
export function refund(options: AuthenticateOptions, principal: Principal, reply: FastifyReply): void {
  options.tokenLimiter.refund(countedAs(principal))
  const { rate } = reply.request
  if (rate) reply.header('x-ratelimit-remaining', Math.min(rate.limit, rate.remaining + 1))
}

/** All tokens of one OAuth grant share an hour. */
const countedAs = ({ grantId, tokenId }: Principal): string => grantId ?? tokenId

/** @throws ServiceError `invalid_token` or `insufficient_scope` */
export function authorise(request: FastifyRequest, scope: Scope): Principal {
  const { principal } = request
  if (!principal) {
    throw new ServiceError(
      'invalid_token',
      'A valid access token is needed: Authorization: Bearer <token>. It may be missing, mistyped, revoked or expired.',
    )
  }
  requireScope(principal, scope)
  return principal
}

/** @throws ScopeError */
export function requireScope(principal: Principal, scope: Scope): void {
  if (!principal.scopes.includes(scope)) throw new ScopeError(principal, scope)
}

/** RFC 6750, 3.1: the answer names the scopes that would do, so that a client can ask for them. */
export class ScopeError extends ServiceError {
  readonly scopes: Scope[]

  constructor(
    { scopes }: Principal,
    lacking: Scope,
    message = `This needs a token with the scope \`${lacking}\`.`,
  ) {
    super('insufficient_scope', message)
    this.scopes = [...scopes, lacking]
  }
}

function bearer(header: string | undefined): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
  return token ?? null
}
