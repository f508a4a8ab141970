/** Remembers results of token look-ups, by the token's hash. So an invalid token causes at most one look-up. */

/** How long an unknown token is not looked up again. */
const unknownMs = 10_000
/** How long after its last success a token is always looked up, even if its client may look up no other. */
const validMs = 60 * 60 * 1000
const mostOfEach = 20_000

export class SeenTokens {
  readonly #valid = new Map<string, number>()
  readonly #unknown = new Map<string, number>()

  found(hash: string, now: number): void {
    this.#unknown.delete(hash)
    remember(this.#valid, hash, now)
  }

  missed(hash: string, now: number): void {
    this.#valid.delete(hash)
    remember(this.#unknown, hash, now)
  }

  /** Forgets which tokens are unknown. One of them may have become valid again. */
  forgetUnknown(): void {
    this.#unknown.clear()
  }

  isUnknown(hash: string, now: number): boolean {
    return now - (this.#unknown.get(hash) ?? -Infinity) < unknownMs
  }

  wasValid(hash: string, now: number): boolean {
    return now - (this.#valid.get(hash) ?? -Infinity) < validMs
  }
}

/** Stores an entry, and removes the oldest one when the map is full. */
function remember(times: Map<string, number>, hash: string, now: number): void {
  times.delete(hash)
  times.set(hash, now)
  if (times.size > mostOfEach) times.delete(times.keys().next().value!)
}
