/**
 * Indexes boards that a crashed process left unindexed. Edits are logged at once. Their index rows follow within seconds,
 * unless the process dies in between.
 */
import type { LiveBoards } from '../../collab/boards/live.ts'
import type { Logger } from '../../platform/log.ts'
import { startLoop, type Loop } from '../loop.ts'

/** Boards that are healed in one round. */
const batch = 50

export function startHealing(
  live: LiveBoards,
  log: Logger,
  options: { intervalMs?: number; graceSeconds?: number } = {},
): Loop {
  // At the start no other process indexes what this one left behind. Later, the node that took the edits has time to index them.
  let graceSeconds = 0
  /** Boards that could not be indexed. The others come first. */
  const failed = new Set<string>()
  return startLoop('heal', options.intervalMs ?? 5000, log, async () => {
    const rows = await live.database.asSystem(
      (tx) => tx<{ board_id: string }[]>`
        select board_id
        from board_documents
        where indexed_seq < seq and changed_at <= now() - ${graceSeconds} * interval '1 second'
          and board_id <> all (${[...failed]}::uuid[])
        order by changed_at
        limit ${batch}`,
    )
    if (rows.length < batch) {
      graceSeconds = options.graceSeconds ?? 10
      failed.clear()
    }
    for (const { board_id: boardId } of rows) {
      try {
        await live.documents.withDocument(boardId, () => live.queue.flush(boardId))
        log.info({ boardId }, 'indexed a board that a crash had left unindexed')
      } catch (error) {
        log.warn({ err: error, boardId }, 'a board could not be indexed; it will be tried again')
        failed.add(boardId)
      }
    }
  })
}
