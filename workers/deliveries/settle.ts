/** Writes attempts down: successes together, all that end while a transaction runs, and failures one by one. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import { arrayLiteral as literal } from '../../sql/array-literal.ts'
import type { Database } from '../../sql/database.ts'
import type { ClaimedDelivery, Flight } from './claim.ts'
import { settle, type AttemptResult } from './retry.ts'

/**
 * Until the lease lapses nobody else sends a delivery: as long as that an attempt is written down again, so that a
 * database that is away for a moment doubles nothing.
 */
export interface Settler {
  /** Comes to an end in any case; `written` hears of it. */
  succeeded(delivery: ClaimedDelivery, result: AttemptResult): void
  /** @throws when it could not be written down */
  failed(delivery: ClaimedDelivery, result: AttemptResult, nextWaitMs: number | null): Promise<void>
}

export interface SettlerOptions {
  database: Database
  clock: Clock
  log: Logger
  /** So many successes are written down, or given up. */
  written(count: number): void
  isStopped(): boolean
}

interface Ended {
  delivery: ClaimedDelivery
  result: AttemptResult
}

/** Written down together; resolves when they are, or could not be. */
interface Batch extends PromiseWithResolvers<void> {
  ended: Ended[]
}

const batchSize = 400
/** For fewer than a batch, how long others are waited for. A call costs as much as ten rows of it, and takes turns from those who send. */
const gatherMs = 40
const againAfterMs = 250

export function openSettler({ database, clock, log, written, isStopped }: SettlerOptions): Settler {
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
      for (const { delivery } of batch.ended)
        if (latest.get(delivery.webhookId) === batch) latest.delete(delivery.webhookId)
      batch.resolve()
    }
    running = false
  }

  async function write({ ended }: Batch): Promise<void> {
    const flown = ended.filter(({ delivery }) => delivery.flight !== null)
    const queued = ended.filter(({ delivery }) => delivery.flight === null)
    await Promise.all([writeAll(flown, settleFlown), writeAll(queued, settleQueued)])
  }

  async function writeAll(ended: Ended[], settleAll: SettleAll): Promise<void> {
    if (ended.length === 0) return
    try {
      const ids = new Set((await settleAll(database, ended)).map(({ id }) => id))
      for (const one of ended) {
        if (ids.has(one.delivery.id)) void writeAlone(one)
        else if (one.delivery.flight) one.delivery.flight.open -= 1
      }
      written(ended.length - ids.size)
    } catch (error) {
      const again = ended.filter(({ delivery }) => mayRetry(delivery))
      if (again.length < ended.length) giveUp(error, ended.length - again.length)
      if (again.length > 0) setTimeout(() => again.forEach(add), againAfterMs)
    }
  }

  /** Somebody else has its row: its webhook is being deleted, or it is queued again. */
  async function writeAlone({ delivery, result }: Ended): Promise<void> {
    try {
      await failed(delivery, result, null)
      written(1)
    } catch (error) {
      giveUp(error, 1)
    }
  }

  function giveUp(error: unknown, count: number): void {
    log.warn(
      { err: error, count },
      'deliveries that succeeded could not be written down; they are sent again',
    )
    written(count)
  }

  function add(one: Ended): void {
    let batch = waiting.at(-1)
    if (!batch || batch.ended.length >= batchSize) {
      batch = { ended: [], ...Promise.withResolvers<void>() }
      waiting.push(batch)
    }
    batch.ended.push(one)
    latest.set(one.delivery.webhookId, batch)
    if (!running) void run()
  }

  const mayRetry = ({ leaseUntil }: ClaimedDelivery) => clock.now() < leaseUntil && !isStopped()

  async function failed(delivery: ClaimedDelivery, result: AttemptResult, nextWaitMs: number | null) {
    for (;;) {
      try {
        return await settle(database, clock, delivery, result, nextWaitMs)
      } catch (error) {
        if (!mayRetry(delivery)) throw error
        await delay(againAfterMs)
      }
    }
  }

  return {
    succeeded: (delivery, result) => add({ delivery, result }),
    async failed(delivery, result, nextWaitMs) {
      // Successes before it start the counter of failures anew, and must not take this one off it.
      await latest.get(delivery.webhookId)?.promise
      await failed(delivery, result, nextWaitMs)
    },
  }
}

/** @returns those that were not written */
type SettleAll = (database: Database, ended: Ended[]) => PromiseLike<{ id: string }[]>

const settleFlown: SettleAll = (database, ended) => {
  const counts = new Map<Flight, number>()
  for (const { delivery } of ended) counts.set(delivery.flight!, (counts.get(delivery.flight!) ?? 0) + 1)
  const last = [...counts].filter(([flight, count]) => flight.open === count).map(([flight]) => flight.place)
  return database.callAsSystem(
    (sql) => sql<{ id: string }[]>`
      select id from settle_flown(
        ${webhooksOf(ended)}::uuid[],
        ${literal(ended.map(({ delivery }) => delivery.flight!.place))}::text::bigint[],
        ${literal(ended.map(({ delivery }) => delivery.nth))}::text::integer[],
        ${literal(ended.map(({ result }) => result.statusCode!))}::text::integer[],
        ${literal(ended.map(({ result }) => result.durationMs))}::text::integer[],
        ${literal(ended.map(({ result }) => result.attemptedAt))}::text::bigint[],
        ${literal(last)}::text::bigint[]
      ) as id`,
  )
}

const settleQueued: SettleAll = (database, ended) =>
  database.callAsSystem(
    (sql) => sql<{ id: string }[]>`
      select id from settle_successes(
        ${webhooksOf(ended)}::uuid[],
        ${literal(ended.map(({ delivery }) => delivery.id))}::text::uuid[],
        ${literal(ended.map(({ delivery }) => delivery.fence))}::text::bigint[],
        ${literal(ended.map(({ delivery }) => delivery.attempt + 1))}::text::integer[],
        ${literal(ended.map(({ result }) => result.statusCode!))}::text::integer[],
        ${literal(ended.map(({ result }) => result.durationMs))}::text::integer[],
        ${literal(ended.map(({ result }) => result.attemptedAt))}::text::bigint[]
      ) as id`,
  )

const webhooksOf = (ended: Ended[]) => [...new Set(ended.map(({ delivery }) => delivery.webhookId))]
