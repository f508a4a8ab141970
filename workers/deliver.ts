/** Sends what is due: claims it, signs it, sends it, writes down what came of it. */
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../core/limits.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import { claimDue, takeBackLapsed, type ClaimBounds, type ClaimedDelivery } from './claim.ts'
import type { Reservation } from './fan-out.ts'
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
  /** Slots for deliveries that are about to be queued, so that they need not be claimed first. */
  reserve(): Reservation
}

const defaultBounds: ClaimBounds = { perWebhook: 4, total: 512, failing: 256 }
const maxAnswerBytes = 64 * 1024

export function startDelivering(options: DeliverOptions): Deliverer {
  const { database, clock, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const mostOpen = 2 * bounds.total
  const settleAttempt = openSettler(database, clock)
  /** Being sent, or failed and not yet written down: how a webhook's next ones go depends on that. */
  const byWebhook = new Map<string, number>()
  let total = 0
  /** Until they are written down. */
  const open = new Set<Promise<void>>()
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
      if (total >= bounds.total || open.size >= mostOpen) return // each that ends wakes
      const { claimed, more } = await claimDue(database, clock.now(), bounds, {
        total,
        failing,
        byWebhook,
      })
      for (const delivery of claimed) start(delivery)
      if (more || claimed.length > 0) state.woken = true
    }
  }

  function start(delivery: ClaimedDelivery): void {
    begin(delivery, takeSlot(delivery.webhookId, delivery.failuresInARow > 0))
  }

  function begin(delivery: ClaimedDelivery, giveSlotBack: () => void): void {
    const done = attempt(delivery, giveSlotBack)
      .catch((error: unknown) =>
        log.warn(
          { err: error, deliveryId: delivery.id },
          'an attempt could not be written down; it is made again',
        ),
      )
      .finally(() => {
        open.delete(done)
        if (open.size + 1 >= mostOpen) wake()
      })
    open.add(done)
  }

  /** @returns what gives it back, once */
  function takeSlot(webhookId: string, isFailing: boolean): () => void {
    byWebhook.set(webhookId, (byWebhook.get(webhookId) ?? 0) + 1)
    total += 1
    if (isFailing) failing += 1
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      const left = byWebhook.get(webhookId)! - 1
      if (left > 0) byWebhook.set(webhookId, left)
      else byWebhook.delete(webhookId)
      total -= 1
      if (isFailing) failing -= 1
      wake()
    }
  }

  async function attempt(delivery: ClaimedDelivery, giveSlotBack: () => void): Promise<void> {
    try {
      const result = await exchange(options, delivery)
      if (result.error === null) {
        giveSlotBack() // the next one need not wait for the log
      }
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
    } finally {
      giveSlotBack()
    }
  }

  function reserve(): Reservation {
    const slots = new Map<string, (() => void)[]>()
    const { promise, resolve } = Promise.withResolvers<void>()
    open.add(promise) // a stop waits for it
    const end = () => {
      for (const giveBack of [...slots.values()].flat()) giveBack()
      open.delete(promise)
      resolve()
    }
    return {
      take(webhookId) {
        // What a claim under way takes is not counted yet.
        if (claiming || state.stopped || total >= bounds.total) return false
        if ((byWebhook.get(webhookId) ?? 0) >= bounds.perWebhook) return false
        const taken = slots.get(webhookId) ?? []
        slots.set(webhookId, [...taken, takeSlot(webhookId, false)])
        return true
      },
      start(deliveries) {
        for (const delivery of deliveries) begin(delivery, slots.get(delivery.webhookId)!.pop()!)
        end()
      },
      release: end,
    }
  }

  const loop = startLoop('deliver', options.tickMs ?? 1000, log, async () => {
    await takeBackLapsed(database, clock.now())
    wake()
  })
  return {
    wake,
    reserve,
    async stop() {
      state.stopped = true
      await Promise.all([loop.stop(), claiming])
      while (open.size > 0) await Promise.all(open)
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
