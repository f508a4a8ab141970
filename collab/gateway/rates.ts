/** How much one account may have done for it on all its sockets together: token buckets. */

export interface Rate {
  perSecond: number
  /** How much may be spent at once after a quiet time. */
  burst: number
}

export interface RateBounds {
  /**
   * Awareness that is read and sent for an account, in units of about 50 µs: 1 for reading a small frame, more for
   * sending it to many. What is over waits as one newest frame for each connection.
   */
  awarenessRate: Rate
  /** Questions (SyncStep1, QueryAwareness) that are answered. What is over waits, and its socket with it. */
  queryRate: Rate
  /** Awareness frames, questions, pings and pongs that are taken off the wire. What is over waits, unread. */
  frameRate: Rate
}

/** A token bucket. Its last token pays for any cost: the debt is paid back before the next one. */
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

  /** For what is done already: the bucket may be left in debt. */
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
    let rates = this.#rates.get(owner)
    if (!rates) this.#rates.set(owner, (rates = new Rates(this.#bounds)))
    return rates
  }

  /** Forgets those that nobody uses and that have spent nothing lately. */
  sweep(used: ReadonlySet<Rates>): void {
    for (const [owner, rates] of this.#rates) if (!used.has(rates) && rates.areFull) this.#rates.delete(owner)
  }
}
