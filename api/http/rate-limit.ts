/** Requests in the last hour, exactly: each one's time is kept until it leaves the hour. */
import ipaddr from 'ipaddr.js'
import type { Clock } from '../../platform/clock.ts'

export interface RateFigures {
  limit: number
  remaining: number
  /** Unix seconds when the oldest counted request leaves the hour. */
  reset: number
}

export interface RateDecision extends RateFigures {
  allowed: boolean
  /** Seconds until `reset`. */
  resetAfter: number
  /** Seconds until there is room again; at least 1. And when that is, in milliseconds. */
  retryAfter: number
  retryAtMs: number
}

const hourMs = 3_600_000

/** Times in a ring, oldest first. */
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

  /** Of the requests that count, the oldest first. */
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
 * Of addresses; of tokens see token-limiter.ts. Each process counts its own: what anybody can send without a token must
 * not cost a write. So n processes let through up to n times the limit.
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #most: number
  /** Seen longest ago first. */
  readonly #keys = new Map<string, RequestTimes>()
  #sweptAt = 0

  /** @param most addresses that are kept; beyond that those seen longest ago are forgotten */
  constructor(clock: Clock, most = 100_000) {
    this.#clock = clock
    this.#most = most
  }

  /** Counts a request, unless it is over the limit. @param what else than a request of the API is counted */
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

  /** Whether a request would be let through. Counts nothing. */
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

const keyOf = (address: string, what: string) => `${what} ${networkOf(address)}`

/** Whoever has one address of IPv6 has 2^64 of them. */
function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address) // an IPv4 address that is mapped into IPv6 is that
  return parsed.kind() === 'ipv4' ? parsed.toString() : (parsed as ipaddr.IPv6).parts.slice(0, 4).join(':')
}

/** The figures of an hour, whose requests are given by several lists. */
export function decide(lists: RequestTimes[], limit: number, now: number, allowed: boolean): RateDecision {
  const count = lists.reduce((sum, list) => sum + list.count, 0)
  const resetMs = (oldest(lists, 0) ?? now) + hourMs
  // Where the limit was lowered meanwhile, more than one have to leave.
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

/** The time that so many come before. */
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
