import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'

const yearSeconds = 365 * 24 * 60 * 60

/**
 * Adds security headers to every answer. Browsers must not guess its type. If PUBLIC_URL is https, browsers use only
 * https for a year.
 */
export function protectAnswers(app: FastifyInstance, { publicUrl }: Pick<Config, 'publicUrl'>): void {
  const isSecure = publicUrl?.startsWith('https://') ?? false
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff')
    if (isSecure) reply.header('strict-transport-security', `max-age=${yearSeconds}`)
    done()
  })
}
