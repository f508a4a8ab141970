import type { Database } from './database.ts'

/**
 * Returns an id that no other database has: of the server's cluster and of the database in it. A copy that was made
 * with pg_dump has another id. A copy of the server's files has the same one.
 */
export async function databaseId(database: Database): Promise<string> {
  const rows = await database.callAsSystem(
    (sql) => sql<{ id: string }[]>`
      select s.system_identifier || '-' || d.oid as id
      from pg_control_system() s, pg_database d
      where d.datname = current_database()`,
  )
  return rows[0]!.id
}
