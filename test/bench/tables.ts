import postgres, { type Sql } from 'postgres'
import type { Bench } from './bench.ts'

/** Runs `work` on a direct connection to Corkboard's tables. */
export async function withTables<Result>(bench: Bench, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(await bench.corkboardDatabaseUrl(), {
    max: 1,
    onnotice: () => {},
    connection: { search_path: 'corkboard' },
  })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}
