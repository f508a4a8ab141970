/**
 * What the boards of a workspace are to each other: which are live, which lies below which, and which identifiers they
 * carry. Whoever changes it holds the workspace's lock from before it looks until it commits.
 *
 * Order of locks: workspaces, documents of boards, rows of boards, owners.
 */
import type { Transaction } from '../../sql/database.ts'
import { locks } from '../../sql/locks.ts'

export async function lockStructure(tx: Transaction, workspaceIds: Iterable<string>): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(${locks.structure}, key)
    from (
      select distinct hashtext(workspace) as key from unnest(${[...new Set(workspaceIds)]}::text[]) as workspace order by key
    ) keys`
}

export async function lockBoards(tx: Transaction, boardIds: string[]): Promise<void> {
  if (boardIds.length > 0) await tx`select lock_boards(${boardIds}::uuid[])`
}

/** Board → parent. A parent in the trash is one: its children return under it. */
export type Parents = Map<string, string | null>

/** These boards and all that lie above them. */
export async function readAbove(tx: Transaction, boardIds: string[]): Promise<Parents> {
  // One look-up for each board on the way, whatever the planner thinks of how many there are: any other plan goes
  // through the whole table at each step.
  await tx`select set_config('enable_seqscan', 'off', true)`
  const rows = await tx<{ id: string; parent_board_id: string | null }[]>`
    with recursive above as (
      select id, parent_board_id from boards where id = any (${boardIds}::uuid[])
      union
      select b.id, b.parent_board_id
      from above a
      cross join lateral (
        select b.id, b.parent_board_id from boards b where b.id = a.parent_board_id offset 0
      ) b
    )
    select id, parent_board_id from above`
  return new Map(rows.map((row) => [row.id, row.parent_board_id]))
}

/** One of `boardIds` that lies below itself, or null. Each board is passed once. */
export function findCycle(parents: Parents, boardIds: Iterable<string>): string | null {
  const passed = new Set<string>()
  for (const start of boardIds) {
    const way = new Set<string>()
    for (let at: string | null = start; at !== null && !passed.has(at); at = parents.get(at) ?? null) {
      if (way.has(at)) return start
      way.add(at)
    }
    for (const one of way) passed.add(one)
  }
  return null
}
