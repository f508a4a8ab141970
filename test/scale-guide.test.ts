/** docs/scale.md: its list of tables is that of the schema. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { cloneDatabase } from './support/database.ts'
import { repository } from './support/instance.ts'

const database = await cloneDatabase()
afterAll(() => database.drop())

interface Table {
  name: string
  /** Whether its rows belong to a workspace. */
  ofWorkspace: boolean
  allows: string
}

interface ForeignKey {
  target: string
  columns: string[]
  targetColumns: string[]
  setsNull: boolean
}

interface Keys {
  /** Columns that are never null. */
  columns: string[]
  unique: string[][]
  foreign: ForeignKey[]
}

async function listed(): Promise<Table[]> {
  const text = await readFile(join(repository, 'docs/scale.md'), 'utf8')
  const rows = text.matchAll(/^\| `(\w+)` +\| (.*?) +\| (yes|no) +\| /gm)
  return [...rows].map(([, name, owner, allows]) => ({
    name: name!,
    ofWorkspace: owner === 'a workspace',
    allows: allows!,
  }))
}

async function schema(): Promise<Map<string, Keys>> {
  const rows = await database.admin<({ name: string } & Keys)[]>`
    select c.relname as name,
      array(
        select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnotnull and not a.attisdropped
      ) as columns,
      coalesce((
        select json_agg(array(
          select coalesce(a.attname::text, 'an expression')
          from unnest(i.indkey) as k left join pg_attribute a on a.attrelid = c.oid and a.attnum = k
        ))
        from pg_index i where i.indrelid = c.oid and i.indisunique
      ), '[]') as unique,
      coalesce((
        select json_agg(json_build_object(
          'target', f.confrelid::regclass::text,
          'columns', array(
            select a.attname::text from unnest(f.conkey) with ordinality as k(n, at)
            join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.n order by k.at
          ),
          'targetColumns', array(
            select a.attname::text from unnest(f.confkey) with ordinality as k(n, at)
            join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.n order by k.at
          ),
          'setsNull', f.confdeltype in ('n', 'd')
        ))
        from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'
      ), '[]') as foreign
    from pg_class c
    where c.relnamespace = 'corkboard'::regnamespace and c.relkind in ('r', 'p')`
  return new Map(rows.map((row) => [row.name, row]))
}

/** The column by which a table would be distributed. */
const columnOf = (table: string) => (table === 'workspaces' ? 'id' : 'workspace_id')

/** By the rules of Citus: all keys contain the column, also foreign keys to distributed tables, which set nothing to null. */
function allows({ name, ofWorkspace }: Table, keys: Keys, distributed: Set<string>): boolean {
  const column = columnOf(name)
  const toDistributed = keys.foreign.filter(({ target }) => distributed.has(target.replace('corkboard.', '')))
  if (!ofWorkspace) return toDistributed.length === 0
  return (
    keys.columns.includes(column) &&
    keys.unique.every((columns) => columns.includes(column)) &&
    toDistributed.every(({ target, columns, targetColumns, setsNull }) => {
      const at = columns.indexOf(column)
      return at >= 0 && targetColumns[at] === columnOf(target.replace('corkboard.', '')) && !setsNull
    })
  )
}

test('[DC6] docs/scale.md says of every table whether its keys allow distribution by workspace', async () => {
  const tables = await listed()
  const keys = await schema()
  expect(tables.map(({ name }) => name).sort()).toEqual([...keys.keys()].sort())
  const distributed = new Set(tables.filter(({ ofWorkspace }) => ofWorkspace).map(({ name }) => name))
  const claimed = tables.map(({ name, allows }) => `${name}: ${allows}`)
  const found = tables.map(
    (table) => `${table.name}: ${allows(table, keys.get(table.name)!, distributed) ? 'yes' : 'no'}`,
  )
  expect(claimed).toEqual(found)
})
