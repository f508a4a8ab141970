/**
 * `first-release/` holds the schema of the first release as it was: `schema.json.br`, its files in the order in which they
 * ran, and `rows.sql`, rows of every table. Neither changes any more.
 */
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import postgres, { type Sql } from 'postgres'
import { expect, inject, onTestFinished, test } from 'vitest'
import { migrate, schemaFiles, type SchemaFile } from '../../sql/migrate.ts'
import { cloneDatabase } from '../support/database.ts'
import { withDatabase } from '../support/global-setup.ts'
import { repository } from '../support/instance.ts'

const folder = join(import.meta.dirname, 'first-release')
const release = JSON.parse(
  brotliDecompressSync(await readFile(join(folder, 'schema.json.br'))).toString(),
) as SchemaFile[]

test('[O53] the numbered files of the first release are as they were', async () => {
  const migrations = release.filter(({ name }) => name.startsWith('migrations/'))
  expect(migrations).toHaveLength(9)
  for (const { name, text } of migrations) {
    const present = await readFile(join(repository, 'sql', name), 'utf8').catch(() => '')
    expect(
      present === text,
      `sql/${name} belongs to a release and must not change: restore it, and put the change into a new numbered file.`,
    ).toBe(true)
  }
})

test('[CG10] a function that has changed since the release comes with a newer migration, which says with which code it works', async () => {
  const changed: string[] = []
  for (const { name, checksum } of await schemaFiles())
    if (!name.startsWith('migrations/') && release.find((file) => file.name === name)?.checksum !== checksum)
      changed.push(name)
  const added = (await readdir(join(repository, 'sql/migrations'))).filter(
    (name) => !release.some((file) => file.name === `migrations/${name}`),
  )
  expect(
    changed.length === 0 || added.length > 0,
    `${changed.join(', ')} changed since the release. Add a numbered file to sql/migrations, even one with a comment only: older code recognizes newer functions by its number.`,
  ).toBe(true)
  for (const name of added) {
    const text = await readFile(join(repository, 'sql/migrations', name), 'utf8')
    expect(
      /^-- (Works with: \d{4}|Works with no older code)$/m.test(text),
      `${name} says with which code it works`,
    ).toBe(true)
  }
})

test('[O53] a database of the first release becomes one of this version: its rows are there, and its schema is a new database’s', async () => {
  const { url, admin } = await firstRelease()
  const before = await readTables(admin)
  expect(Object.keys(before).filter((table) => before[table]!.length === 0)).toEqual([])

  await migrate(url)

  // A change that moves rows or values elsewhere says so here.
  expect(await readTables(admin)).toMatchObject(before)
  const fresh = await cloneDatabase()
  onTestFinished(() => fresh.drop())
  expect(await readCatalog(admin)).toEqual(await readCatalog(fresh.admin))
  expect(await migrate(url)).toEqual([])
})

test('[O54] a migration that has changed since it was applied, or that is unknown, stops the start and changes nothing', async () => {
  const { url, admin } = await firstRelease()
  const before = await admin`select * from schema_files order by name`
  const changed = release.map((file) =>
    file.name === 'migrations/0003-boards.sql' ? { ...file, checksum: 'another' } : file,
  )
  const function_ = { name: 'functions/new.sql', checksum: 'new', text: 'create table not_made ()' }
  await expect(migrate(url, [function_, ...changed])).rejects.toThrow(
    'migrations/0003-boards.sql has changed after it was applied. Restore it, and put the change into a new numbered file.',
  )
  await expect(migrate(url, [function_, ...release.slice(0, -1)])).rejects.toThrow(
    'The database is newer than this version of Corkboard: it has migrations/0009-operations.sql. Start the newer version.',
  )
  expect(await admin`select * from schema_files order by name`).toEqual(before)
})

test('[O55] a function whose body names what the schema lacks stops the start and changes nothing', async () => {
  const { url, admin } = await firstRelease()
  const text = `create function broken() returns bigint language sql set search_path = corkboard, pg_temp
    as $$ select count(*) from no_such_table $$`
  await expect(
    migrate(url, [...release, { name: 'functions/broken.sql', checksum: 'b', text }]),
  ).rejects.toThrow('relation "no_such_table" does not exist')
  expect([...(await admin`select from pg_proc where proname = 'broken'`)]).toEqual([])
})

async function firstRelease(): Promise<{ url: string; admin: Sql }> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = postgres(inject('adminUrl'), { max: 1, onnotice: () => undefined })
  await server.unsafe(`create database ${name} owner corkboard`)
  const admin = postgres(withDatabase(inject('adminUrl'), name), {
    max: 1,
    onnotice: () => undefined,
    connection: { search_path: 'corkboard' },
  })
  onTestFinished(async () => {
    await admin.end({ timeout: 2 })
    await server.unsafe(`drop database ${name} with (force)`)
    await server.end({ timeout: 2 })
  })
  const url = withDatabase(inject('serviceUrl'), name)
  await migrate(url, release)
  const rows = await readFile(join(folder, 'rows.sql'), 'utf8')
  await admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx.unsafe(rows)
  })
  return { url, admin }
}

/** The rows of each table, in their order as text. */
async function readTables(admin: Sql): Promise<Record<string, unknown[]>> {
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
async function readCatalog(admin: Sql): Promise<string[]> {
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
