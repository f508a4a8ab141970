import type { Database, Transaction } from '../sql/database.ts'
import { never } from './loop.ts'

/**
 * Repeats a statement, each time in a transaction of its own, until it changes less than a whole batch. So locks are held
 * for milliseconds. A stop ends it between two transactions.
 *
 * @param statement changes at most `batch` rows, and returns how many
 */
export async function inBatches(
  database: Database,
  batch: number,
  statement: (tx: Transaction) => Promise<number>,
  stopping: AbortSignal = never,
): Promise<void> {
  for (let changed = batch; changed === batch && !stopping.aborted;)
    changed = await database.asSystem((tx) => statement(tx), 'background')
}
