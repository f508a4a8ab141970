/** Rate limits of one account across all its sockets, as token buckets. */
import { limits } from '../../core/limits.ts'
import { Incoming } from '../../platform/work/incoming.ts'
import { Unread } from '../../platform/work/unread.ts'

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
  /** Unread bytes in memory of all sockets of an account, or of all sessions and guests of an owner. */
  maxAccountUnreadBytes: number
  /**
   * Bytes in memory of what all sockets of an account, or of all sessions and guests of an owner, have sent: of frames that
   * are not whole yet, and of large frames until they are applied. One user of the sessions has a share of that.
   */
  maxAccountIncomingBytes: number
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
    if (this.#left <= 0) this.#fill()
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
 * those of their owner, guests those of their link, which share those of the owner.
 */
export class Rates {
  readonly shared: Rates | undefined
  readonly awareness: Bucket
  readonly queries: Bucket
  readonly frames: Bucket
  readonly unread: Unread
  readonly incoming: Incoming

  constructor(bounds: RateBounds, shared?: Rates, incomingShare = 1) {
    const { awarenessRate, queryRate, frameRate, maxAccountUnreadBytes, maxAccountIncomingBytes } = bounds
    this.unread = shared?.unread ?? new Unread(maxAccountUnreadBytes)
    this.incoming = new Incoming(maxAccountIncomingBytes * incomingShare, shared?.incoming)
    this.shared = shared
    this.awareness = new Bucket(awarenessRate, shared?.awareness)
    this.queries = new Bucket(queryRate, shared?.queries)
    this.frames = new Bucket(frameRate, shared?.frames)
  }

  get areFull(): boolean {
    return (
      this.awareness.isFull &&
      this.queries.isFull &&
      this.frames.isFull &&
      this.unread.isEmpty &&
      this.incoming.isEmpty
    )
  }
}

/** All sessions and guests of an owner together may use as much as this number of accounts, and those of a link. */
const accountsOfOwner = 10
const accountsOfLink = accountsOfOwner * limits.guests.linkShare

export class RatesByOwner {
  readonly #bounds: RateBounds
  readonly #ofOwner: RateBounds
  readonly #ofLink: RateBounds
  readonly #rates = new Map<string, Rates>()

  constructor(bounds: RateBounds) {
    this.#bounds = bounds
    this.#ofOwner = times(bounds, accountsOfOwner)
    this.#ofLink = times(bounds, accountsOfLink)
  }

  /**
   * @param payer for the user of a session, and for a guest: the owner of the workspace
   * @param link for a guest: the link
   */
  of(account: string, payer: string | null = null, link: string | null = null): Rates {
    const ofOwner = payer === null ? undefined : this.#of(`sessions of ${payer}`, this.#ofOwner)
    const shared = link === null ? ofOwner : this.#of(`link ${link}`, this.#ofLink, ofOwner)
    return this.#of(account, this.#bounds, shared, payer === null ? 1 : limits.sessions.userShare)
  }

  #of(name: string, bounds: RateBounds, shared?: Rates, incomingShare?: number): Rates {
    return this.#rates.getOrInsertComputed(name, () => new Rates(bounds, shared, incomingShare))
  }

  /** Removes buckets that are full and not in `used`. */
  sweep(used: ReadonlySet<Rates>): void {
    const shared = new Set([...used].flatMap((rates) => [rates.shared, rates.shared?.shared]))
    for (const [owner, rates] of this.#rates)
      if (!used.has(rates) && !shared.has(rates) && rates.areFull) this.#rates.delete(owner)
  }
}

function times({ awarenessRate, queryRate, frameRate, ...others }: RateBounds, accounts: number): RateBounds {
  const each = ({ perSecond, burst }: Rate): Rate => ({
    perSecond: perSecond * accounts,
    burst: burst * accounts,
  })
  return {
    ...others,
    ...{ awarenessRate: each(awarenessRate), queryRate: each(queryRate), frameRate: each(frameRate) },
  }
}
