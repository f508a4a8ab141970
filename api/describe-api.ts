/** The API description of this service's routes. */
import { describeRoutes } from './description/document.ts'
import { routes } from './routes.ts'

export const describeApi = describeRoutes(routes)
