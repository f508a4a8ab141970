import type { Database } from '../../sql/database.ts'

/** The service under load: one process, or several nodes on one database. */
export interface Site {
  /** Addresses of the service. Any of them serves any board. */
  readonly urls: readonly string[]
  withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T>
}
