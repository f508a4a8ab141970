/** What a client learns before it asks for anything: of the resource (RFC 9728) and of who gives tokens for it (RFC 8414). */
import type { FastifyInstance } from 'fastify'
import { scopes } from '../../sql/accounts/tokens.ts'
import { apiRoot } from '../http/root.ts'
import { authMethods, paths } from './provider.ts'
import { apiResource, mcpResource } from './resources.ts'

const resourceMetadata = '/.well-known/oauth-protected-resource'
const serverMetadata = '/.well-known/oauth-authorization-server'

/** Where a 401 sends a client: to what is said of the resource that it asked for. */
export function resourceMetadataUrl(publicUrl: string, path: string): string {
  const isMcp = path === `${apiRoot}/mcp` || path.startsWith(`${apiRoot}/mcp/`)
  return `${publicUrl}${resourceMetadata}${isMcp ? `${apiRoot}/mcp` : ''}`
}

/** The paths at which clients look: with that of the issuer or of the resource after the well-known one, and without. */
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
