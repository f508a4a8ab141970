/**
 * Limits the main-thread time that changes of documents take, for each account: a quarter of the time, plus a burst.
 * Ordinary editing takes a thousandth. All minted sessions of an owner share the time of one account, and one of their
 * users has a share of it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../../core/limits.ts'
import { payerOf } from './payers.ts'

/** Only a change that takes longer than this, in milliseconds, counts. An ordinary one takes a tenth of it. */
export const ordinaryMs = 2

/** Measured while an update of 380,000 maps was applied: another account's p99 was 310 ms with 250 ms, and 175 with 125. */
const burstMs = 125
const share = 0.25

export class Pace {
  /** The time that each account has left. It grows until it is full; a full account has no entry. */
  readonly #accounts = new Map<string, { leftMs: number; at: number }>()

  /** Charges an account for time that its changes took. */
  spend(account: string, tookMs: number): void {
    if (this.#accounts.size > 10_000) this.#forget()
    const payer = payerOf(account)
    if (payer !== account) this.#charge(sessionsOf(payer), tookMs)
    this.#charge(account, payer === account ? tookMs : tookMs / limits.sessions.userShare)
  }

  /** Milliseconds until the account's next change may be applied; 0 when it may be applied now. */
  restMs(account: string): number {
    const payer = payerOf(account)
    return payer === account
      ? this.#restMs(account)
      : Math.max(this.#restMs(account), this.#restMs(sessionsOf(payer)))
  }

  /** Waits until the account may go on, and charges it. @returns false, with nothing charged, after `withinMs` */
  async turn(account: string, costMs: number, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs
    for (let ms = this.restMs(account); ms > 0; ms = this.restMs(account)) {
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) return false
      await delay(Math.min(ms, leftMs))
    }
    this.spend(account, costMs)
    return true
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
