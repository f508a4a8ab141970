/** So many at a time for each account; who comes later waits for a turn. */
export class Turns {
  readonly #atOnce: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /** @returns what ends the turn; calling it again does nothing */
  async take(account: string): Promise<() => void> {
    const taken = this.#taken.get(account) ?? 0
    if (taken < this.#atOnce) this.#taken.set(account, taken + 1)
    else {
      await new Promise<void>((resolve) => {
        this.#waiting.set(account, [...(this.#waiting.get(account) ?? []), resolve])
      })
    }
    let ended = false
    return () => {
      if (!ended) this.#pass(account)
      ended = true
    }
  }

  /** The turn goes to who waits longest, or is free. */
  #pass(account: string): void {
    const [next, ...others] = this.#waiting.get(account) ?? []
    if (others.length > 0) this.#waiting.set(account, others)
    else this.#waiting.delete(account)
    if (next) return next()
    const left = (this.#taken.get(account) ?? 1) - 1
    if (left > 0) this.#taken.set(account, left)
    else this.#taken.delete(account)
  }
}
