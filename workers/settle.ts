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

/** Written down together; resolves with those that could not be. */
interface Batch extends PromiseWithResolvers<ReadonlySet<string>> {
  ended: Ended[]
}

export type Settle = (
  delivery: ClaimedDelivery,
  result: AttemptResult,
  nextWaitMs: number | null,
) => Promise<void>

const batchSize = 400
/** For fewer than a batch, how long others are waited for. A call costs as much as ten rows of it, and takes turns from those who send. */
const gatherMs = 40

export function openSettler(database: Database, clock: Clock): Settle {
  const waiting: Batch[] = []
  /** Those with the latest success of each webhook that is not written down yet. */
  const latest = new Map<string, Batch>()
  let running = false

  async function run(): Promise<void> {
    running = true
    for (let batch = waiting[0]; batch; batch = waiting[0]) {
      if (batch.ended.length < batchSize) await delay(gatherMs)
      waiting.shift()
      await write(batch)
    }
    running = false
  }

  async function write(batch: Batch): Promise<void> {
    const webhookIds = [...new Set(batch.ended.map(({ delivery }) => delivery.webhookId))]
    try {
      batch.resolve(await settleSuccesses(database, webhookIds, batch.ended))
    } catch (error) {
      batch.reject(error)
    }
    for (const id of webhookIds) if (latest.get(id) === batch) latest.delete(id)
  }

  async function succeeded(delivery: ClaimedDelivery, result: AttemptResult): Promise<void> {
    let batch = waiting.at(-1)
    if (!batch || batch.ended.length >= batchSize) {
      batch = { ended: [], ...Promise.withResolvers<ReadonlySet<string>>() }
      waiting.push(batch)
    }
    batch.ended.push({ delivery, result })
    latest.set(delivery.webhookId, batch)
    if (!running) void run()
    const leftOut = await batch.promise
    // Somebody else has its row: its webhook is being deleted, or it is queued again.
    if (leftOut.has(delivery.id)) await settle(database, clock, delivery, result, null)
  }

  return async (delivery, result, nextWaitMs) => {
    if (result.error === null) return succeeded(delivery, result)
    // Successes before it start the counter of failures anew, and must not take this one off it.
    await latest.get(delivery.webhookId)?.promise.catch(() => undefined)
    return settle(database, clock, delivery, result, nextWaitMs)
  }
}

/** @returns those that were not written */
async function settleSuccesses(
  database: Database,
  webhookIds: string[],
  ended: Ended[],
): Promise<ReadonlySet<string>> {
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
