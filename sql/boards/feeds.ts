/** The state of the change feeds; see functions/feed.sql. */
import type { Transaction } from '../database.ts'
import { locks } from '../locks.ts'

/** Returns the delay of the feeds in milliseconds. It is a little over a second at most under steady writing. */
export async function feedLagMs(tx: Transaction): Promise<number> {
  const [row] = await tx<{ lag: number }[]>`
    select greatest(0, round(extract(epoch from statement_timestamp() - feed_horizon()) * 1000))::integer as lag`
  return row!.lag
}

/** Returns the PostgreSQL process ids of the oldest writing transactions; null stands for a prepared transaction. */
export async function feedHolders(tx: Transaction): Promise<(number | null)[]> {
  const rows = await tx<{ pid: number | null }[]>`
    with holders as materialized (
      select l.pid, l.objid::bigint as second
      from pg_locks l
      where l.locktype = 'advisory' and l.classid = ${locks.stamps} and l.objsubid = 2
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
    )
    select pid from holders where second = (select min(second) from holders) limit 5`
  return rows.map((row) => row.pid)
}
