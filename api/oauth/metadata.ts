/** Discovery documents: metadata of the protected resource (RFC 9728) and of the authorization server (RFC 8414). */
import type { FastifyInstance } from 'fastify'
import { scopes } from '../../sql/accounts/tokens.ts'
import { apiRoot } from '../http/root.ts'
import { authMethods, paths } from './provider.ts'
import { apiResource, mcpResource } from './resources.ts'

const resourceMetadata = '/.well-known/oauth-protected-resource'
const serverMetadata = '/.well-known/oauth-authorization-server'

/** The URL of the metadata of the resource at `path`, for the header `www-authenticate` of a 401. */
export function resourceMetadataUrl(publicUrl: string, path: string): string {
  const isMcp = path === `${apiRoot}/mcp` || path.startsWith(`${apiRoot}/mcp/`)
  return `${publicUrl}${resourceMetadata}${isMcp ? `${apiRoot}/mcp` : ''}`
}

/**
 * Serves the documents at all paths that clients try: the well-known path alone, and with the resource's path appended.
 */
export function registerMetadata(app: FastifyInstance, publicUrl: () => string): void {
  const serve = (path: string, document: (publicUrl: string) => object) =>
    app.get(path, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(document(publicUrl())),
    )
  for (const path of ['', apiRoot])
    serve(resourceMetadata + path, (url) => aboutResource(url, apiResource(url), 'Corkboard'))
  serve(`${resourceMetadata}${apiRoot}/mcp`, (url) =>
    aboutResource(url, mcpResource(url), 'Corkboard for agents'),
  )
  for (const path of ['', apiRoot, `${apiRoot}/mcp`]) serve(serverMetadata + path, aboutServer)
}

const aboutResource = (publicUrl: string, resource: string, name: string) => ({
  resource,
  authorization_servers: [publicUrl],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_name: name,
  resource_documentation: `${apiResource(publicUrl)}/openapi.json`,
})

const aboutServer = (publicUrl: string) => ({
  issuer: publicUrl,
  authorization_endpoint: publicUrl + paths.authorization,
  token_endpoint: publicUrl + paths.token,
  registration_endpoint: publicUrl + paths.registration,
  revocation_endpoint: publicUrl + paths.revocation,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: authMethods,
  revocation_endpoint_auth_methods_supported: authMethods,
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  protected_resources: [apiResource(publicUrl), mcpResource(publicUrl)],
})
