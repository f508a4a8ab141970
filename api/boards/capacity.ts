/** How many cards the owner of a board may have, and has, on all live boards. */
import type { Transaction } from '../../sql/database.ts'

export interface Capacity {
  limit: number
  used: number
  remaining: number
}

/** @param cap of plans that have one. @returns null when the owner's plan has none, or the caller does not see the board */
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
