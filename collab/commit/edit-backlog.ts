/** Edits of one board that are in memory and on the screens, and not committed yet. */
export interface QueuedEdit {
  update: Uint8Array
  actors: string[]
  /** Bytes that guests sent of it, by account; undefined when none did. */
  guests?: ReadonlyMap<string, number> | undefined
}

/**
 * They stay here until their commit is answered, in the order in which they came.
 *
 *   state     becomes   when
 *   flowing   stalled   none has been committed for longer than the deadline (`stall`)
 *   stalled   flowing   some are committed
 */
export class EditBacklog {
  #edits: QueuedEdit[] = []
  #bytes = 0
  /** Edits ever queued, and how many of them are committed. */
  #queuedMark = 0
  #committedMark = 0
  /** When the first of them came, or when some were last committed. */
  #since = 0
  #state: 'flowing' | 'stalled' = 'flowing'
  readonly #waiters = new Set<() => void>()

  get count(): number {
    return this.#edits.length
  }

  get bytes(): number {
    return this.#bytes
  }

  /** An acknowledgement of all that is queued now has to wait until `hasCommitted` holds for this mark. */
  get mark(): number {
    return this.#queuedMark
  }

  get isStalled(): boolean {
    return this.#state === 'stalled'
  }

  push(edit: QueuedEdit, now: number): void {
    if (this.#edits.length === 0) this.#since = now
    this.#edits.push(edit)
    this.#bytes += edit.update.byteLength
    this.#queuedMark += 1
  }

  /** The first ones, of up to `maxBytes`, but one at least. They stay until they are `committed`. */
  first(maxBytes: number): QueuedEdit[] {
    let bytes = 0
    let count = 0
    while (count < this.#edits.length && (count === 0 || bytes < maxBytes))
      bytes += this.#edits[count++]!.update.byteLength
    return this.#edits.slice(0, count)
  }

  /** The first `count` are in the log. */
  committed(count: number, now: number): void {
    for (const edit of this.#edits.splice(0, count)) this.#bytes -= edit.update.byteLength
    this.#committedMark += count
    this.#since = now
    this.#state = 'flowing'
  }

  /** The board is no more. What waits for these edits is not acknowledged. */
  drop(): void {
    this.#edits = []
    this.#bytes = 0
  }

  /** @returns whether they have become stalled now */
  stall(now: number, deadlineMs: number): boolean {
    if (this.#edits.length === 0 || this.#state === 'stalled' || now - this.#since <= deadlineMs) return false
    this.#state = 'stalled'
    return true
  }

  hasCommitted(mark: number): boolean {
    return this.#committedMark >= mark
  }

  /** Calls back once, at the next commit of edits of this board. */
  onCommitted(waiter: () => void): void {
    this.#waiters.add(waiter)
  }

  /** Calls back all who wait. `before` is told how many they are, when there are any. */
  release(before: (waiters: number) => void): void {
    if (this.#waiters.size === 0) return
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    before(waiters.length)
    for (const waiter of waiters) waiter()
  }
}
