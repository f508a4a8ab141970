/** Counts messages that can't be used, and logs them rarely: whoever sends them may send many. */
import type { Logger } from '../../platform/log.ts'

const logEveryMs = 10_000

export class OddMessages {
  readonly #log: Logger
  /** Messages since the last log line about them. */
  #unlogged = 0
  #loggedAt = -Infinity

  constructor(log: Logger) {
    this.#log = log
  }

  ignored(text: string): void {
    this.#unlogged += 1
    const now = performance.now()
    if (now - this.#loggedAt < logEveryMs) return
    this.#loggedAt = now
    this.#log.warn(
      { ignored: this.#unlogged, text: text.slice(0, 200) },
      'messages between nodes were ignored: they are malformed or of another version',
    )
    this.#unlogged = 0
  }
}
