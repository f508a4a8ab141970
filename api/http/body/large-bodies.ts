/**
 * A fair queue for large bodies. A body takes several times its size in memory until its request is answered. So the
 * number of bytes at once is limited, and accounts take turns. The body of a waiting request is not read.
 */
import { ServiceError } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'
import { FairQueue, QueueFull } from '../../../platform/work/fair-queue.ts'

const { bytes, bytesPerAccount, waiting, waitingPerAccount, waitMs } = limits.largeBodies

export class LargeBodies {
  /** Its units are bytes. */
  readonly queue = new FairQueue({
    atOnce: bytes,
    atOncePerAccount: bytesPerAccount,
    waiting,
    waitingPerAccount,
  })

  /**
   * @param units bytes of the body; the route's limit when its size is unknown
   * @returns a function that releases them; calling it again does nothing
   * @throws ServiceError `rate_limited` when too many bodies of the account wait; `storage_unavailable` when too many wait
   * in total, or this one waited too long
   */
  async take(account: string, units: number): Promise<() => void> {
    try {
      return await this.queue.take(account, { units, signal: AbortSignal.timeout(waitMs) })
    } catch (error) {
      throw error instanceof QueueFull && error.whose === 'account' ? tooMany() : busy()
    }
  }
}

const tooMany = () =>
  new ServiceError(
    'rate_limited',
    `${waitingPerAccount} other large bodies of this account are waiting. Send one at a time, and retry in 5 seconds.`,
    { retryAfterSeconds: 5 },
  )

const busy = () =>
  new ServiceError(
    'storage_unavailable',
    'The service is busy with other large bodies. Retry in 10 seconds, or send fewer cards at once.',
    { retryAfterSeconds: 10 },
  )
