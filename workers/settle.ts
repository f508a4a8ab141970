/** Writes attempts down: successes together, all that end while a transaction runs, and failures one by one. */
import type { Clock } from '../platform/clock.ts'
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

const batch = 200

export function openSettler(database: Database, clock: Clock): Settle {
  const waiting: Waiting[] = []
  let running = false

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      const taken = waiting.splice(0, batch)
      try {
        const written = await settleSuccesses(database, taken)
        for (const one of taken) {
          if (written.has(one.delivery.id)) one.resolve()
          // Somebody has its row: its webhook is being deleted, or it is queued again.
          else settle(database, clock, one.delivery, one.result, null).then(one.resolve, one.reject)
        }
      } catch (error) {
        for (const one of taken) one.reject(error)
      }
    }
    running = false
  }

  return (delivery, result, nextWaitMs) => {
    if (result.error !== null) return settle(database, clock, delivery, result, nextWaitMs)
    return new Promise((resolve, reject) => {
      waiting.push({ delivery, result, resolve, reject })
      if (!running) void run()
    })
  }
}

/** @returns those that were written; rows that somebody else has are left out, so that nobody waits for another in a circle */
async function settleSuccesses(database: Database, ended: Ended[]): Promise<ReadonlySet<string>> {
  const webhookIds = [...new Set(ended.map(({ delivery }) => delivery.webhookId))]
  const rows = await database.asSystem(async (tx) => {
    const [, written] = await Promise.all([
      // The webhooks' rows before the deliveries', in the order of their ids.
      tx`
        update webhooks
        set failures = 0
        where id in (
          select id from webhooks where id = any (${webhookIds}::uuid[]) and failures <> 0 order by id for update
        )`,
      tx<{ delivery_id: string }[]>`
        with ended as (
          select *
          from unnest(
            ${ended.map(({ delivery }) => delivery.id)}::uuid[],
            ${ended.map(({ delivery }) => delivery.fence)}::bigint[],
            ${ended.map(({ delivery }) => delivery.attempt + 1)}::integer[],
            ${ended.map(({ result }) => result.statusCode)}::integer[],
            ${ended.map(({ result }) => result.durationMs)}::integer[],
            ${ended.map(({ result }) => new Date(result.attemptedAt).toISOString())}::text[]
          ) as e(id, fence, attempt, status_code, duration_ms, attempted_at)
        ), held as (
          select d.id, d.webhook_id, d.workspace_id, d.status, d.fence
          from webhook_deliveries d
          where d.id in (select id from ended)
          for update skip locked
        ), settled as (
          update webhook_deliveries d
          set status = 'succeeded', attempt = e.attempt, next_attempt_at = null, lease_until = null
          from held h
          join ended e on e.id = h.id and e.fence = h.fence
          where d.id = h.id and h.status = 'sending'
        )
        insert into webhook_attempts (
          delivery_id, webhook_id, workspace_id, attempt, attempts_left, status, status_code, duration_ms, attempted_at
        )
        select h.id, h.webhook_id, h.workspace_id, e.attempt, 0, 'succeeded', e.status_code, e.duration_ms, e.attempted_at::timestamptz
        from held h
        join ended e on e.id = h.id
        returning delivery_id`,
    ])
    return written
  })
  return new Set(rows.map((row) => row.delivery_id))
}
