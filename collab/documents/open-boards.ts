/**
 * The boards that are open in this process: on a canvas, or about to be. A canvas holds its board from the moment that
 * it begins to open until its socket is gone.
 */
export class OpenBoards {
  readonly #holds = new Map<string, Set<Hold>>()

  /** Holds a board for one canvas. */
  hold(boardId: string): Hold {
    const holds = this.#holds.getOrInsertComputed(boardId, () => new Set())
    const hold = new Hold(() => {
      holds.delete(hold)
      if (holds.size === 0 && this.#holds.get(boardId) === holds) this.#holds.delete(boardId)
    })
    holds.add(hold)
    return hold
  }

  has(boardId: string): boolean {
    return this.#holds.has(boardId)
  }

  all(): Iterable<string> {
    return this.#holds.keys()
  }

  /** For how long a canvas of the board has been closing: it gets no changes, and its socket is not gone. */
  closingMs(boardId: string): number {
    let most = 0
    for (const hold of this.#holds.get(boardId) ?? []) most = Math.max(most, hold.closingMs)
    return most
  }
}

/**
 * A board that is open on one canvas.
 *
 *   state    becomes  when
 *   open     closing  the service closed the canvas, and the socket is not gone
 *   any      ended    its socket is gone, or the board is closed on a socket that stays open
 */
export class Hold {
  readonly #ended: () => void
  #closingSince = 0

  constructor(ended: () => void) {
    this.#ended = ended
  }

  get closingMs(): number {
    return this.#closingSince && Math.max(1, Date.now() - this.#closingSince)
  }

  closing(): void {
    this.#closingSince ||= Date.now()
  }

  end(): void {
    this.#ended()
  }
}
