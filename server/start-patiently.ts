/** Starts the service also when its database is not there yet, as when both start at the same time. */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../core/errors.ts'
import type { Logger } from '../platform/log.ts'
import { isUnavailable } from '../sql/database.ts'
import { describeFault } from './describe-fault.ts'

const retryMs = 500

export interface Patience {
  withinMs: number
  log: Logger
  isStopping(): boolean
}

/**
 * Calls `start` again while the database, or the file store, is out of reach.
 *
 * @throws the error of the last attempt, after `withinMs` or when the process stops
 */
export async function startPatiently<T>(
  start: () => Promise<T>,
  { withinMs, log, isStopping }: Patience,
): Promise<T> {
  const until = performance.now() + withinMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (!isAway(error) || performance.now() >= until) throw error
      if (attempt === 0)
        log.warn({ reason: describeFault(error) }, `not started yet; trying again for ${withinMs / 1000} s`)
      await delay(retryMs)
      if (isStopping()) throw error
    }
  }
}

const isAway = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof ServiceError && error.code === 'storage_unavailable')
