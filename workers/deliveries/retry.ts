/** The wait before the next attempt. */
import { limits } from '../../core/limits.ts'

/** Milliseconds until the next attempt; null after the last one. @param waits seconds between attempts @param jitter 0 to 1 */
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

/** Milliseconds of a `Retry-After` (RFC 9110, 10.2.3: seconds or a date). Null when it is neither. */
export function parseRetryAfter(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
