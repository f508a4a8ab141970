import type { Database } from '../../sql/database.ts'
import type { EventWatch } from './event-watch.ts'

/** The service under load: one process, or several nodes on one database. */
export interface Site {
  /** The address of the service: that of the process, or of the balancer. */
  readonly url: string
  /** Addresses of nodes that some of the load uses past the balancer. Any of them serves any board. */
  readonly nodeUrls: readonly string[]
  /** A request without an answer for this long counts as hung. */
  readonly answersWithinMs: number
  /** Receives the events of all loads. Null: events are not checked. */
  readonly events: EventWatch | null
  withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T>
}
