/**
 * Turns for large bodies. A body takes several times its size in memory until its request is answered. So only a bounded
 * number of bytes is let in at once, and accounts take turns. A request without a turn is not read from.
 */
import { ServiceError } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'
import { FairQueue, QueueFull } from '../../../platform/work/fair-queue.ts'

const { bytes, bytesPerAccount, waiting, waitingPerAccount, waitMs } = limits.largeBodies

export class LargeBodies {
  readonly #queue = new FairQueue({
    atOnce: bytes,
    atOncePerAccount: bytesPerAccount,
    waiting,
    waitingPerAccount,
  })

  /**
   * @param units bytes of the body, or as many as it may have
   * @returns a function that gives them back; calling it again does nothing
   * @throws ServiceError `rate_limited` when too many bodies of the account wait, `storage_unavailable` when too many wait
   * in all, or its turn did not come in time
   */
  async take(account: string, units: number): Promise<() => void> {
    try {
      return await this.#queue.take(account, { units, signal: AbortSignal.timeout(waitMs) })
    } catch (error) {
      throw error instanceof QueueFull && error.whose === 'account' ? tooMany() : busy()
    }
  }
}

const tooMany = () =>
  new ServiceError(
    'rate_limited',
    `${waitingPerAccount} other large bodies of this account wait already. Send them one after the other, and retry in 5 seconds.`,
    { retryAfterSeconds: 5 },
  )

const busy = () =>
  new ServiceError(
    'storage_unavailable',
    'The service is busy with other large bodies. Retry in 10 seconds, or send fewer cards at once.',
    { retryAfterSeconds: 10 },
  )
