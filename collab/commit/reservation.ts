/**
 * Whether a write, or the flushes of a board, reserve their boards: no other node commits to a reserved board, for at most
 * two seconds.
 *
 *   state    becomes  when
 *   none     wanted   another node committed to the board before the item did
 *   wanted   held     that happened again, and the commit that found it has reserved the boards
 *   any      none     the item is written
 */
export class Reservation {
  #state: 'none' | 'wanted' | 'held' = 'none'

  /** Undefined: none. */
  get state(): 'wanted' | 'held' | undefined {
    return this.#state === 'none' ? undefined : this.#state
  }

  overtaken(): void {
    if (this.#state === 'none') this.#state = 'wanted'
  }

  /** @param outcome of the item in a commit */
  answered(outcome: string): void {
    if (outcome === 'again') this.overtaken()
    if (outcome === 'reserved') this.#state = 'held'
    if (outcome === 'ok') this.#state = 'none'
  }
}
