/**
 * Serves the API description in Swagger UI at `/docs`, outside the API root. The service hosts all files of Swagger UI.
 */
import { readFile } from 'node:fs/promises'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { describeApi } from '../../api/describe-api.ts'
import { apiRoot } from '../../api/http/root.ts'
import { icon } from './icon.ts'

/** The page loads only what the service itself serves. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export async function registerDocs(app: FastifyInstance): Promise<void> {
  const read = (name: string) => readFile(new URL(`docs/${name}`, import.meta.url), 'utf8')
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    theme: {
      title: 'API reference · Corkboard',
      css: [{ filename: 'corkboard.css', content: await read('corkboard.css') }],
      js: [{ filename: 'corkboard.js', content: await read('corkboard.js') }],
      favicon: [{ filename: 'icon.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: icon }],
    },
    logo: null as never, // the default is the logo of Swagger
    // "Try it out" sends its requests to the page's own origin, because the policy allows no other.
    transformSpecification: () => ({ ...describeApi(app.publicUrl()), servers: [{ url: apiRoot }] }),
    transformSpecificationClone: false,
    uiConfig: {
      layout: 'BaseLayout', // without the top bar and logo of Swagger UI; corkboard.js adds our own bar
      plugins: [accessibleParts],
      validatorUrl: null, // the default sends the description to another site
      deepLinking: true,
      docExpansion: 'list',
      displayRequestDuration: true,
      tryItOutEnabled: true,
      persistAuthorization: false,
    } as never,
  })
}

/**
 * A plugin for Swagger UI, which is sent to the browser as source text. Swagger UI puts links inside buttons, where
 * screen readers and keyboards cannot reach them. The plugin replaces such a link with its text. Opening an operation
 * still puts its address into the URL.
 */
function accessibleParts(this: never, system: { React: { createElement(...parts: unknown[]): unknown } }) {
  const { React } = system
  return {
    wrapComponents: {
      DeepLink: () => (shown: { text: unknown }) => React.createElement('span', null, shown.text),
    },
  }
}
