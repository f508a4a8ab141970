/** Authentication, rate limit and scope check of a request, before anything else of it is read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Principal, Scope, TokenVerifier } from '../../sql/accounts/tokens.ts'
import type { RateDecision, RateFigures, RateLimiter } from './rate-limit.ts'
import type { Route } from './route.ts'
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
    ? await countOf(options, principal)
    : options.limiter.take(request.ip, options.requestsPerHour)
  answerLimit(request, reply, decision)
}

/** Counts a read by a signed URL, by address. @throws ServiceError `rate_limited` */
export function chargeSigned(
  { limiter }: AuthenticateOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  answerLimit(request, reply, limiter.take(request.ip, limits.files.signedReadsPerHour, 'signed files'))
}

/** Sets the rate-limit headers. @throws ServiceError `rate_limited` */
function answerLimit(request: FastifyRequest, reply: FastifyReply, decision: RateDecision): void {
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

/** Counts a request of a session or a guest also in the sums that it belongs to. */
async function countOf(options: AuthenticateOptions, principal: Principal): Promise<RateDecision> {
  const { tokenLimiter, requestsPerHour } = options
  const sums = sumsOf(principal)
  const most = principal.rateLimit ?? requestsPerHour
  const share = principal.guest ? sums[0]!.most * limits.sessions.userShare : most
  const own = await tokenLimiter.take(countedAs(principal), Math.ceil(Math.min(most, share)))
  for (const { id, most } of own.allowed ? sums : []) {
    const sum = await tokenLimiter.take(id, most)
    if (!sum.allowed) return sum
  }
  return own
}

/** All guests of a link, then all sessions and guests of an owner: what each may use in an hour. */
function sumsOf({ session, guest, tier }: Principal): { id: string; most: number }[] {
  const { requestsPerHour } = limits.sessions
  if (session) return [{ id: session.ownerId, most: requestsPerHour[tier] }]
  if (!guest) return []
  const all = requestsPerHour[guest.tier]
  return [
    { id: guest.linkId, most: all * limits.guests.linkShare },
    { id: guest.ownerId, most: all },
  ]
}

/** Removes the request from the count of its token, and corrects the rate-limit header. */
export function refund(options: AuthenticateOptions, principal: Principal, reply: FastifyReply): void {
  options.tokenLimiter.refund(countedAs(principal))
  for (const { id } of sumsOf(principal)) options.tokenLimiter.refund(id)
  const { rate } = reply.request
  if (rate) reply.header('x-ratelimit-remaining', Math.min(rate.limit, rate.remaining + 1))
}

/** All tokens of one OAuth grant share a rate limit, and all sessions of one user. */
const countedAs = ({ session, userId, grantId, tokenId }: Principal): string =>
  session ? userId : (grantId ?? tokenId)

/** @throws ServiceError `invalid_token`, `insufficient_scope` or `forbidden` */
export function authorise(request: FastifyRequest, route: Rights): Principal {
  const { principal } = request
  if (!principal) {
    throw new ServiceError(
      'invalid_token',
      'The access token is missing, mistyped, revoked or expired. Send a valid one: Authorization: Bearer <token>.',
    )
  }
  requireRights(principal, route)
  return principal
}

/** What a route requires of a token. */
type Rights = Pick<Route, 'scope' | 'notInSessions'>

/** @throws ScopeError; ServiceError `forbidden` for a session on a route that is not for sessions */
export function requireRights(principal: Principal, { scope, notInSessions }: Rights): void {
  if (notInSessions && principal.session)
    throw new ServiceError(
      'forbidden',
      'A session may not do this. Use the token of a service account or of a person.',
    )
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
