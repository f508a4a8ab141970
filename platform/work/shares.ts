/** Bounds what each account holds of something, such as sockets. */
import { limits } from '../../core/limits.ts'

export interface Holder {
  account: string
  /** For a user of minted sessions, and for a guest: the owner of the workspace. Null for others. */
  payer: string | null
}

/**
 * What the accounts hold. All users of minted sessions and guests of an owner together may hold as much as one account,
 * and one of them a share of that.
 */
export class Shares<Held extends Holder> {
  readonly #most: number
  readonly #ofAccounts = new Map<string, Set<Held>>()
  readonly #ofPayers = new Map<string, Set<Held>>()

  /** @param most how much one account may hold */
  constructor(most: number) {
    this.#most = most
  }

  /** Whether the account, and the owner who pays, may hold one more. */
  hasRoom({ account, payer }: Holder): boolean {
    return (
      this.of(account).size < this.#mostOf(payer) &&
      (payer === null || (this.#ofPayers.get(payer)?.size ?? 0) < this.#most)
    )
  }

  /** Adds it even if there is no room. */
  add(held: Held): void {
    const { account, payer } = held
    this.#ofAccounts.getOrInsertComputed(account, () => new Set()).add(held)
    if (payer !== null) this.#ofPayers.getOrInsertComputed(payer, () => new Set()).add(held)
  }

  remove(held: Held): void {
    removeFrom(this.#ofAccounts, held.account, held)
    if (held.payer !== null) removeFrom(this.#ofPayers, held.payer, held)
  }

  of(account: string): ReadonlySet<Held> {
    return this.#ofAccounts.get(account) ?? none
  }

  /** Whether so many were added before this one that there was no room for it. */
  isBeyond(held: Held): boolean {
    const { account, payer } = held
    return (
      isBeyond(held, this.of(account), this.#mostOf(payer)) ||
      (payer !== null && isBeyond(held, this.#ofPayers.get(payer) ?? none, this.#most))
    )
  }

  counts(): { held: number; accounts: number } {
    return {
      held: [...this.#ofAccounts.values()].reduce((sum, { size }) => sum + size, 0),
      accounts: this.#ofAccounts.size,
    }
  }

  #mostOf(payer: string | null): number {
    return this.#most * (payer === null ? 1 : limits.sessions.userShare)
  }
}

const none: ReadonlySet<never> = new Set()

function removeFrom<Held>(sets: Map<string, Set<Held>>, key: string, held: Held): void {
  const set = sets.get(key)
  set?.delete(held)
  if (set?.size === 0) sets.delete(key)
}

/** Whether at least `count` elements precede `one`. */
function isBeyond<T>(one: T, all: Iterable<T>, count: number): boolean {
  let others = 0
  for (const other of all) {
    if (other === one) return false
    if (++others >= count) return true
  }
  return false
}
