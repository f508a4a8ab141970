/** Boards that could not be opened. They are refused for a while without another look. */
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../../platform/clock.ts'

/** The reason for a refusal that is only temporary. */
export const temporaryRefusal = 'service unavailable'

/** A log that took too long to merge is tried again after this time. */
export const costlyRetryMs = 600_000
/** And a board that did not fit into memory after this time. */
const noMemoryRetryMs = 2000

const maxRefused = 10_000

export class Refusals {
  readonly #clock: Clock
  readonly #refused = new Map<string, { until: number; error: ServiceError }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why a board is refused now; null when it is not. */
  find(boardId: string): ServiceError | null {
    const refused = this.#refused.get(boardId)
    if (refused && refused.until > this.#clock.now()) return refused.error
    this.#refused.delete(boardId)
    return null
  }

  costly(boardId: string, cause: unknown): Error {
    return this.#refuse(boardId, tooCostly(cause), costlyRetryMs)
  }

  noMemory(boardId: string, error: ServiceError): Error {
    return this.#refuse(boardId, error, noMemoryRetryMs)
  }

  #refuse(boardId: string, error: ServiceError, forMs: number): Error {
    if (this.#refused.size >= maxRefused) this.#refused.clear()
    this.#refused.set(boardId, { until: this.#clock.now() + forMs, error })
    return Object.assign(error, { reason: temporaryRefusal })
  }
}

export function tooCostly(cause: unknown): ServiceError {
  return new ServiceError(
    'session_unavailable',
    'The live document of this board takes too long to open. Try again in ten minutes.',
    { cause },
  )
}
