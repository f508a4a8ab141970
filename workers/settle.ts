/** Writes attempts down: successes together, all that end while a transaction runs, and failures one by one. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import { arrayLiteral as literal } from '../sql/array-literal.ts'
import type { Database } from '../sql/database.ts'
import type { ClaimedDelivery } from './claim.ts'
import { settle, type AttemptResult } from './retry.ts'

interface Ended {
  delivery: ClaimedDelivery
  result: AttemptResult
}

interface Waiting extends Ended {
  resolve(): void
  reject(error: unknown): void
}

export type Settle = (
  delivery: ClaimedDelivery,
  result: AttemptResult,
  nextWaitMs: number | null,
) => Promise<void>

const batch = 400
/** For fewer than a batch, how long others are waited for. A call costs as much as ten rows of it, and takes turns from those who send. */
const gatherMs = 40

export function openSettler(database: Database, clock: Clock): Settle {
  const waiting: Waiting[] = []
  /** The latest success of each webhook that is not written down yet. */
  const latest = new Map<string, Promise<void>>()
  let running = false

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      if (waiting.length < batch) await delay(gatherMs)
      const taken = waiting.splice(0, batch)
      try {
        const leftOut = await settleSuccesses(database, taken)
        for (const one of taken) {
          if (!leftOut.has(one.delivery.id)) one.resolve()
          // Somebody has its row: its webhook is being deleted, or it is queued again.
          else settle(database, clock, one.delivery, one.result, null).then(one.resolve, one.reject)
        }
      } catch (error) {
        for (const one of taken) one.reject(error)
      }
    }
    running = false
  }

  function succeeded(delivery: ClaimedDelivery, result: AttemptResult): Promise<void> {
    const { webhookId } = delivery
    const written = new Promise<void>((resolve, reject) => {
      waiting.push({ delivery, result, resolve, reject })
    })
    latest.set(webhookId, written)
    const forget = () => {
      if (latest.get(webhookId) === written) latest.delete(webhookId)
    }
    void written.then(forget, forget)
    if (!running) void run()
    return written
  }

  return async (delivery, result, nextWaitMs) => {
    if (result.error === null) return succeeded(delivery, result)
    // Successes before it start the counter of failures anew, and must not take this one off it.
    await latest.get(delivery.webhookId)?.catch(() => undefined)
    return settle(database, clock, delivery, result, nextWaitMs)
  }
}

/** @returns those that were not written */
async function settleSuccesses(database: Database, ended: Ended[]): Promise<ReadonlySet<string>> {
  const webhookIds = [...new Set(ended.map(({ delivery }) => delivery.webhookId))]
  const rows = await database.callAsSystem(
    (sql) => sql<{ id: string }[]>`
      select id from settle_successes(
        ${webhookIds}::uuid[],
        ${literal(ended.map(({ delivery }) => delivery.id))}::text::uuid[],
        ${literal(ended.map(({ delivery }) => delivery.fence))}::text::bigint[],
        ${literal(ended.map(({ delivery }) => delivery.attempt + 1))}::text::integer[],
        ${literal(ended.map(({ result }) => result.statusCode!))}::text::integer[],
        ${literal(ended.map(({ result }) => result.durationMs))}::text::integer[],
        ${literal(ended.map(({ result }) => new Date(result.attemptedAt).toISOString()))}::text::timestamptz[]
      ) as id`,
  )
  return new Set(rows.map((row) => row.id))
}
