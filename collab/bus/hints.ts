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
  #isDue = false
  #sentAt = -Infinity

  constructor(bus: Bus) {
    this.#bus = bus
  }

  add(boardId: string, seq: number): void {
    this.#waiting.set(boardId, seq)
    if (this.#timer) return
    // A timer that nothing waits for would wake the process once for each hint.
    const leftMs = this.#sentAt + this.#bus.pace.hintMs - performance.now()
    if (leftMs > 0) this.#timer = setTimeout(() => this.#send(), leftMs)
    else if (!this.#isDue) {
      this.#isDue = true
      process.nextTick(() => this.#send()) // a question that replaces it is asked in the same tick
    }
  }

  /** Drops the hint of a position that the other nodes learn from another message. */
  replaced(boardId: string, seq: number): void {
    if ((this.#waiting.get(boardId) ?? Infinity) <= seq) this.#waiting.delete(boardId)
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  #send(): void {
    this.#timer = null
    this.#isDue = false
    if (this.#waiting.size === 0) return
    this.#sentAt = performance.now()
    const hints = [...this.#waiting]
    this.#waiting = new Map()
    for (let at = 0; at < hints.length; at += maxHints)
      this.#bus.publish({ kind: 'hint', boards: hints.slice(at, at + maxHints) })
  }
}
