/** A database of the first release with rows in every table, see test/sql/first-release.test.ts. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import postgres, { type Sql } from 'postgres'
import { inject, onTestFinished } from 'vitest'
import { migrate, type SchemaFile } from '../../sql/migrate.ts'
import { withDatabase } from './global-setup.ts'
import { repository } from './instance.ts'

const folder = join(repository, 'test/sql/first-release')

/** The schema files of the first release, as it had them. */
export const release = JSON.parse(
  brotliDecompressSync(await readFile(join(folder, 'schema.json.br'))).toString(),
) as SchemaFile[]

export async function firstRelease(): Promise<{ url: string; admin: Sql }> {
  const { url, admin } = await emptyDatabase()
  await migrate(url, release)
  const rows = await readFile(join(folder, 'rows.sql'), 'utf8')
  await admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx.unsafe(rows)
  })
  return { url, admin }
}

/** A database without a schema, for one test. `admin` is a connection as superuser. */
export async function emptyDatabase(
  adminUrl = inject('adminUrl'),
  serviceUrl = inject('serviceUrl'),
): Promise<{ url: string; admin: Sql }> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = postgres(adminUrl, { max: 1, onnotice: () => undefined })
  await server.unsafe(`create database ${name} owner corkboard`)
  const admin = postgres(withDatabase(adminUrl, name), {
    max: 1,
    onnotice: () => undefined,
    connection: { search_path: 'corkboard' },
  })
  onTestFinished(async () => {
    await admin.end({ timeout: 2 })
    await server.unsafe(`drop database ${name} with (force)`)
    await server.end({ timeout: 2 })
  })
  return { url: withDatabase(serviceUrl, name), admin }
}

/** The rows of each table, in their order as text. */
export async function readTables(admin: Sql): Promise<Record<string, unknown[]>> {
  const tables = await admin<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'corkboard'::regnamespace and relkind = 'r' and relname <> 'schema_files'`
  const found: Record<string, unknown[]> = {}
  for (const { name } of tables) {
    const rows = await admin`select to_jsonb(t) as row from ${admin(name)} t order by t::text`
    found[name] = rows.map(({ row }) => row as unknown)
  }
  return found
}

/** What the schema consists of, but for the order of columns. */
export async function readCatalog(admin: Sql): Promise<string[]> {
  const rows = await admin<{ line: string }[]>`
    with named as (select 'corkboard'::regnamespace as space)
    select format('column %s %s %s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
      attacl, (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d where (d.adrelid, d.adnum) = (attrelid, attnum))) as line
    from pg_attribute join pg_class c on c.oid = attrelid join named on space = relnamespace
    where attnum > 0 and not attisdropped and relkind <> 'i'
    union all
    select format('table %s %s %s %s %s', oid::regclass, relkind, relacl, relrowsecurity, relforcerowsecurity)
    from pg_class join named on space = relnamespace
    union all
    select format('constraint %s %s', conrelid::regclass, pg_get_constraintdef(oid))
    from pg_constraint join named on space = connamespace
    union all
    select pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indexrelid join named on space = relnamespace
    union all
    select format('policy %s %s %s %s %s %s', polrelid::regclass, polname, polcmd, polroles::regrole[],
      pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
    from pg_policy
    union all
    select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all
    select format('%s owned by %s: %s', pg_get_functiondef(oid), proowner::regrole, proacl)
    from pg_proc join named on space = pronamespace
    order by line`
  return rows.map(({ line }) => line)
}
