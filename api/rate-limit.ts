/** Requests in the last hour, exactly: each one's time is kept until it leaves the hour. Counted in this process. */
import type { Clock } from '../platform/clock.ts'

export interface RateFigures {
  limit: number
  remaining: number
  /** Unix seconds when the oldest counted request leaves the hour. */
  reset: number
}

export interface RateDecision extends RateFigures {
  allowed: boolean
  /** Seconds until there is room again; at least 1. */
  retryAfter: number
}

const hourMs = 3_600_000

/** Times in a ring, oldest first. */
class RequestTimes {
  #times = new Float64Array(16)
  #first = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  get oldest(): number | null {
    return this.#count > 0 ? this.#times[this.#first]! : null
  }

  forget(before: number): void {
    while (this.#count > 0 && this.#times[this.#first]! <= before) {
      this.#first = (this.#first + 1) % this.#times.length
      this.#count -= 1
    }
  }

  add(time: number): void {
    if (this.#count === this.#times.length) {
      const grown = new Float64Array(this.#count * 2)
      for (let n = 0; n < this.#count; n++) grown[n] = this.#times[(this.#first + n) % this.#count]!
      this.#times = grown
      this.#first = 0
    }
    this.#times[(this.#first + this.#count) % this.#times.length] = time
    this.#count += 1
  }
}

export class RateLimiter {
  readonly #clock: Clock
  readonly #keys = new Map<string, RequestTimes>()
  #sweptAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a request, unless it is over the limit. */
  take(key: string, limit: number): RateDecision {
    const now = this.#clock.now()
    this.#sweep(now)
    let times = this.#keys.get(key)
    if (!times) this.#keys.set(key, (times = new RequestTimes()))
    times.forget(now - hourMs)
    const allowed = times.count < limit
    if (allowed) times.add(now)
    const resetMs = (times.oldest ?? now) + hourMs
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - times.count),
      reset: Math.ceil(resetMs / 1000),
      retryAfter: Math.max(1, Math.ceil((resetMs - now) / 1000)),
    }
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < 60_000) return
    this.#sweptAt = now
    for (const [key, times] of this.#keys) {
      times.forget(now - hourMs)
      if (times.count === 0) this.#keys.delete(key)
    }
  }
}
