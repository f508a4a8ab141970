/** Which tables an archive holds, and in which order. */
import type { TransactionSql } from 'postgres'

export interface ArchivedTable {
  name: string
  columns: string[]
}

/**
 * Tables that an archive leaves out: they tell of processes that serve another database.
 *
 * - The nodes and the boards that they have open.
 * - The results of commits whose answer was lost, which only the process that sent them asks for.
 * - The requests that processes counted in the last hour.
 * - The schema files: a restore makes the schema itself.
 * - The pause of deliveries: a restore decides it.
 */
const leftOut = new Set([
  'nodes',
  'open_boards',
  'commits',
  'commit_pieces',
  'rate_counters',
  'rate_leases',
  'schema_files',
  'delivery_pause',
])

/** Returns the tables in an order in which each comes after those that it refers to. */
export async function readTables(tx: TransactionSql): Promise<ArchivedTable[]> {
  const tables = await tx<(ArchivedTable & { refers: string[] })[]>`
    select c.relname as name,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum
      ) as columns,
      array(
        select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
      ) as refers
    from pg_class c
    where c.relnamespace = 'corkboard'::regnamespace and c.relkind = 'r'
    order by c.relname`
  const left = new Map(tables.filter(({ name }) => !leftOut.has(name)).map((table) => [table.name, table]))
  const ordered: ArchivedTable[] = []
  while (left.size > 0) {
    const next = left.values().find(({ refers }) => !refers.some((name) => left.has(name)))
    if (!next) throw new Error(`The tables ${[...left.keys()].join(', ')} refer to each other in a circle.`)
    left.delete(next.name)
    ordered.push({ name: next.name, columns: next.columns })
  }
  return ordered
}
