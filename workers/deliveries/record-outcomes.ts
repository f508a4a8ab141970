/** Records outcomes of attempts: successes in batches, failures one by one. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import { arrayLiteral as literal } from '../../sql/array-literal.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import type { ClaimedDelivery, Outcome } from './delivery.ts'
import { switchOff, type Webhook } from './switch-off.ts'

export interface RecorderOptions {
  database: Database
  clock: Clock
  log: Logger
  /** Called when this many successes are recorded, or given up. */
  recorded(count: number): void
  isStopped(): boolean
}

interface Success {
  delivery: ClaimedDelivery
  outcome: Outcome
}

/** Successes that one call records. `promise` resolves when they are recorded or given up. */
interface Batch extends PromiseWithResolvers<void> {
  successes: Success[]
}

const batchSize = 400
/** How long a batch that is not full waits for more, because a call costs as much as ten of its rows. */
const gatherMs = 40
const againAfterMs = 250

/**
 * Records outcomes, and tries again until the lease lapses. No other process sends the delivery before that, so a short
 * outage of the database does not repeat attempts.
 */
export class OutcomeRecorder {
  readonly #options: RecorderOptions
  readonly #waiting: Batch[] = []
  /** The batch with the latest unrecorded success of each webhook. */
  readonly #latest = new Map<string, Batch>()
  #isRunning = false

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Returns at once; `recorded` is called when it is recorded or given up. */
  succeeded(delivery: ClaimedDelivery, outcome: Outcome): void {
    let batch = this.#waiting.at(-1)
    if (!batch || batch.successes.length >= batchSize) {
      batch = { successes: [], ...Promise.withResolvers<void>() }
      this.#waiting.push(batch)
    }
    batch.successes.push({ delivery, outcome })
    this.#latest.set(delivery.webhookId, batch)
    if (!this.#isRunning) void this.#run()
  }

  /** @param nextWaitMs null: no attempt is left @throws when the lease lapsed before the failure was recorded */
  async failed(delivery: ClaimedDelivery, outcome: Outcome, nextWaitMs: number | null): Promise<void> {
    // Earlier successes reset the webhook's counter of failures. They must do so before this failure is counted.
    await this.#latest.get(delivery.webhookId)?.promise
    await this.#recordAlone(delivery, outcome, nextWaitMs)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let batch = this.#waiting[0]; batch; batch = this.#waiting[0]) {
      if (batch.successes.length < batchSize) await delay(gatherMs)
      this.#waiting.shift()
      await this.#recordBatch(batch.successes)
      for (const { delivery } of batch.successes)
        if (this.#latest.get(delivery.webhookId) === batch) this.#latest.delete(delivery.webhookId)
      batch.resolve()
    }
    this.#isRunning = false
  }

  async #recordBatch(successes: Success[]): Promise<void> {
    for (let left = successes; left.length > 0; await delay(againAfterMs)) {
      try {
        const leftOut = new Set((await recordSuccesses(this.#options.database, left)).map(({ id }) => id))
        for (const success of left) if (leftOut.has(success.delivery.id)) void this.#recordLeftOut(success)
        return this.#options.recorded(left.length - leftOut.size)
      } catch (error) {
        const again = left.filter(({ delivery }) => this.#mayRetry(delivery))
        if (again.length < left.length) this.#giveUp(error, left.length - again.length)
        left = again
      }
    }
  }

  /** Records a success that the batch left out: its row is deleted, or its lease was lost. */
  async #recordLeftOut({ delivery, outcome }: Success): Promise<void> {
    try {
      await this.#recordAlone(delivery, outcome, null)
      this.#options.recorded(1)
    } catch (error) {
      this.#giveUp(error, 1)
    }
  }

  async #recordAlone(delivery: ClaimedDelivery, outcome: Outcome, nextWaitMs: number | null): Promise<void> {
    const { database, clock } = this.#options
    const id = randomUUID()
    for (;;) {
      try {
        return await recordOutcome(database, clock, delivery, { id, ...outcome }, nextWaitMs)
      } catch (error) {
        if (!this.#mayRetry(delivery)) throw error
        await delay(againAfterMs)
      }
    }
  }

  #mayRetry({ leaseUntil }: ClaimedDelivery): boolean {
    return this.#options.clock.now() < leaseUntil && !this.#options.isStopped()
  }

  #giveUp(error: unknown, count: number): void {
    const message = 'deliveries that succeeded could not be recorded; they are sent again'
    this.#options.log.warn({ err: error, count }, message)
    this.#options.recorded(count)
  }
}

/** @returns the deliveries that it left out; the function in sql/functions/deliveries.sql says which */
function recordSuccesses(database: Database, successes: Success[]): Promise<{ id: string }[]> {
  const webhookIds = [...new Set(successes.map(({ delivery }) => delivery.webhookId))]
  return database.callAsSystem(
    (sql) => sql<{ id: string }[]>`
      select id from record_successes(
        ${webhookIds}::uuid[],
        ${literal(successes.map(({ delivery }) => delivery.id))}::text::uuid[],
        ${literal(successes.map(({ delivery }) => delivery.fence))}::text::bigint[],
        ${literal(successes.map(({ delivery }) => delivery.attempt + 1))}::text::integer[],
        ${literal(successes.map(({ outcome }) => outcome.statusCode!))}::text::integer[],
        ${literal(successes.map(({ outcome }) => outcome.durationMs))}::text::integer[],
        ${literal(successes.map(({ outcome }) => outcome.attemptedAt))}::text::bigint[]
      ) as id`,
  )
}

/**
 * Records one outcome and counts the webhook's failures. If the lease was lost, or the delivery was queued again, the
 * attempt is only logged and counted. A repeated call with the same id changes nothing: the answer to the first call's
 * commit may have been lost.
 */
async function recordOutcome(
  database: Database,
  clock: Clock,
  delivery: ClaimedDelivery,
  outcome: Outcome & { id: string },
  nextWaitMs: number | null,
): Promise<void> {
  const succeeded = outcome.error === null
  const attempt = delivery.attempt + 1
  const retryAt = succeeded || nextWaitMs === null ? null : new Date(clock.now() + nextWaitMs)
  const attemptedAt = new Date(outcome.attemptedAt)
  await database.asSystem(async (tx) => {
    // Locks the webhook before the delivery, as a deletion does. A repeated call waits here for the first one.
    await tx`select from webhooks where id = ${delivery.webhookId} for no key update`
    // The delivery's row stores the success of the lease's holder. Every other attempt gets a row in the log.
    const recorded = await tx`
      with delivery as (
        select id, place, webhook_id, workspace_id, status = 'sending' and fence = ${delivery.fence} as held
        from webhook_deliveries
        where id = ${delivery.id}
        for update
      ), recorded as (
        update webhook_deliveries d
        set status = ${succeeded ? 'succeeded' : retryAt ? 'waiting' : 'given_up'}, attempt = ${attempt},
          next_attempt_at = ${retryAt}, lease_until = null,
          status_code = ${succeeded ? outcome.statusCode : null}, duration_ms = ${succeeded ? outcome.durationMs : null},
          attempted_at = ${succeeded ? attemptedAt : null}
        from delivery
        where d.id = delivery.id and delivery.held
        returning d.id
      ), logged as (
        insert into webhook_attempts (
          id, delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, status_code, duration_ms, error,
          attempted_at
        )
        select ${outcome.id}, id, place, webhook_id, workspace_id, ${attempt}, ${succeeded ? 0 : limits.webhooks.attempts - attempt},
          ${succeeded ? 'succeeded' : retryAt ? 'failed' : 'given_up'}, ${outcome.statusCode}, ${outcome.durationMs}, ${outcome.error},
          ${attemptedAt}
        from delivery
        where not (held and ${succeeded})
        on conflict (id) do nothing
        returning id
      )
      select from recorded
      union all
      select from logged`
    if (recorded.length > 0) await countFailures(tx, delivery.webhookId, outcome.error)
  })
}

/** A success resets the count of failures in a row. A failure raises it, and at the limit switches the webhook off. */
async function countFailures(tx: Transaction, webhookId: string, error: string | null): Promise<void> {
  if (error === null) {
    await tx`update webhooks set failures = 0 where id = ${webhookId} and failures <> 0`
    return
  }
  const [webhook] = await tx<(Webhook & { failures: number; active: boolean })[]>`
    update webhooks
    set failures = failures + 1
    where id = ${webhookId}
    returning id, name, url, workspace_id, failures, active`
  if (!webhook?.active || webhook.failures < limits.webhooks.failuresInARow) return
  await switchOff(tx, webhook, `${webhook.failures} deliveries in a row failed. The last one: ${error}`)
}
