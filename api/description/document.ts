/** The API description, OpenAPI 3.1, from the table of routes and the very schemas that validate requests. */
import { scopeWords } from '../oauth/consent-page.ts'
import { paths } from '../oauth/provider.ts'
import { apiVersion, openapiSummary, templatePath } from '../identity.ts'
import { apiRoot } from '../root.ts'
import { routes } from '../routes.ts'
import { scopes } from '../../sql/tokens.ts'
import { Components } from './components.ts'
import { ErrorResponses, errorsOfOpen } from './errors.ts'
import { describeEvents } from './events.ts'
import { readExamples } from './examples.ts'
import { headerComponents, ofEveryAnswer, refer } from './headers.ts'
import { describeOperation, tags, type Shared } from './operation.ts'

/** @param publicUrl where clients reach the service, without a slash */
export const describeApi = (publicUrl: string): Record<string, unknown> => ({
  ...described,
  servers: [{ url: `${publicUrl}${apiRoot}` }],
  components: { ...described.components, securitySchemes: securitySchemes(publicUrl) },
})

/** What is the same wherever the service runs. Made when the process starts: it takes some 50 ms. */
const described = describe()

function describe() {
  const examples = readExamples()
  const components = new Components()
  const errors = new ErrorResponses(components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Corkboard',
      version: apiVersion,
      description:
        'Boards of cards that open editors and this API share. A card written here appears at once on open canvases.',
      license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
    },
    tags,
    security: [{ token: [] }],
    paths: describePaths({ components, errors, examples: examples.operations }),
    webhooks: describeEvents(components, examples.events),
    components: {
      headers: headerComponents(),
      responses: errors.responses,
      schemas: components.schemas,
    },
  }
}

function describePaths(shared: Shared): Record<string, Record<string, object>> {
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
          content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
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
