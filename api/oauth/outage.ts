/** What the authorization server answers while the database is away or takes no writes. */
import { errors } from 'oidc-provider'
import { ServiceError } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'

/**
 * The database with errors that the provider can show: of an outage it makes 503 `temporarily_unavailable`, or sends
 * the browser back to the application with that code (RFC 6749, section 4.1.2.1). Others would be `server_error`.
 */
export function tellingOutages(database: Database, log: Logger): Pick<Database, 'asSystem'> {
  return {
    asSystem: (work) =>
      database.asSystem(work).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'storage_unavailable') throw error
        log.error({ err: error }, 'a request for authorization failed')
        const told = new errors.TemporarilyUnavailable(error.message, { cause: error })
        throw Object.assign(told, { status: 503, statusCode: 503 })
      }),
  }
}
