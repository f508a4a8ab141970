/**
 * Empties the trash. A board that was deleted 30 days ago is removed with its cards, document and log. Its child boards
 * move to the top level. This takes several short transactions. If the process ends between them, the next round goes on.
 */
import { trashCutoff } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { deleteInBatches, inBatches } from '../in-batches.ts'
import { startLoop, type Loop } from '../loop.ts'

export interface PurgeParts {
  database: Database
  clock: Clock
  log: Logger
  /** Closes the board's sockets on this node. */
  closeBoard(boardId: string): void
}

/** Boards of one query. */
const boardsAtOnce = 50
/** Rows of one transaction. The change feeds wait while a transaction that changes boards runs. */
const batch = { rows: 1000, children: 200 }

export function startPurge(parts: PurgeParts, options: { intervalMs?: number } = {}): Loop {
  const { database, clock, log } = parts
  return startLoop('purge', options.intervalMs ?? 60_000, log, async (stopping) => {
    const cutoff = trashCutoff(clock.now())
    /** Boards that another transaction has locked, or that failed. The next round tries them again. */
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

/**
 * Removes a board that was deleted before `cutoff`, with everything that it holds.
 *
 * @returns false when another transaction has locked the board, or when the board was restored
 */
export async function purgeBoard(
  { database, closeBoard }: Pick<PurgeParts, 'database' | 'closeBoard'>,
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
  for (const table of ['card_index', 'removed_cards'])
    await deleteInBatches(database, batch.rows, table, (tx) => tx`board_id = ${boardId}`)
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

/** Locks the board's document, as every writer of a board does first. @returns false when another transaction has it */
async function lockBoard(tx: Transaction, boardId: string): Promise<boolean> {
  const rows = await tx`select from board_documents where board_id = ${boardId} for update skip locked`
  return rows.length === 1
}
