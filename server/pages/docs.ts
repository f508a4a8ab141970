/** `/docs`, outside the API root: the API description in Swagger UI, whose files are served from here. */
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { apiRoot } from '../../api/root.ts'
import { contentSecurityPolicy } from './security.ts'

export async function registerDocs(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy({ script: "'self'", style: "'self'" }),
    theme: { title: 'Corkboard: API' },
    logo: null as never, // its own names its maker
    // Requests that are tried out go to where the page came from: the policy lets them go nowhere else.
    transformSpecification: (description) => ({ ...description, servers: [{ url: apiRoot }] }),
    transformSpecificationClone: false,
    uiConfig: {
      validatorUrl: null, // its default would send the description elsewhere
      deepLinking: true,
      docExpansion: 'list',
      displayRequestDuration: true,
      tryItOutEnabled: true,
      persistAuthorization: false,
    },
  })
}
