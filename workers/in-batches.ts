import type { Database, Query, Transaction } from '../sql/database.ts'
import { never } from './loop.ts'

/** Rows of a table that may be deleted, as the condition of a `where`. */
export type Condition = (tx: Transaction) => Query<object[]>

/**
 * Repeats a statement, each time in a transaction of its own, until it changes less than a whole batch. So locks are held
 * for milliseconds. A stop ends it between two transactions.
 *
 * @param statement changes at most `batch` rows
 */
export async function inBatches(
  database: Database,
  batch: number,
  statement: (tx: Transaction) => PromiseLike<{ count: number }>,
  stopping: AbortSignal = never,
): Promise<void> {
  for (let changed = batch; changed === batch && !stopping.aborted;)
    changed = await database.asSystem(async (tx) => (await statement(tx)).count, 'background')
}

/** Deletes the rows of a table that match, except those that another transaction has locked. */
export async function deleteInBatches(
  database: Database,
  batch: number,
  table: string,
  condition: Condition,
  stopping?: AbortSignal,
): Promise<void> {
  const statement = (tx: Transaction) => tx`
    delete from ${tx(table)}
    where ctid = any (array(
      select ctid from ${tx(table)} where ${condition(tx)} limit ${batch} for update skip locked
    ))`
  await inBatches(database, batch, statement, stopping)
}
