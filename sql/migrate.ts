import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { TransactionSql } from 'postgres'
import { indexColumns } from '../core/card.ts'
import postgres from './driver.ts'
import { locks } from './locks.ts'

const here = import.meta.dirname

/** Time limit for one statement of a migration, and for the wait for another process that migrates. */
const migrationMinutes = 60

/**
 * Migrates the schema to the newest version. Only one process does so at a time; others wait. It runs, in this order:
 *
 * - `roles.sql` and each file of `functions/` that has changed. The columns that `fillIn` inserts count as part of a
 *   file. Functions come first, because policies, triggers and indexes name them. Their bodies may name tables that do
 *   not exist yet.
 * - The numbered files of `migrations/`, once each.
 *
 * @param files files to run, in this order; the default is the files of this version
 * @returns the names of the files that were run
 * @throws if a migration that was applied has changed since, or if the database is newer than this code
 */
export async function migrate(url: string, files?: SchemaFile[]): Promise<string[]> {
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connect_timeout: 10,
    answer_timeout: migrationMinutes * 60,
    connection: { search_path: 'corkboard' },
  })
  try {
    return (await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${locks.migration})`
      const [server] = await tx<{ version: string; number: number }[]>`
        select current_setting('server_version') as version, current_setting('server_version_num')::integer as number`
      if (server!.number < 150_000)
        throw new Error(
          `Corkboard needs PostgreSQL 15 or newer, but this database is version ${server!.version}.`,
        )
      await tx`create schema if not exists corkboard`
      await tx`
        create table if not exists corkboard.schema_files (
          name text primary key, checksum text not null, applied_at timestamptz not null default now()
        )`
      const wanted = files ?? (await schemaFiles())
      const changed = changedFiles(wanted, await tx<Applied[]>`select name, checksum from schema_files`)
      const rerun = changed.filter((file) => !isMigration(file))
      if (rerun.length > 0) await runFunctions(tx, rerun)
      for (const file of changed.filter(isMigration)) await tx.unsafe(file.text)
      if (changed.length > 0) await checkFunctions(tx)
      for (const { name, checksum } of changed)
        await tx`
          insert into schema_files (name, checksum) values (${name}, ${checksum})
          on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`
      return changed.map(({ name }) => name)
    })) as string[]
  } finally {
    await sql.end({ timeout: 5 })
  }
}

interface Applied {
  name: string
  checksum: string
}

/** `name` is the path in `sql/`. */
export interface SchemaFile extends Applied {
  text: string
}

const isMigration = ({ name }: Applied) => name.startsWith('migrations/')

/** Returns the files to run. Throws if the database has migrations that differ from these files. */
function changedFiles(files: SchemaFile[], applied: Applied[]): SchemaFile[] {
  const unknown = applied.find((row) => isMigration(row) && !files.some(({ name }) => name === row.name))
  if (unknown)
    throw new Error(
      `The database is newer than this version of Corkboard: it has ${unknown.name}. Start the newer version.`,
    )
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  const changed = files.filter(({ name, checksum }) => checksums.get(name) !== checksum)
  const edited = changed.find((file) => isMigration(file) && checksums.has(file.name))
  if (edited)
    throw new Error(
      `${edited.name} has changed after it was applied. Restore it, and put the change into a new numbered file.`,
    )
  return changed
}

/**
 * Runs `files` without checking function bodies. Then sets the rights of all functions: only corkboard_system may call
 * them, unless a file grants more, and corkboard_system owns the `security definer` functions.
 */
async function runFunctions(tx: TransactionSql, files: SchemaFile[]): Promise<void> {
  await tx`set local check_function_bodies = off`
  for (const file of files) await tx.unsafe(file.text)
  await tx.unsafe(`
    grant create on schema corkboard to corkboard_system; -- required for the owner of a function
    do $$
    declare
      f regprocedure;
    begin
      for f in
        select p.oid
        from pg_proc p
        where p.pronamespace = 'corkboard'::regnamespace and p.prosecdef and p.proowner <> 'corkboard_system'::regrole
      loop
        execute format('alter function %s owner to corkboard_system', f);
      end loop;
    end $$;
    revoke create on schema corkboard from corkboard_system;
    revoke all on all functions in schema corkboard from public;
    grant execute on all functions in schema corkboard to corkboard_system;
    set local check_function_bodies = on`)
}

/** Throws if the body of a function names an object that does not exist. */
async function checkFunctions(tx: TransactionSql): Promise<void> {
  await tx`
    select case l.lanname when 'sql' then fmgr_sql_validator(p.oid) else plpgsql_validator(p.oid) end
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    where p.pronamespace = 'corkboard'::regnamespace`
}

/**
 * Compares the schema with this version. `current`: it is that of this version. `empty`: no migration has run. `other`:
 * it is older or newer.
 */
export async function schemaState(url: string): Promise<'empty' | 'current' | 'other'> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connect_timeout: 5, answer_timeout: 15 })
  try {
    const [table] = await sql`select to_regclass('corkboard.schema_files') as name`
    if (table!['name'] === null) return 'empty'
    const applied = await sql<Applied[]>`select name, checksum from corkboard.schema_files`
    return isCurrent(await schemaFiles(), applied) ? 'current' : 'other'
  } finally {
    await sql.end({ timeout: 5 })
  }
}

export function isCurrent(expected: Applied[], applied: Applied[]): boolean {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  return expected.every(({ name, checksum }) => checksums.get(name) === checksum)
}

/** Reads the schema files of this version, in the order in which they run. `schema_files` lists all of them afterwards. */
export async function schemaFiles(): Promise<SchemaFile[]> {
  const names = [
    'roles.sql',
    ...(await readdir(`${here}/functions`)).sort().map((name) => `functions/${name}`),
    ...(await readdir(`${here}/migrations`)).sort().map((name) => `migrations/${name}`),
  ]
  return Promise.all(
    names.map(async (name) => {
      const text = fillIn(await readFile(`${here}/${name}`, 'utf8'))
      return { name, checksum: createHash('sha256').update(text).digest('hex'), text }
    }),
  )
}

/**
 * Replaces `{{v.card_columns}}` by `v.kind, v.title, …`: the columns of `card_index` for card fields, from the table in
 * core/card.ts.
 */
const fillIn = (text: string): string =>
  text.replaceAll(/\{\{(\w+\.)?card_columns\}\}/g, (_, prefix = '') =>
    indexColumns.map((column) => prefix + column).join(', '),
  )
