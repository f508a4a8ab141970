/** What a refused client is told about getting a token that would do (RFC 6750, RFC 9728). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { ScopeError } from '../http/authenticate.ts'
import { resourceMetadataUrl } from './metadata.ts'

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
  if (error instanceof ScopeError)
    reply.header(
      'www-authenticate',
      `Bearer error="insufficient_scope", scope="${error.scopes.join(' ')}", ${metadata}`,
    )
}
