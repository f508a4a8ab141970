/**
 * The structure of a workspace's boards: which are live, the parent of each, and their identifiers. Code that changes
 * it must take the workspace's lock before reading, and hold it until the commit.
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

/** Maps boards to their parents. A parent in the trash counts, because its children return below it. */
export type Parents = Map<string, string | null>

/** These boards and all of their ancestors. */
export async function readAbove(tx: Transaction, boardIds: string[]): Promise<Parents> {
  // This forces one look-up for each ancestor, whatever the planner estimates. Any other plan scans the whole table at
  // each step.
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

/** Returns one of `boardIds` that is below itself, or null. Each board is visited once. */
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
