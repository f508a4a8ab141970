/** The API description, OpenAPI 3.1, from the table of routes and the very schemas that validate requests. */
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
 * Describes the routes. Call it when the process starts: it takes some 50 ms.
 *
 * @returns a function that adds what depends on where the service runs. `publicUrl` is the URL at which clients reach
 *   the service, without a slash at its end.
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
      'Boards of cards that open editors and this API share. A card written here appears at once on open canvases.',
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
      headers: headerComponents(),
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
      description: 'It needs no token.',
      operationId: 'getOpenapiJson',
      tags: ['Account'],
      security: [],
      responses: {
        ...shared.errors.refer(errorsOfOpen),
        200: {
          description: 'The description.',
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
      'An access token: of a person, made at `/settings`; of a service account; or of a connected application.',
  },
  oauth: {
    type: 'oauth2',
    description:
      'For applications that other people connect. PKCE with S256 is required. Clients register themselves (RFC 7591) or name a metadata document.',
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
