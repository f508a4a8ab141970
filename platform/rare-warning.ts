/** A warning that is logged at most every 10 s, with the number of times that it applied since its last line. */
import type { Logger } from './log.ts'

const logEveryMs = 10_000

export class RareWarning {
  readonly #log: Logger
  readonly #text: string
  #unlogged = 0
  #loggedAt = -Infinity

  constructor(log: Logger, text: string) {
    this.#log = log
    this.#text = text
  }

  add(fields: object, times = 1): void {
    this.#unlogged += times
    const now = performance.now()
    if (now - this.#loggedAt < logEveryMs) return
    this.#loggedAt = now
    this.#log.warn({ ...fields, times: this.#unlogged }, this.#text)
    this.#unlogged = 0
  }
}
