/** Figures that the database has for all nodes. */
import { setTimeout as delay } from 'node:timers/promises'
import { feedLagMs } from '../../sql/boards/feeds.ts'
import { outboxAgeMs } from '../../sql/boards/outbox.ts'
import type { Database } from '../../sql/database.ts'

export interface DatabaseFigures {
  feedLagMs: number
  outboxAgeMs: number
}

/** Scrapes share the figures for this long, whether they could be read or not. */
const keptMs = 5000
/** A scrape does not wait longer. Prometheus gives up after 10 seconds by default. */
const waitMs = 2000

export class DatabaseFiguresReader {
  readonly #database: Database
  #readAt = -Infinity
  #figures: Promise<DatabaseFigures | null> = Promise.resolve(null)
  /** How often they could not be read in time. */
  failures = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns null when the database does not answer in time. */
  read(): Promise<DatabaseFigures | null> {
    if (performance.now() - this.#readAt >= keptMs) {
      this.#readAt = performance.now()
      this.#figures = this.#readNow()
    }
    return this.#figures
  }

  async #readNow(): Promise<DatabaseFigures | null> {
    // The connection of `/readyz`: its statements are cancelled after 1.2 seconds, and requests don't wait for it.
    const figures = this.#database.asSystem(
      async (tx) => ({ feedLagMs: await feedLagMs(tx), outboxAgeMs: await outboxAgeMs(tx) }),
      'probe',
    )
    const inTime = await Promise.race([figures.catch(() => null), delay(waitMs, null, { ref: false })])
    if (inTime === null) this.failures += 1
    return inTime
  }
}
