/** An edit that is in memory and on the screens, but not committed yet. */
export interface QueuedEdit {
  update: Uint8Array
  actors: string[]
  /** Ids of the actors' tokens and sessions. */
  tokens?: string[] | undefined
  /** Bytes of the edit that guests sent, by account; undefined when no guest wrote. */
  guests?: ReadonlyMap<string, number> | undefined
}

/** People who type make the next edit within this time. */
const activeMs = 1000

/**
 * The uncommitted edits of one board, in the order of arrival. They stay here until their commit is answered.
 *
 *   state     becomes   when
 *   flowing   stalled   none has been committed for longer than the deadline (`stall`)
 *   stalled   flowing   some are committed
 */
export class EditBacklog {
  #edits: (QueuedEdit & { queuedAt: number })[] = []
  #bytes = 0
  /** The number of edits ever queued, and of those committed. */
  #queuedMark = 0
  #committedMark = 0
  /** When the first edit arrived, or when some were last committed. */
  #since = 0
  #lastAt = -Infinity
  #state: 'flowing' | 'stalled' = 'flowing'
  readonly #waiters = new Set<() => void>()

  get count(): number {
    return this.#edits.length
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether somebody edits the board. */
  isActive(now: number): boolean {
    return now - this.#lastAt < activeMs
  }

  /** The mark of the last queued edit. An acknowledgement waits until `hasCommitted` is true for it. */
  get mark(): number {
    return this.#queuedMark
  }

  get isStalled(): boolean {
    return this.#state === 'stalled'
  }

  push(edit: QueuedEdit, now: number): void {
    if (this.#edits.length === 0) this.#since = now
    this.#lastAt = now
    this.#edits.push({ ...edit, queuedAt: now })
    this.#bytes += edit.update.byteLength
    this.#queuedMark += 1
  }

  /** The first edits, up to `maxBytes` but at least one. They stay in the queue until `committed`. */
  first(maxBytes: number): QueuedEdit[] {
    let bytes = 0
    let count = 0
    while (count < this.#edits.length && (count === 0 || bytes < maxBytes))
      bytes += this.#edits[count++]!.update.byteLength
    return this.#edits.slice(0, count)
  }

  /** Removes the first `count` edits, which are in the log. @returns for how long the first of them has waited */
  committed(count: number, now: number): number {
    const done = this.#edits.splice(0, count)
    for (const edit of done) this.#bytes -= edit.update.byteLength
    this.#committedMark += count
    this.#since = now
    this.#state = 'flowing'
    return done[0] ? now - done[0].queuedAt : 0
  }

  /** Drops all edits, because the board no longer exists. They are never acknowledged. */
  drop(): void {
    this.#edits = []
    this.#bytes = 0
  }

  /** @returns whether the edits have become stalled now */
  stall(now: number, deadlineMs: number): boolean {
    if (this.#edits.length === 0 || this.#state === 'stalled' || now - this.#since <= deadlineMs) return false
    this.#state = 'stalled'
    return true
  }

  hasCommitted(mark: number): boolean {
    return this.#committedMark >= mark
  }

  /** Calls `waiter` once, at the next commit of edits of this board. */
  onCommitted(waiter: () => void): void {
    this.#waiters.add(waiter)
  }

  /** Calls all waiters. Before, calls `before` with their number, if there are any. */
  release(before: (waiters: number) => void): void {
    if (this.#waiters.size === 0) return
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    before(waiters.length)
    for (const waiter of waiters) waiter()
  }
}
