/** The card limit of a board's owner, and how many cards they have on all live boards. */
import { tooManyCards } from '../../core/board.ts'
import type { Database, Transaction } from '../../sql/database.ts'

export interface Capacity {
  limit: number
  used: number
  remaining: number
}

/**
 * @param cap the card limit of plans that have one
 * @returns null when the owner's plan has no limit, or the caller can't see the board
 */
export async function readCapacity(
  tx: Transaction,
  boardId: string,
  cap: number | null,
): Promise<Capacity | null> {
  if (cap === null) return null
  const [owner] = await tx<{ used: number | null }[]>`select used from board_capacity(${boardId})`
  const used = owner?.used ?? null
  return used === null ? null : { limit: cap, used, remaining: Math.max(0, cap - used) }
}

/**
 * Checks the limit before expensive work for cards. The commit checks it again.
 *
 * @throws ServiceError `limit_reached`
 */
export async function requireRoom(
  database: Database,
  cap: number | null,
  { account, boardId, adds }: { account: string; boardId: string; adds: number },
): Promise<void> {
  const capacity = await database.asUser(account, (tx) => readCapacity(tx, boardId, cap))
  if (capacity && adds > capacity.remaining) throw tooManyCards(capacity.limit, capacity.used, adds)
}
