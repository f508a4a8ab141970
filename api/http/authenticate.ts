/** Authentication, rate limit and scope check of a request, before anything else of it is read. */
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
  /** Counts requests without a valid token, by client address. */
  limiter: RateLimiter
  tokenLimiter: TokenLimiter
  requestsPerHour: number
}

/**
 * Finds the principal and counts the request. Always sets the rate-limit headers. From an address that is over its limit,
 * only a limited number of tokens that were not used recently are looked up.
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

/** Counts a request of the principal, or of the address without one. @throws ServiceError `rate_limited` */
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
  // The same in the headers of draft-ietf-httpapi-ratelimit-headers-10, which use seconds instead of a time.
  reply.header('ratelimit-policy', `"hour";q=${decision.limit};w=3600`)
  reply.header('ratelimit', `"hour";r=${decision.remaining};t=${decision.resetAfter}`)
  if (decision.allowed) return
  reply.header('retry-after', decision.retryAfter)
  throw new ServiceError(
    'rate_limited',
    `The limit of ${decision.limit} requests an hour is reached. Retry in ${decision.retryAfter} seconds.`,
  )
}

/** Removes the request from the count of its token, and corrects the rate-limit header. */
export function refund(options: AuthenticateOptions, principal: Principal, reply: FastifyReply): void {
  options.tokenLimiter.refund(countedAs(principal))
  const { rate } = reply.request
  if (rate) reply.header('x-ratelimit-remaining', Math.min(rate.limit, rate.remaining + 1))
}

/** All tokens of one OAuth grant share a rate limit. */
const countedAs = ({ grantId, tokenId }: Principal): string => grantId ?? tokenId

/** @throws ServiceError `invalid_token` or `insufficient_scope` */
export function authorise(request: FastifyRequest, scope: Scope): Principal {
  const { principal } = request
  if (!principal) {
    throw new ServiceError(
      'invalid_token',
      'The access token is missing, mistyped, revoked or expired. Send a valid one: Authorization: Bearer <token>.',
    )
  }
  requireScope(principal, scope)
  return principal
}

/** @throws ScopeError */
export function requireScope(principal: Principal, scope: Scope): void {
  if (!principal.scopes.includes(scope)) throw new ScopeError(principal, scope)
}

/** RFC 6750, 3.1: the answer names the required scopes, so that a client can request them. */
export class ScopeError extends ServiceError {
  readonly scopes: Scope[]

  constructor(
    { scopes }: Principal,
    lacking: Scope,
    message = `This operation needs a token with the scope \`${lacking}\`.`,
  ) {
    super('insufficient_scope', message)
    this.scopes = [...scopes, lacking]
  }
}

function bearer(header: string | undefined): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
  return token ?? null
}
