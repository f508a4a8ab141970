/** What look-ups of tokens came to, by their hashes: so that a stranger's token costs a look-up once, or none. */

/** A token that is not known now is not looked up again for so long. */
const unknownMs = 10_000
/** A token that was valid is looked up for so long wherever it comes from. */
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

  isUnknown(hash: string, now: number): boolean {
    return now - (this.#unknown.get(hash) ?? -Infinity) < unknownMs
  }

  wasValid(hash: string, now: number): boolean {
    return now - (this.#valid.get(hash) ?? -Infinity) < validMs
  }
}

/** What was remembered longest ago goes first. */
function remember(times: Map<string, number>, hash: string, now: number): void {
  times.delete(hash)
  times.set(hash, now)
  if (times.size > mostOfEach) times.delete(times.keys().next().value!)
}
