/**
 * Empties the trash: a board that has lain there for 30 days goes with its cards, document and log; its children move to
 * the top level. In several short transactions, each resumed by the next round if the process ends between them.
 */
import { trashCutoff } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { startLoop, type Loop } from '../loop.ts'

export interface PurgeParts {
  database: Database
  clock: Clock
  log: Logger
  /** Whoever should still have it open is cut off. */
  closeBoard(boardId: string): void
}

/** Boards of one query. */
const boardsAtOnce = 50
/** Rows of one transaction. A change of boards holds the feeds back for as long as it runs. */
const batch = { rows: 1000, children: 200 }

export function startPurge(parts: PurgeParts, options: { intervalMs?: number } = {}): Loop {
  const { database, clock, log } = parts
  return startLoop('purge', options.intervalMs ?? 60_000, log, async (stopping) => {
    const cutoff = trashCutoff(clock.now())
    /** Boards that someone else holds, or that failed: the others come first, and these in the next round. */
    const left: string[] = []
    while (!stopping.aborted) {
      const boards = await database.asSystem(
        (tx) => tx<{ id: string }[]>`
          select id from boards
          where deleted_at <= ${cutoff} and id <> all (${left}::uuid[])
          order by deleted_at
          limit ${boardsAtOnce}`,
      )
      if (boards.length === 0) return
      for (const { id } of boards) {
        if (stopping.aborted) return
        try {
          if (await purgeBoard(parts, id, cutoff)) log.info({ boardId: id }, 'purged a board from the trash')
          else left.push(id)
        } catch (error) {
          log.warn({ err: error, boardId: id }, 'a board could not be purged; it will be tried again')
          left.push(id)
        }
      }
    }
  })
}

/** False when another transaction holds the board, or it has been restored. */
async function purgeBoard(
  { database, closeBoard }: PurgeParts,
  boardId: string,
  cutoff: Date,
): Promise<boolean> {
  const begun = await database.asSystem(async (tx) => {
    if (!(await lockBoard(tx, boardId))) return false
    const { count } = await tx`
      update board_documents d
      set purging = true
      from boards b
      where d.board_id = ${boardId} and b.id = d.board_id and b.deleted_at <= ${cutoff}`
    return count === 1
  })
  if (!begun) return false
  closeBoard(boardId)
  await inBatches(
    database,
    batch.rows,
    (tx) => tx`
      delete from card_index
      where ctid = any (array(select ctid from card_index where board_id = ${boardId} limit ${batch.rows} for update skip locked))`,
  )
  await inBatches(
    database,
    batch.rows,
    (tx) => tx`
      delete from removed_cards
      where ctid = any (array(select ctid from removed_cards where board_id = ${boardId} limit ${batch.rows}))`,
  )
  await inBatches(
    database,
    batch.children,
    (tx) => tx`
      update boards set parent_board_id = null
      where id in (
        select id from boards where parent_board_id = ${boardId} order by id limit ${batch.children} for update skip locked
      )`,
  )
  return database.asSystem(async (tx) => {
    if (!(await lockBoard(tx, boardId))) return false
    await tx`delete from boards where id = ${boardId}`
    return true
  }, 'background')
}

/** Its document, as every writer of the board does first. */
async function lockBoard(tx: Transaction, boardId: string): Promise<boolean> {
  const rows = await tx`select from board_documents where board_id = ${boardId} for update skip locked`
  return rows.length === 1
}

/** Until a statement finds less than a whole batch. */
async function inBatches(
  database: Database,
  size: number,
  statement: (tx: Transaction) => PromiseLike<{ count: number }>,
): Promise<void> {
  while ((await database.asSystem(async (tx) => (await statement(tx)).count, 'background')) === size);
}
