/** The authorization server's answers while the database is unavailable or refuses writes. */
import { errors } from 'oidc-provider'
import { ServiceError } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'

/**
 * The database with errors that the provider understands. For an outage it answers 503 `temporarily_unavailable`, or
 * redirects the browser to the application with that code (RFC 6749, section 4.1.2.1). Any other error is a `server_error`.
 */
export function tellingOutages(database: Database, log: Logger): Pick<Database, 'asSystem'> {
  return {
    asSystem: (work) =>
      database.asSystem(work).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'storage_unavailable') throw error
        log.error({ err: error }, 'OAuth request failed')
        const temporary = new errors.TemporarilyUnavailable(error.message, { cause: error })
        throw Object.assign(temporary, { status: 503, statusCode: 503 })
      }),
  }
}
