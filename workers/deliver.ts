/** Sends what is due: claims it, signs it, sends it, writes down what came of it. */
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../core/limits.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import { claimDue, takeBackLapsed, type ClaimBounds, type ClaimedDelivery } from './claim.ts'
import { startLoop, type Loop } from './loop.ts'
import { signatureHeaders, type Secrets } from './sign.ts'
import { parseRetryAfter, waitAfter, type AttemptResult } from './retry.ts'
import { openSettler } from './settle.ts'

/** What a delivery needs of the way out. It never rejects for what the receiver does. */
export type Send = (request: {
  url: string
  method: 'POST'
  headers: Record<string, string>
  body: string
  timeoutMs: number
  maxAnswerBytes: number
}) => Promise<
  | { outcome: 'answered'; status: number; headers: Record<string, string>; durationMs: number }
  | { outcome: string; error: string; durationMs: number }
>

export interface DeliverOptions {
  database: Database
  clock: Clock
  log: Logger
  send: Send
  /** Decrypts a webhook's secret. */
  openSecret(sealed: Uint8Array, webhookId: string): string
  /** Seconds between attempts. */
  waits: readonly number[]
  /** A random number from 0 to 1: how much of the 10 % is added to a wait. */
  jitter(): number
  bounds?: Partial<ClaimBounds>
  tickMs?: number
}

export interface Deliverer extends Loop {
  /** Deliveries were queued. */
  wake(): void
}

const defaultBounds: ClaimBounds = { perWebhook: 4, total: 512, failing: 256 }
const maxAnswerBytes = 64 * 1024

export function startDelivering(options: DeliverOptions): Deliverer {
  const { database, clock, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const settleAttempt = openSettler(database, clock)
  const byWebhook = new Map<string, number>()
  const sending = new Set<Promise<void>>()
  /** To webhooks whose last delivery had failed. */
  let failing = 0
  let claiming: Promise<void> | null = null
  const state = { woken: false, stopped: false }

  function wake(): void {
    state.woken = true
    if (claiming || state.stopped) return
    claiming = claim()
      .catch((error: unknown) => log.warn({ err: error }, 'deliveries wait: they could not be claimed'))
      .finally(() => {
        claiming = null
        if (state.woken) wake()
      })
  }

  async function claim(): Promise<void> {
    while (state.woken && !state.stopped) {
      state.woken = false
      if (sending.size >= bounds.total) return // each that ends wakes
      const { claimed, more } = await claimDue(database, clock.now(), bounds, {
        total: sending.size,
        failing,
        byWebhook,
      })
      for (const delivery of claimed) start(delivery)
      if (more || claimed.length > 0) state.woken = true
    }
  }

  function start(delivery: ClaimedDelivery): void {
    const { webhookId } = delivery
    byWebhook.set(webhookId, (byWebhook.get(webhookId) ?? 0) + 1)
    if (delivery.failuresInARow > 0) failing += 1
    const done = attempt(delivery)
      .catch((error: unknown) =>
        log.warn(
          { err: error, deliveryId: delivery.id },
          'an attempt could not be written down; it is made again',
        ),
      )
      .finally(() => {
        const left = byWebhook.get(webhookId)! - 1
        if (left > 0) byWebhook.set(webhookId, left)
        else byWebhook.delete(webhookId)
        if (delivery.failuresInARow > 0) failing -= 1
        sending.delete(done)
        wake()
      })
    sending.add(done)
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    const result = await exchange(options, delivery)
    const waitMs = waitAfter(delivery.attempt + 1, options.waits, result.retryAfterMs, options.jitter())
    // Until the lease lapses nobody else sends it, so that a database that is away for a moment doubles nothing.
    for (;;) {
      try {
        return await settleAttempt(delivery, result, waitMs)
      } catch (error) {
        if (clock.now() >= delivery.leaseUntil || state.stopped) throw error
        await delay(250)
      }
    }
  }

  const loop = startLoop('deliver', options.tickMs ?? 1000, log, async () => {
    await takeBackLapsed(database, clock.now())
    wake()
  })
  return {
    wake,
    async stop() {
      state.stopped = true
      await Promise.all([loop.stop(), claiming])
      await Promise.all(sending)
    },
  }
}

async function exchange(options: DeliverOptions, delivery: ClaimedDelivery): Promise<AttemptResult> {
  const { clock, send, openSecret } = options
  const attemptedAt = clock.now()
  const failed = (error: string): AttemptResult => ({
    attemptedAt,
    durationMs: 0,
    statusCode: null,
    error,
    retryAfterMs: null,
  })
  let secrets: Secrets
  try {
    secrets = {
      current: openSecret(delivery.secret, delivery.webhookId),
      previous: delivery.previousSecret ? openSecret(delivery.previousSecret, delivery.webhookId) : undefined,
      failuresInARow: delivery.failuresInARow,
    }
  } catch (error) {
    options.log.error({ err: error, webhookId: delivery.webhookId }, 'the secret of a webhook cannot be read')
    return failed('not sent: the secret of this webhook cannot be read')
  }
  const { id, event, payload: body } = delivery
  const timestamp = Math.floor(attemptedAt / 1000)
  const answer = await send({
    url: delivery.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Corkboard-Webhooks/1.0',
      ...signatureHeaders({ id, event, body, timestamp }, secrets),
    },
    body,
    timeoutMs: limits.webhooks.attemptMs,
    maxAnswerBytes,
  })
  const { durationMs } = answer
  if (!('status' in answer)) return { ...failed(answer.error), durationMs }
  const { status } = answer
  return {
    attemptedAt,
    durationMs,
    statusCode: status,
    error: status >= 200 && status < 300 ? null : `answered ${status}`,
    retryAfterMs: parseRetryAfter(answer.headers['retry-after'], clock.now()),
  }
}
