/** Indexes what a crash left unindexed: edits are logged at once, their index rows follow within seconds, unless the process dies. */
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
  // At the start nobody else is at work on what this process left behind; later, give who made the edits their time.
  let graceSeconds = 0
  /** Boards that could not be indexed: the others come first. */
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
        log.info({ boardId }, 'indexed what had been left')
      } catch (error) {
        log.warn({ err: error, boardId }, 'a board could not be indexed; it will be tried again')
        failed.add(boardId)
      }
    }
  })
}
