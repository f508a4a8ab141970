/** Locks that somebody else holds: a transaction that stays open until the test lets it go. */
import type { Sql } from 'postgres'

/** @returns what lets it go */
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

/** No commit to the board comes through. */
export const lockBoard = (admin: Sql, boardId: string) =>
  holdLock(
    admin,
    (connection) => connection`select from board_documents where board_id = ${boardId} for update`,
  )
