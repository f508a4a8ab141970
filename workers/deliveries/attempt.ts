/** Makes one attempt: signs a delivery, sends it, and returns the outcome. */
import { randomBytes } from 'node:crypto'
import { limits } from '../../core/limits.ts'
import { traceparent } from '../../core/trace.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { ClaimedDelivery, Outcome } from './delivery.ts'
import { parseRetryAfter } from './retry.ts'
import { signatureHeaders, type Secrets, type SigningKeys } from './sign.ts'

/** Sends one request. Whatever the receiver does, the promise resolves. */
export type Send = (request: {
  url: string
  method: 'POST'
  headers: Record<string, string>
  body: Uint8Array
  timeoutMs: number
  maxAnswerBytes: number
}) => Promise<
  | { outcome: 'answered'; status: number; headers: Record<string, string>; durationMs: number }
  | { outcome: string; error: string; durationMs: number }
>

export interface AttemptOptions {
  clock: Clock
  log: Logger
  send: Send
  /** Returns the keys of a webhook's secret. `sealed` is the encrypted secret. */
  keysOf(sealed: Uint8Array, webhookId: string): SigningKeys
}

const maxAnswerBytes = 64 * 1024
export const plainHeaders = { 'content-type': 'application/json', 'user-agent': 'Corkboard-Webhooks/1.0' }

export async function exchange(options: AttemptOptions, delivery: ClaimedDelivery): Promise<Outcome> {
  const { clock, send, keysOf } = options
  const attemptedAt = clock.now()
  const failed = (error: string): Outcome => ({
    attemptedAt,
    durationMs: 0,
    statusCode: null,
    error,
    retryAfterMs: null,
  })
  let secrets: Secrets
  try {
    secrets = {
      current: keysOf(delivery.secret, delivery.webhookId),
      previous: delivery.previousSecret ? keysOf(delivery.previousSecret, delivery.webhookId) : undefined,
      failuresInARow: delivery.failuresInARow,
    }
  } catch (error) {
    options.log.error({ err: error, webhookId: delivery.webhookId }, 'the secret of a webhook cannot be read')
    return failed('not sent: the secret of this webhook cannot be read')
  }
  const { id, event, payload: body, trace } = delivery
  const timestamp = Math.floor(attemptedAt / 1000)
  const answer = await send({
    url: delivery.url,
    method: 'POST',
    headers: {
      ...signatureHeaders({ id, event, body, timestamp }, secrets),
      ...plainHeaders,
      ...(trace === null ? {} : { traceparent: traceparent(trace, randomBytes(8).toString('hex')) }),
    },
    body,
    timeoutMs: limits.webhooks.attemptMs,
    maxAnswerBytes,
  })
  const { durationMs } = answer
  if (!('status' in answer)) return { ...failed(answer.error), durationMs }
  const { status } = answer
  if (status >= 200 && status < 300)
    return { attemptedAt, durationMs, statusCode: status, error: null, retryAfterMs: null }
  return {
    attemptedAt,
    durationMs,
    statusCode: status,
    error: `answered ${status}`,
    retryAfterMs: parseRetryAfter(answer.headers['retry-after'], clock.now()),
  }
}
