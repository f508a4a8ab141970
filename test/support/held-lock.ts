/** Holds locks in a separate transaction, which stays open until the test releases it. */
import type { Sql } from 'postgres'
import { until } from './editor.ts'

/** @returns a function that releases the locks */
export async function holdLock(
  admin: Sql,
  take: (connection: Sql) => PromiseLike<unknown>,
): Promise<() => Promise<void>> {
  const connection = await admin.reserve()
  await connection`begin`
  await take(connection)
  return async () => {
    await connection`rollback`
    connection.release()
  }
}

/** Blocks all commits to the board. */
export const lockBoard = (admin: Sql, boardId: string) =>
  holdLock(
    admin,
    (connection) => connection`select from board_documents where board_id = ${boardId} for update`,
  )

/** Resolves when a request works under an idempotency key. */
export const underWay = (admin: Sql) =>
  until(
    async () =>
      (
        await admin`
          select from pg_locks l
          where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
            and l.database = (select oid from pg_database where datname = current_database())`
      ).length > 0,
    'the key is held',
  )
