/** Rate limits over a sliding hour. They are exact: the time of each request is kept for an hour. */
import { network } from '../../platform/client-address.ts'
import type { Clock } from '../../platform/clock.ts'

export interface RateFigures {
  limit: number
  remaining: number
  /** When the oldest counted request is an hour old, in Unix seconds. */
  reset: number
}

export interface RateDecision extends RateFigures {
  allowed: boolean
  /** Seconds until `reset`. */
  resetAfter: number
  /** Seconds until the next request is allowed; at least 1. */
  retryAfter: number
  /** The same as Unix milliseconds. */
  retryAtMs: number
}

const hourMs = 3_600_000

/** A ring buffer of times, oldest first. */
export class RequestTimes {
  #times = new Float64Array(16)
  #first = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  get oldest(): number | null {
    return this.#count > 0 ? this.#times[this.#first]! : null
  }

  /** The time with index `n`, from the oldest. */
  at(n: number): number {
    return this.#times[(this.#first + n) % this.#times.length]!
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

  removeLatest(): void {
    if (this.#count > 0) this.#count -= 1
  }
}

/**
 * Limits requests by client address; token-limiter.ts limits them by token. Each process counts for itself, because a
 * request without a token must not cost a database write. So n processes allow up to n times the limit.
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #most: number
  /** Least recently seen first. */
  readonly #keys = new Map<string, RequestTimes>()
  #sweptAt = 0

  /** @param most the number of addresses to keep. Beyond it, the least recently seen is removed */
  constructor(clock: Clock, most = 100_000) {
    this.#clock = clock
    this.#most = most
  }

  /** Counts a request, unless it is over the limit. @param what the class of requests; default: API requests */
  take(address: string, limit: number, what = ''): RateDecision {
    const now = this.#clock.now()
    this.#sweep(now)
    const key = keyOf(address, what)
    const times = this.#keys.get(key) ?? new RequestTimes()
    this.#keys.delete(key)
    this.#keys.set(key, times)
    if (this.#keys.size > this.#most) this.#keys.delete(this.#keys.keys().next().value!)
    times.forget(now - hourMs)
    const allowed = times.count < limit
    if (allowed) times.add(now)
    return decide([times], limit, now, allowed)
  }

  /** Whether a request would be allowed. Counts nothing. */
  hasRoom(address: string, limit: number, what = ''): boolean {
    const times = this.#keys.get(keyOf(address, what))
    times?.forget(this.#clock.now() - hourMs)
    return (times?.count ?? 0) < limit
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

const keyOf = (address: string, what: string) => `${what} ${network(address)}`

/** The decision's figures, from several lists of request times. */
export function decide(lists: RequestTimes[], limit: number, now: number, allowed: boolean): RateDecision {
  const count = lists.reduce((sum, list) => sum + list.count, 0)
  const resetMs = (oldest(lists, 0) ?? now) + hourMs
  // If the limit was lowered meanwhile, several requests must become an hour old first.
  const retryAtMs = (oldest(lists, Math.max(0, count - limit)) ?? now) + hourMs
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - count),
    reset: Math.ceil(resetMs / 1000),
    resetAfter: Math.ceil((resetMs - now) / 1000),
    retryAfter: Math.max(1, Math.ceil((retryAtMs - now) / 1000)),
    retryAtMs,
  }
}

/** The time that exactly `before` times of all lists precede; null when there are fewer. */
function oldest(lists: RequestTimes[], before: number): number | null {
  const next = lists.map(() => 0)
  for (let n = 0; ; n++) {
    let first = -1
    for (const [at, list] of lists.entries()) {
      if (next[at]! >= list.count) continue
      if (first < 0 || list.at(next[at]!) < lists[first]!.at(next[first]!)) first = at
    }
    if (first < 0) return null
    const time = lists[first]!.at(next[first]!)
    if (n === before) return time
    next[first]! += 1
  }
}
