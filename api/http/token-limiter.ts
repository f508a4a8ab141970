/**
 * Limits requests by token, over all processes. A process takes a lease on a number of requests from the database, and the
 * next lease when that is used up. So it does not write for each request. No token ever exceeds its limit. With one
 * process the figures are exact. The unused part of another process's lease counts as used: at most a twentieth of the
 * limit per process, by which a request may be refused too early.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { settleLease, takeLease, type UsedLease } from '../../sql/requests/rate-leases.ts'
import { RequestTimes, decide, type RateDecision } from './rate-limit.ts'

const windowMs = 3_600_000
/** Lifetime of a lease. If a process crashes, its unused requests count as used until an hour after the lease's end. */
const leaseMs = 300_000
const largestLease = 1000

interface TokenHour {
  /** Id under which this process takes leases for the token. */
  holder: string
  /** Requests that this process allowed in the last hour. */
  own: RequestTimes
  /** Requests that other processes allowed, as of the last read from the database. */
  others: RequestTimes
  lease: (UsedLease & { left: number; until: number }) | null
  /** Size of the next lease. It starts small, and doubles after each lease that was used up. */
  want: number
  taking: Promise<void> | null
  /** The limit is reached: until then the database is not queried again. */
  fullUntil: number
}

export class TokenLimiter {
  readonly #options: { database: Database; clock: Clock; log: Logger }
  readonly #tokens = new Map<string, TokenHour>()
  #sweptAt = 0

  constructor(options: { database: Database; clock: Clock; log: Logger }) {
    this.#options = options
  }

  /** Counts a request, unless it is over the limit. @throws ServiceError `storage_unavailable` */
  async take(tokenId: string, limit: number): Promise<RateDecision> {
    for (;;) {
      const now = this.#options.clock.now()
      this.#sweep(now)
      const hour = this.#hourOf(tokenId)
      hour.own.forget(now - windowMs)
      hour.others.forget(now - windowMs)
      const { lease } = hour
      if (lease && lease.left > 0 && now < lease.until && hour.own.count + hour.others.count < limit) {
        lease.left -= 1
        lease.used.push(now)
        hour.own.add(now)
        return decide([hour.own, hour.others], limit, now, true)
      }
      if (now < hour.fullUntil) return decide([hour.own, hour.others], limit, now, false)
      hour.taking ??= this.#lease(tokenId, hour, limit).finally(() => (hour.taking = null))
      await hour.taking
    }
  }

  /** Uncounts a request. If its lease has ended, the request stays counted. */
  refund(tokenId: string): void {
    const hour = this.#tokens.get(tokenId)
    if (!hour?.lease || hour.lease.used.length === 0) return
    hour.lease.used.pop()
    hour.lease.left += 1
    hour.own.removeLatest()
  }

  async #lease(tokenId: string, hour: TokenHour, limit: number): Promise<void> {
    const { database, clock } = this.#options
    const now = clock.now()
    const before = hour.lease
    const most = Math.max(1, Math.min(largestLease, Math.floor(limit / 20)))
    hour.want = before?.left === 0 ? Math.min(most, hour.want * 2) : Math.min(most, hour.want)
    const id = randomUUID()
    const { permits, others } = await database.asSystem((tx) =>
      takeLease(tx, {
        tokenId,
        holder: hour.holder,
        own: hour.own.count,
        id,
        now,
        windowMs,
        leaseMs,
        limit,
        want: hour.want,
        before,
      }),
    )
    hour.others = new RequestTimes()
    for (const [at, count] of others) for (let n = 0; n < count; n++) hour.others.add(at)
    hour.lease = permits > 0 ? { id, used: [], left: permits, until: now + leaseMs } : null
    // Other processes may return unused requests, so it asks again after a second.
    const { retryAtMs } = decide([hour.own, hour.others], limit, now, false)
    hour.fullUntil = permits > 0 ? 0 : Math.min(retryAtMs, now + 1000)
  }

  #hourOf(tokenId: string): TokenHour {
    return this.#tokens.getOrInsertComputed(tokenId, () => {
      const none = { lease: null, want: 1, taking: null, fullUntil: 0 }
      return { holder: randomUUID(), own: new RequestTimes(), others: new RequestTimes(), ...none }
    })
  }

  /** Returns the unused requests of all leases, so that the next process can use them. */
  async giveBack(): Promise<void> {
    const leases = [...this.#tokens.values()].flatMap(({ lease }) => lease ?? [])
    this.#tokens.clear()
    await this.#giveBack(leases)
  }

  async #giveBack(leases: UsedLease[]): Promise<void> {
    try {
      for (let at = 0; at < leases.length; at += 500)
        await this.#options.database.asSystem(async (tx) => {
          for (const lease of leases.slice(at, at + 500)) await settleLease(tx, lease)
        })
    } catch (error) {
      this.#options.log.warn({ err: error }, 'returning rate-limit leases failed')
    }
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < 60_000) return
    this.#sweptAt = now
    const ended: [string, TokenHour][] = []
    for (const [tokenId, hour] of this.#tokens) {
      if (hour.taking || (hour.lease && now < hour.lease.until)) continue
      if (hour.lease) ended.push([tokenId, hour])
      else this.#tokens.delete(tokenId)
    }
    if (ended.length === 0) return
    // A request that arrives meanwhile waits. Otherwise the unused part of its own lease would count as used.
    const givenBack = this.#giveBack(ended.map(([, { lease }]) => lease!)).then(() => {
      for (const [tokenId] of ended) this.#tokens.delete(tokenId)
    })
    for (const [, hour] of ended) hour.taking = givenBack
  }
}
