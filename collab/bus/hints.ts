/**
 * Sends hints about commits. After a quiet time a hint is sent at once. The next ones are gathered for a moment: each
 * wakes every node that has the board open. A hint carries what small commits added.
 */
import type { Signing } from '../../platform/secrets/signatures.ts'
import type { Added } from '../log/log.ts'
import { joined, signed } from './added.ts'
import type { Bus } from './bus.ts'
import type { Signed } from './messages.ts'

/** Hints in one message. */
const maxHints = 1000

/** The newest position of a board, and what was added since the last hint; null when that is not known. */
interface Hint {
  seq: number
  added: Added | null
}

export class Hints {
  readonly #bus: Bus
  readonly #signing: Signing
  #waiting = new Map<string, Hint>()
  #timer: NodeJS.Timeout | null = null
  #isDue = false
  #sentAt = -Infinity

  constructor(bus: Bus, signing: Signing) {
    this.#bus = bus
    this.#signing = signing
  }

  add(boardId: string, added: Added): void {
    const earlier = this.#waiting.get(boardId)
    const all = !earlier ? added : earlier.added && joined(earlier.added, added)
    this.#waiting.set(boardId, { seq: added.head.seq, added: all })
    if (this.#timer) return
    // A timer that nothing waits for would wake the process once for each hint.
    const leftMs = this.#sentAt + this.#bus.pace.hintMs - performance.now()
    if (leftMs > 0) this.#timer = setTimeout(() => this.#send(), leftMs)
    else if (!this.#isDue) {
      this.#isDue = true
      process.nextTick(() => this.#send()) // a question that replaces it is asked in the same tick
    }
  }

  /**
   * Drops the hint of a position that the other nodes learn from another message.
   *
   * @returns what that message has to carry
   */
  replaced(boardId: string, seq: number): Signed | undefined {
    const hint = this.#waiting.get(boardId)
    if (!hint || hint.seq > seq) return undefined
    this.#waiting.delete(boardId)
    return this.#signed([[boardId, hint]])
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
    for (let at = 0; at < hints.length; at += maxHints) {
      const some = hints.slice(at, at + maxHints)
      const boards = some.map(([boardId, { seq }]): [string, number] => [boardId, seq])
      this.#bus.publish({ kind: 'hint', boards, signed: this.#signed(some) })
    }
  }

  #signed(hints: [boardId: string, hint: Hint][]): Signed | undefined {
    const known = hints.flatMap(([boardId, { added }]): [string, Added][] =>
      added ? [[boardId, added]] : [],
    )
    return signed(this.#signing, this.#bus.node, known, this.#bus.pace.hintBytes)
  }
}
