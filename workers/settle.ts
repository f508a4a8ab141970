/**
 * Writes down successes many at a time: one call is under way, the next takes all that came meanwhile. Alone, each would
 * cost a transaction, which is more than sending it.
 */
import type { Database } from '../sql/database.ts'
import type { ClaimedDelivery } from './claim.ts'
import type { AttemptResult } from './retry.ts'

export interface Success {
  delivery: ClaimedDelivery
  result: AttemptResult
}

/** @returns writes down one success; rejects when that failed, for all that were in the same call */
export function gatherSuccesses(database: Database): (success: Success) => Promise<void> {
  let waiting: (Success & { resolve(): void; reject(error: unknown): void })[] = []
  let running = false

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await writeDown(database, batch)
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (success) =>
    new Promise((resolve, reject) => {
      waiting.push({ ...success, resolve, reject })
      // All that ends in this turn of the event loop goes together.
      if (!running) {
        running = true
        setImmediate(() => void run())
      }
    })
}

async function writeDown(database: Database, batch: Success[]): Promise<void> {
  const webhooks = [...new Set(batch.map(({ delivery }) => delivery.webhookId))].sort()
  await database.asSystem(async (tx) => {
    // The webhooks' rows before the deliveries', as who deletes a webhook takes them.
    await Promise.all([
      tx`
        with failed as (
          select id from webhooks where id = any (${webhooks}::uuid[]) and failures <> 0 order by id for no key update
        )
        update webhooks w set failures = 0 from failed where w.id = failed.id`,
      tx`
        with results as (
          select *
          from unnest(
            ${batch.map(({ delivery }) => delivery.id)}::uuid[],
            ${batch.map(({ delivery }) => delivery.fence)}::bigint[],
            ${batch.map(({ delivery }) => delivery.attempt + 1)}::integer[],
            ${batch.map(({ result }) => result.statusCode)}::integer[],
            ${batch.map(({ result }) => result.durationMs)}::integer[],
            ${batch.map(({ result }) => new Date(result.attemptedAt).toISOString())}::text[]
          ) as r(id, fence, attempt, status_code, duration_ms, attempted_at)
        ), delivery as (
          select d.id, d.webhook_id, d.workspace_id, d.status = 'sending' and d.fence = r.fence as held,
            r.attempt, r.status_code, r.duration_ms, r.attempted_at::timestamptz as attempted_at
          from results r
          join webhook_deliveries d on d.id = r.id
          order by d.id
          for update of d
        ), settled as (
          update webhook_deliveries d
          set status = 'succeeded', attempt = s.attempt, next_attempt_at = null, lease_until = null
          from delivery s
          where d.id = s.id and s.held
        )
        insert into webhook_attempts (
          delivery_id, webhook_id, workspace_id, attempt, attempts_left, status, status_code, duration_ms, error, attempted_at
        )
        select id, webhook_id, workspace_id, attempt, 0, 'succeeded', status_code, duration_ms, null, attempted_at
        from delivery`,
    ])
  })
}
