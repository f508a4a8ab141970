/** OAuth 2.0 for applications that people connect: the endpoints under /oauth and their metadata under /.well-known. */
import type { FastifyInstance } from 'fastify'
import type { Provider } from 'oidc-provider'
import { limits } from '../../core/limits.ts'
import type { Egress } from '../../platform/egress/egress.ts'
import { deriveKey, openEncryption, type SecretKeys } from '../../platform/secrets/encryption.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { registerPages } from '../sign-in/pages.ts'
import type { Sessions } from '../sign-in/session.ts'
import { consentPages } from './consent.ts'
import { errorPage } from './error-page.ts'
import { registerMetadata } from './metadata.ts'
import { addressAs, currentAddress, mountProvider } from './mount.ts'
import { openProvider } from './provider.ts'

export interface OAuthOptions {
  database: Database
  sessions: Sessions
  egress: Pick<Egress, 'fetch'>
  limiter: RateLimiter
  clock: Clock
  log: Logger
  secretKeys: SecretKeys
  requestsPerHour: number
  /** The URL at which clients reach the service, without a slash at the end. Called only after it listens. */
  publicUrl(): string
}

export async function registerOAuth(app: FastifyInstance, options: OAuthOptions): Promise<void> {
  const { database, limiter, clock, log, secretKeys, publicUrl } = options
  const encryption = openEncryption(secretKeys, 'oauth')
  const keys = {
    cookies: secretKeys.map((secretKey) => deriveKey(secretKey, 'oauth cookies')),
    signing: deriveKey(secretKeys[0], 'oauth signing'),
  }
  let opened: Provider | null = null
  const provider = () =>
    (opened ??= openProvider({
      ...{ database, encryption, clock, keys, log, errorPage },
      publicUrl: publicUrl(),
      egress: options.egress,
      mayFetch: () =>
        limiter.take(currentAddress(), limits.oauth.documentsPerHour, 'client document').allowed,
    }))
  registerMetadata(app, publicUrl)
  await mountProvider(app, {
    ...{ provider, publicUrl, limiter },
    limits: { requests: options.requestsPerHour, registrations: limits.oauth.registrationsPerHour },
  })
  const prepare = (request: Parameters<typeof addressAs>[0]) => addressAs(request, publicUrl())
  await registerPages(app, options, consentPages({ database, provider, prepare }))
}
