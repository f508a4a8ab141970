/** `/docs`, outside the API root: the API description in Swagger UI, whose files are served from here. */
import { readFile } from 'node:fs/promises'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { describeApi } from '../../api/describe-api.ts'
import { apiRoot } from '../../api/http/root.ts'
import { icon } from './icon.ts'
import { contentSecurityPolicy } from './security.ts'

export async function registerDocs(app: FastifyInstance): Promise<void> {
  const read = (name: string) => readFile(new URL(`docs/${name}`, import.meta.url), 'utf8')
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy({ script: "'self'", style: "'self'" }),
    theme: {
      title: 'API reference · Corkboard',
      css: [{ filename: 'corkboard.css', content: await read('corkboard.css') }],
      js: [{ filename: 'corkboard.js', content: await read('corkboard.js') }],
      favicon: [{ filename: 'icon.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: icon }],
    },
    logo: null as never, // its own names its maker
    // Requests that are tried out go to where the page came from: the policy lets them go nowhere else.
    transformSpecification: () => ({ ...describeApi(app.publicUrl()), servers: [{ url: apiRoot }] }),
    transformSpecificationClone: false,
    uiConfig: {
      layout: 'BaseLayout', // without the viewer's own bar and logo; corkboard.js puts a bar of ours there
      plugins: [accessibleParts],
      validatorUrl: null, // its default would send the description elsewhere
      deepLinking: true,
      docExpansion: 'list',
      displayRequestDuration: true,
      tryItOutEnabled: true,
      persistAuthorization: false,
    } as never,
  })
}

/**
 * A plugin of Swagger UI, sent to the browser as text. The viewer puts links into buttons, which screen readers and
 * keyboards cannot reach. The text alone stays there; opening an operation still writes its address into the URL.
 */
function accessibleParts(this: never, system: { React: { createElement(...parts: unknown[]): unknown } }) {
  const { React } = system
  return {
    wrapComponents: {
      DeepLink: () => (shown: { text: unknown }) => React.createElement('span', null, shown.text),
    },
  }
}
