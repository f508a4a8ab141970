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
  readonly #shared: Bucket | undefined
  #left: number
  #at = performance.now()

  /** @param shared a bucket of several accounts, from which the same is taken */
  constructor(rate: Rate, shared?: Bucket) {
    this.#rate = rate
    this.#shared = shared
    this.#left = rate.burst
  }

  take(cost = 1): boolean {
    this.#fill()
    if (this.#left <= 0 || this.#shared?.take(cost) === false) return false
    this.#left -= cost
    return true
  }

  /** Charges for work that is already done. The bucket may go into debt. */
  spend(cost: number): void {
    this.#fill()
    this.#left -= cost
    this.#shared?.spend(cost)
  }

  /** Milliseconds until `take` succeeds. */
  get waitMs(): number {
    this.#fill()
    const ownMs = this.#left > 0 ? 0 : 1 + (-this.#left / this.#rate.perSecond) * 1000
    return Math.max(ownMs, this.#shared?.waitMs ?? 0)
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

/**
 * The buckets of one account, or of one address from which nobody has authenticated yet. Users of minted sessions share
 * those of the owner's sessions.
 */
export class Rates {
  readonly shared: Rates | undefined
  readonly awareness: Bucket
  readonly queries: Bucket
  readonly frames: Bucket

  constructor({ awarenessRate, queryRate, frameRate }: RateBounds, shared?: Rates) {
    this.shared = shared
    this.awareness = new Bucket(awarenessRate, shared?.awareness)
    this.queries = new Bucket(queryRate, shared?.queries)
    this.frames = new Bucket(frameRate, shared?.frames)
  }

  get areFull(): boolean {
    return this.awareness.isFull && this.queries.isFull && this.frames.isFull
  }
}

/** All sessions of an owner together may use as much as this number of accounts. */
const accountsOfSessions = 10

export class RatesByOwner {
  readonly #bounds: RateBounds
  readonly #ofSessions: RateBounds
  readonly #rates = new Map<string, Rates>()

  constructor(bounds: RateBounds) {
    const { awarenessRate, queryRate, frameRate } = bounds
    const times = ({ perSecond, burst }: Rate): Rate => ({
      perSecond: perSecond * accountsOfSessions,
      burst: burst * accountsOfSessions,
    })
    this.#bounds = bounds
    this.#ofSessions = {
      awarenessRate: times(awarenessRate),
      queryRate: times(queryRate),
      frameRate: times(frameRate),
    }
  }

  /** @param payer for the user of a session: the owner of the workspace */
  of(owner: string, payer: string | null = null): Rates {
    const shared =
      payer === null
        ? undefined
        : this.#rates.getOrInsertComputed(`sessions of ${payer}`, () => new Rates(this.#ofSessions))
    return this.#rates.getOrInsertComputed(owner, () => new Rates(this.#bounds, shared))
  }

  /** Removes buckets that are full and not in `used`. */
  sweep(used: ReadonlySet<Rates>): void {
    const shared = new Set([...used].map((rates) => rates.shared))
    for (const [owner, rates] of this.#rates)
      if (!used.has(rates) && !shared.has(rates) && rates.areFull) this.#rates.delete(owner)
  }
}
