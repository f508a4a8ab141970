/** The header `www-authenticate`, which tells a refused client how to get a suitable token (RFC 6750, RFC 9728). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { ScopeError } from '../http/authenticate.ts'
import { resourceMetadataUrl } from './metadata.ts'

/** Sets `www-authenticate` for an invalid token or a missing scope. */
export function challenge(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): void {
  if (!(error instanceof ServiceError)) return
  const metadata = `resource_metadata="${resourceMetadataUrl(publicUrl, request.url.split('?', 1)[0]!)}"`
  if (error.code === 'invalid_token') reply.header('www-authenticate', `Bearer ${metadata}`)
  if (error instanceof ScopeError)
    reply.header(
      'www-authenticate',
      `Bearer error="insufficient_scope", scope="${error.scopes.join(' ')}", ${metadata}`,
    )
}
