/** Who asks, how often, and what for: before anything else is looked at. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../core/errors.ts'
import type { Principal, Scope, TokenVerifier } from '../sql/tokens.ts'
import { InsufficientScope } from './challenge.ts'
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

/** Finds the principal and counts the request; sets the rate-limit headers whatever comes of it. */
export async function identify(
  options: AuthenticateOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const token = bearer(request.headers.authorization)
  const principal = token === null ? null : await options.tokens.verify(token)
  const decision = principal
    ? await options.tokenLimiter.take(
        principal.grantId ?? principal.tokenId,
        principal.rateLimit ?? options.requestsPerHour,
      )
    : options.limiter.take(`address ${request.ip}`, options.requestsPerHour)
  request.principal = principal
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

/** @throws ServiceError `invalid_token` or `insufficient_scope` */
export function authorise(request: FastifyRequest, scope: Scope): Principal {
  const { principal } = request
  if (!principal) {
    throw new ServiceError(
      'invalid_token',
      'A valid access token is needed: Authorization: Bearer <token>. It may be missing, mistyped, revoked or expired.',
    )
  }
  if (!principal.scopes.includes(scope)) {
    throw new InsufficientScope(principal, [scope], `This needs a token with the scope \`${scope}\`.`)
  }
  return principal
}

function bearer(header: string | undefined): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
  return token ?? null
}
