/** What a refused client is told about getting a token that would do (RFC 6750, RFC 9728). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../core/errors.ts'
import { scopes, type Principal, type Scope } from '../sql/tokens.ts'
import { resourceMetadataUrl } from './oauth/metadata.ts'

/** The token is good, but not for this. */
export class InsufficientScope extends ServiceError {
  /** To ask for: what it has, and what is missing. */
  readonly wanted: Scope[]

  constructor(principal: Principal, needed: readonly Scope[], message: string) {
    super('insufficient_scope', message)
    this.wanted = scopes.filter((scope) => principal.scopes.includes(scope) || needed.includes(scope))
  }
}

/** Sets `www-authenticate` where the error calls for it. */
export function challenge(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): void {
  if (!(error instanceof ServiceError)) return
  const metadata = `resource_metadata="${resourceMetadataUrl(publicUrl, request.url.split('?', 1)[0]!)}"`
  if (error.code === 'invalid_token') reply.header('www-authenticate', `Bearer ${metadata}`)
  if (error instanceof InsufficientScope)
    reply.header(
      'www-authenticate',
      `Bearer error="insufficient_scope", scope="${error.wanted.join(' ')}", ${metadata}`,
    )
}
