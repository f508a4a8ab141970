/**
 * Indexes boards that a crashed or paused process left unindexed. Edits are logged at once. Their index rows follow
 * within seconds, unless the process dies in between.
 *
 * The process that took an edit has its board registered until the edit is indexed. So a board that no living node has
 * registered is indexed at once. The others get some time first. It counts from the first edit that is not indexed:
 * other nodes may go on writing. Compaction may have removed that edit from the log; then it is old.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { LiveBoards } from '../../collab/boards/live.ts'
import type { Logger } from '../../platform/log.ts'
import { startLoop, type WakingLoop } from '../loop.ts'

/** How long one board may delay the others. */
const longestMs = 30_000

async function inTime(work: Promise<void>): Promise<void> {
  work.catch(() => undefined) // nobody awaits it when it takes too long
  const late = delay(longestMs, undefined, { ref: false }).then(() => {
    throw new Error(`Indexing it takes more than ${longestMs / 1000} s.`)
  })
  await Promise.race([work, late])
}

/** Boards that are healed in one round. */
const batch = 50

export function startHealing(
  live: LiveBoards,
  log: Logger,
  options: { intervalMs?: number; graceSeconds?: number } = {},
): WakingLoop {
  const graceSeconds = options.graceSeconds ?? 10
  /** Boards that could not be indexed. The others come first. */
  const failed = new Set<string>()
  return startLoop('heal', options.intervalMs ?? 5000, log, async () => {
    const rows = await live.database.asSystem(
      (tx) => tx<{ board_id: string }[]>`
        select d.board_id
        from board_documents d
        where d.indexed_seq < d.seq and d.board_id <> all (${[...failed]}::uuid[])
          and (
            not exists (
              select
              from board_updates u
              where u.board_id = d.board_id and u.seq = d.indexed_seq + 1
                and u.created_at > now() - ${graceSeconds} * interval '1 second'
            )
            or not exists (
              select
              from open_boards o
              join nodes n on n.node_id = o.node_id
              where o.board_id = d.board_id and n.lost_at is null
            )
          )
        order by d.changed_at
        limit ${batch}`,
    )
    if (rows.length < batch) failed.clear()
    for (const { board_id: boardId } of rows) {
      try {
        await inTime(live.documents.withDocument(boardId, () => live.queue.flush(boardId)))
        log.info({ boardId }, 'indexed a board that a crash had left unindexed')
      } catch (error) {
        log.warn({ err: error, boardId }, 'a board could not be indexed; it will be tried again')
        failed.add(boardId)
      }
    }
  })
}
