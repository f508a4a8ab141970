/**
 * Limits the main-thread time that each account's updates take: a quarter of the time, plus a burst. Ordinary editing
 * takes a thousandth. All minted sessions of an owner share the time of one account, and one of their users has a share of
 * it.
 */
import { limits } from '../../core/limits.ts'
import { payerOf } from '../../platform/work/payers.ts'

/** Measured while an update of 380,000 maps was applied: another account's p99 was 310 ms with 250 ms, and 175 with 125. */
const burstMs = 125
const share = 0.25

export class Pace {
  /** The time that each account has left. It grows until it is full; a full account has no entry. */
  readonly #accounts = new Map<string, { leftMs: number; at: number }>()

  /** Charges an account for time that its updates took. */
  spend(account: string, tookMs: number): void {
    if (this.#accounts.size > 10_000) this.#forget()
    const payer = payerOf(account)
    if (payer !== account) this.#charge(sessionsOf(payer), tookMs)
    this.#charge(account, payer === account ? tookMs : tookMs / limits.sessions.userShare)
  }

  /** Milliseconds until the account's next update may be applied; 0 when it may be applied now. */
  restMs(account: string): number {
    const payer = payerOf(account)
    return payer === account
      ? this.#restMs(account)
      : Math.max(this.#restMs(account), this.#restMs(sessionsOf(payer)))
  }

  #charge(account: string, tookMs: number): void {
    this.#accounts.set(account, { leftMs: this.#leftMs(account) - tookMs, at: performance.now() })
  }

  #restMs(account: string): number {
    const leftMs = this.#leftMs(account)
    return leftMs > 0 ? 0 : Math.ceil((1 - leftMs) / share)
  }

  #leftMs(account: string): number {
    const known = this.#accounts.get(account)
    return known ? Math.min(burstMs, known.leftMs + (performance.now() - known.at) * share) : burstMs
  }

  #forget(): void {
    for (const account of this.#accounts.keys())
      if (this.#leftMs(account) === burstMs) this.#accounts.delete(account)
  }
}

const sessionsOf = (payer: string) => `sessions of ${payer}`
