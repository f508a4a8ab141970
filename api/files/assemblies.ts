/**
 * Lets requests assemble files from their parts. The disk store copies all bytes for this. So a file is assembled once at
 * a time, over all processes, and a process assembles few files together.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import type { Database, Lock } from '../../sql/database.ts'

/** How long a request waits for its turn, and then for another assembly of its file. */
export const assemblyWait = { ms: 30_000, pollMs: 250 }

const waitingPerAccount = 32
export const assemblies = new FairQueue({ atOnce: 8, atOncePerAccount: 2, waiting: 200, waitingPerAccount })

const underWay = new Map<string, Promise<unknown>>()

export interface Assembly<Result> {
  account: string
  /** Key of the file. */
  key: string
  /** Requests with equal `content` share one call of `work`, and its result. */
  content: unknown
  work(): Promise<Result>
}

/** @throws ServiceError `rate_limited`, `storage_unavailable`; what `work` throws */
export function assembleOnce<Result>(database: Database, assembly: Assembly<Result>): Promise<Result> {
  const name = `${assembly.key} ${JSON.stringify(assembly.content)}`
  const begin = () => inTurn(database, assembly).finally(() => underWay.delete(name))
  return underWay.getOrInsertComputed(name, begin) as Promise<Result>
}

async function inTurn<Result>(database: Database, { account, key, work }: Assembly<Result>): Promise<Result> {
  const end = await takeTurn(account)
  try {
    const lock = await takeLock(database, `assembly of ${key}`)
    try {
      return await work()
    } finally {
      await lock.release()
    }
  } finally {
    end()
  }
}

async function takeTurn(account: string): Promise<() => void> {
  try {
    return await assemblies.take(account, { signal: AbortSignal.timeout(assemblyWait.ms) })
  } catch (error) {
    throw error instanceof QueueFull && error.whose === 'account' ? tooMany() : busy()
  }
}

async function takeLock(database: Database, name: string): Promise<Lock> {
  const endsAt = performance.now() + assemblyWait.ms
  for (;;) {
    const lock = await database.lock(name)
    if (lock) return lock
    if (performance.now() >= endsAt) throw busyElsewhere()
    await delay(assemblyWait.pollMs)
  }
}

const retryAfterSeconds = 10
const tooMany = () =>
  new ServiceError(
    'rate_limited',
    `${waitingPerAccount} other uploads of this account are waiting to be completed. Retry in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  )
const busy = () =>
  new ServiceError(
    'storage_unavailable',
    `The service is busy with completing other uploads. Retry in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  )
const busyElsewhere = () =>
  new ServiceError(
    'storage_unavailable',
    `Another request is completing this upload. Retry in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  )
