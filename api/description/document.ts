/** The API description in OpenAPI 3.1, made from the routes and from the schemas that validate requests. */
import { scopeWords } from '../oauth/consent-page.ts'
import { paths } from '../oauth/provider.ts'
import { apiVersion, openapiSummary, templatePath } from '../http/identity.ts'
import { apiRoot } from '../http/root.ts'
import type { Route } from '../http/route.ts'
import { scopes } from '../../sql/accounts/tokens.ts'
import { Components } from './components.ts'
import { ErrorResponses, errorsOfOpen } from './errors.ts'
import { describeEvents } from './events.ts'
import { readExamples } from './examples.ts'
import { headerComponents, ofEveryAnswer, refer } from '../http/headers.ts'
import { describeOperation, tags, type Shared } from './operation.ts'

/**
 * Describes the routes. Call it when the process starts: it takes about 50 ms.
 *
 * @returns a function that adds the fields with the service's URL. `publicUrl` is the URL at which clients reach the
 *   service, without a slash at the end.
 */
export function describeRoutes(routes: Route[]): (publicUrl: string) => Record<string, unknown> {
  const described = describe(routes)
  return (publicUrl) => ({
    ...described,
    servers: [{ url: `${publicUrl}${apiRoot}` }],
    components: { ...described.components, securitySchemes: securitySchemes(publicUrl) },
  })
}

const head = {
  openapi: '3.1.0',
  info: {
    title: 'Corkboard',
    version: apiVersion,
    description:
      'Realtime boards of cards. People edit a board in open editors, and programs through this API. A card that is written here appears at once on open canvases.',
    license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
  },
}

function describe(routes: Route[]) {
  const examples = readExamples()
  const components = new Components()
  const errors = new ErrorResponses(components)
  return {
    ...head,
    tags,
    security: [{ token: [] }],
    paths: describePaths(routes, { components, errors, examples: examples.operations }),
    webhooks: describeEvents(components, examples.events),
    components: {
      headers: headerComponents,
      responses: errors.responses,
      schemas: components.schemas,
    },
  }
}

function describePaths(routes: Route[], shared: Shared): Record<string, Record<string, object>> {
  const described: Record<string, Record<string, object>> = {}
  for (const route of routes)
    (described[templatePath(route.path)] ??= {})[route.method.toLowerCase()] = describeOperation(
      route,
      shared,
    )
  described['/openapi.json'] = {
    get: {
      summary: openapiSummary,
      description: 'This operation needs no token.',
      operationId: 'getOpenapiJson',
      tags: ['Account'],
      security: [],
      responses: {
        ...shared.errors.refer(errorsOfOpen),
        200: {
          description: 'The API description.',
          headers: refer(ofEveryAnswer),
          content: {
            'application/json': {
              schema: { type: 'object', additionalProperties: true },
              example: head,
            },
          },
        },
      },
    },
  }
  return described
}

const securitySchemes = (publicUrl: string) => ({
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token of a person, of a service account or of a connected application. People create theirs at `/settings`.',
  },
  oauth: {
    type: 'oauth2',
    description:
      'For applications that people connect to their accounts. PKCE with S256 is required. Clients register dynamically (RFC 7591), or use the URL of a metadata document as their client id.',
    flows: {
      authorizationCode: {
        authorizationUrl: publicUrl + paths.authorization,
        tokenUrl: publicUrl + paths.token,
        refreshUrl: publicUrl + paths.token,
        scopes: Object.fromEntries(scopes.map((scope) => [scope, scopeWords[scope]])),
      },
    },
  },
})
