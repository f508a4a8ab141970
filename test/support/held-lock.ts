/** Holds locks in a separate transaction, which stays open until the test releases it. */
import type { Sql } from 'postgres'

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
