/** Rate limits of one account across all its sockets, as token buckets. */

export interface Rate {
  perSecond: number
  /** How much may be spent at once after a quiet time. */
  burst: number
}

export interface RateBounds {
  /**
   * Reading and sending awareness, in units of about 50 µs. Reading a small frame costs 1; sending to many sockets
   * costs more. Above the rate, each connection keeps only its newest frame.
   */
  awarenessRate: Rate
  /** Answering questions (SyncStep1, QueryAwareness). Above the rate the question waits, and its socket is not read. */
  queryRate: Rate
  /** Reading awareness frames, questions, pings and pongs. Above the rate the socket is not read. */
  frameRate: Rate
}

/**
 * A token bucket. `take` succeeds while any token is left, whatever the cost; the debt must refill before the next one.
 */
export class Bucket {
  readonly #rate: Rate
  #left: number
  #at = performance.now()

  constructor(rate: Rate) {
    this.#rate = rate
    this.#left = rate.burst
  }

  take(cost = 1): boolean {
    this.#fill()
    if (this.#left <= 0) return false
    this.#left -= cost
    return true
  }

  /** Charges for work that is already done. The bucket may go into debt. */
  spend(cost: number): void {
    this.#fill()
    this.#left -= cost
  }

  /** Milliseconds until `take` succeeds. */
  get waitMs(): number {
    this.#fill()
    return this.#left > 0 ? 0 : 1 + (-this.#left / this.#rate.perSecond) * 1000
  }

  get isFull(): boolean {
    this.#fill()
    return this.#left === this.#rate.burst
  }

  #fill(): void {
    const now = performance.now()
    this.#left = Math.min(this.#rate.burst, this.#left + ((now - this.#at) / 1000) * this.#rate.perSecond)
    this.#at = now
  }
}

/** The buckets of one account, or of one address from which nobody has authenticated yet. */
export class Rates {
  readonly awareness: Bucket
  readonly queries: Bucket
  readonly frames: Bucket

  constructor(bounds: RateBounds) {
    this.awareness = new Bucket(bounds.awarenessRate)
    this.queries = new Bucket(bounds.queryRate)
    this.frames = new Bucket(bounds.frameRate)
  }

  get areFull(): boolean {
    return this.awareness.isFull && this.queries.isFull && this.frames.isFull
  }
}

export class RatesByOwner {
  readonly #bounds: RateBounds
  readonly #rates = new Map<string, Rates>()

  constructor(bounds: RateBounds) {
    this.#bounds = bounds
  }

  of(owner: string): Rates {
    return this.#rates.getOrInsertComputed(owner, () => new Rates(this.#bounds))
  }

  /** Removes buckets that are full and not in `used`. */
  sweep(used: ReadonlySet<Rates>): void {
    for (const [owner, rates] of this.#rates) if (!used.has(rates) && rates.areFull) this.#rates.delete(owner)
  }
}
