/** Turns for what reads many boards at once. */
import { ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import type { Database, Transaction } from '../../sql/database.ts'

/**
 * Lists and trees of boards that are read, or wait for it. A page far out reads all boards before it, of which an account may
 * have a million, and a tree has 50,000. So an account reads few at once, and all together leave connections to other
 * requests.
 */
export const boardLists = new FairQueue({
  ...{ atOnce: 8, atOncePerAccount: 2 },
  ...{ waiting: 1000, waitingPerAccount: 100 },
})
const turnMs = 5000

/** @throws ServiceError `storage_unavailable` when the turn does not come in time; what `work` throws */
export async function readInTurn<T>(
  database: Database,
  userId: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(turnMs)
  const end = await boardLists.take(userId, { signal }).catch((error: unknown) => {
    if (!signal.aborted && !(error instanceof QueueFull)) throw error
    throw new ServiceError(
      'storage_unavailable',
      'Too many lists and trees of boards are being read. Send fewer at the same time. Try again in a few seconds.',
      { cause: error },
    )
  })
  try {
    return await database.asUser(userId, work)
  } finally {
    end()
  }
}
