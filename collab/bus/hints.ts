/**
 * Sends hints about commits. After a quiet time a hint is sent at once. The next ones are gathered for a moment: each
 * makes every node that has the board open read the log.
 */
import type { Bus } from './bus.ts'

/** Hints in one message. */
const maxHints = 1000

export class Hints {
  readonly #bus: Bus
  /** The newest position of each board. */
  #waiting = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(bus: Bus) {
    this.#bus = bus
  }

  add(boardId: string, seq: number): void {
    this.#waiting.set(boardId, seq)
    if (!this.#timer) this.#send()
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  #send(): void {
    const hints = [...this.#waiting]
    this.#waiting = new Map()
    for (let at = 0; at < hints.length; at += maxHints)
      this.#bus.publish({ kind: 'hint', boards: hints.slice(at, at + maxHints) })
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#waiting.size > 0) this.#send()
    }, this.#bus.pace.hintMs)
  }
}
