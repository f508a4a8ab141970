/** What follows an attempt: it is logged, the delivery is done, waits or is given up, and the webhook's failures are counted. */
import { limits } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../sql/database.ts'
import { switchOff, type ClaimedDelivery } from './claim.ts'

export interface AttemptResult {
  attemptedAt: number
  durationMs: number
  statusCode: number | null
  /** Null: it succeeded. */
  error: string | null
  /** The receiver's `Retry-After`, in milliseconds. */
  retryAfterMs: number | null
}

/** A sixth attempt has none to wait for. @param waits seconds between attempts @param jitter 0 to 1 */
export function waitAfter(
  attempt: number,
  waits: readonly number[],
  retryAfterMs: number | null,
  jitter: number,
): number | null {
  const seconds = waits[attempt - 1]
  if (seconds === undefined || attempt >= limits.webhooks.attempts) return null
  const waitMs = seconds * 1000 * (1 + jitter / 10)
  const longestMs = Math.max(waitMs, (waits[attempt] ?? seconds) * 1000)
  return Math.round(Math.max(waitMs, Math.min(retryAfterMs ?? 0, longestMs)))
}

/** RFC 9110, 10.2.3: seconds or a date. Null when it is neither. */
export function parseRetryAfter(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/**
 * Writes down an attempt. When the lease was lost meanwhile, or the delivery was queued again, the attempt is logged and
 * counted, and decides nothing else.
 */
export async function settle(
  database: Database,
  clock: Clock,
  delivery: ClaimedDelivery,
  result: AttemptResult,
  nextWaitMs: number | null,
): Promise<void> {
  const succeeded = result.error === null
  const attempt = delivery.attempt + 1
  const retryAt = succeeded || nextWaitMs === null ? null : new Date(clock.now() + nextWaitMs)
  const outcome = succeeded ? 'succeeded' : retryAt ? 'failed' : 'given_up'
  await database.asSystem(async (tx) => {
    // The webhook's row before the delivery's, as who deletes a webhook takes them.
    if (succeeded) {
      await tx`update webhooks set failures = 0 where id = ${delivery.webhookId} and failures <> 0`
    } else {
      const [webhook] = await tx<{ id: string; name: string; url: string; workspace_id: string; failures: number; active: boolean }[]>`
        update webhooks
        set failures = failures + 1
        where id = ${delivery.webhookId}
        returning id, name, url, workspace_id, failures, active` // prettier-ignore
      if (webhook?.active && webhook.failures >= limits.webhooks.failuresInARow) {
        const reason = `${webhook.failures} deliveries in a row failed. The last one: ${result.error}`
        await switchOff(tx, webhook, reason)
      }
    }
    if (delivery.flight)
      await tx`select land_deliveries(array[${delivery.id}::uuid], array[${delivery.flight.place}::bigint])`
    await tx`
      with delivery as (
        select id, webhook_id, workspace_id, status = 'sending' and fence = ${delivery.fence} as held
        from webhook_deliveries
        where id = ${delivery.id}
        for update
      ), settled as (
        update webhook_deliveries d
        set status = ${succeeded ? 'succeeded' : retryAt ? 'waiting' : 'given_up'}, attempt = ${attempt},
          next_attempt_at = ${retryAt}, lease_until = null
        from delivery
        where d.id = delivery.id and delivery.held
      )
      insert into webhook_attempts (
        delivery_id, webhook_id, workspace_id, attempt, attempts_left, status, status_code, duration_ms, error, attempted_at
      )
      select id, webhook_id, workspace_id, ${attempt}, ${succeeded ? 0 : limits.webhooks.attempts - attempt}, ${outcome},
        ${result.statusCode}, ${result.durationMs}, ${result.error}, ${new Date(result.attemptedAt)}
      from delivery`
  })
  if (delivery.flight) delivery.flight.open -= 1
}
