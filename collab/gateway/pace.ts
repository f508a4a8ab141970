/**
 * How much time of the main thread each account's updates may take: a second for every four, and a burst above that.
 * Ordinary editing takes a thousandth.
 */
const burstMs = 250
const share = 0.25

export class Pace {
  /** What each account has left. It grows with time; who has all of it is not here. */
  readonly #accounts = new Map<string, { leftMs: number; at: number }>()

  /** An account's updates took this long. */
  spend(account: string, tookMs: number): void {
    if (this.#accounts.size > 10_000) this.#forget()
    this.#accounts.set(account, { leftMs: this.#leftMs(account) - tookMs, at: performance.now() })
  }

  /** How long an account has to rest before its next update is applied; 0 for not at all. */
  restMs(account: string): number {
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
