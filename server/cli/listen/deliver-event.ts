/** Delivers an event to a program on this machine, as a webhook does: the same body, headers and signature. */
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../../../core/limits.ts'
import { plainHeaders } from '../../../workers/deliveries/attempt.ts'
import { signatureHeaders, signingKeys } from '../../../workers/deliveries/sign.ts'
import type { FollowedEvent } from './follow-events.ts'

/** The waits between the attempts: as many attempts as a webhook makes, but a developer is not kept waiting. */
const waitsMs = [1000, 2000, 4000, 8000, 16_000]

export interface Attempt {
  attempt: number
  /** Null when there was no answer. */
  status: number | null
  duration_ms: number
  error?: string
}

export interface Target {
  url: string
  secret: string
  /** Called after each attempt. */
  tried(attempt: Attempt): void
}

/** Delivers until the program answers 2xx, at most six times. */
export async function deliverEvent(event: FollowedEvent, target: Target): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now()
    const outcome = await post(event, target)
    const duration_ms = Math.round(performance.now() - startedAt)
    target.tried({ attempt, duration_ms, ...outcome })
    const waitMs = waitsMs[attempt - 1]
    const isDelivered = outcome.status !== null && outcome.status >= 200 && outcome.status < 300
    if (isDelivered || waitMs === undefined) return
    await delay(waitMs)
  }
}

async function post({ id, type, data }: FollowedEvent, { url, secret }: Target) {
  const body = Buffer.from(data)
  const delivery = { id, event: type, body, timestamp: Math.floor(Date.now() / 1000) }
  const signed = signatureHeaders(delivery, { current: signingKeys(secret), failuresInARow: 0 })
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...signed, ...plainHeaders },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(limits.webhooks.attemptMs),
    })
    await answer.body?.cancel()
    return { status: answer.status }
  } catch (error) {
    const { message, cause } = error as Error
    return { status: null, error: cause instanceof Error ? cause.message || message : message }
  }
}
