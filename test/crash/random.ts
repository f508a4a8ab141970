/** Random choices from a seed, so that a round can be repeated. Only its timing differs each time. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a number from 0 to 1, excluding 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Returns a whole number from `from` to `to`, excluding `to`. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from))
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length)]!
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }
}
