import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { ISql, TransactionSql } from 'postgres'
import { indexColumns } from '../core/card.ts'
import postgres from './driver.ts'
import { locks } from './locks.ts'
import {
  compareSchema,
  isMigration,
  unknownMigrations,
  unlike,
  worksWith,
  type AppliedFile,
} from './schema-range.ts'

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
 * If the schema is newer than this code and this code works with it (schema-range.ts), nothing is run: the functions of
 * the newer version stay.
 *
 * @param files files to run, in this order; the default is the files of this version
 * @param tell called when the schema is newer
 * @returns the names of the files that were run
 * @throws if a migration that was applied has changed since, or if this code does not work with a newer schema
 */
export async function migrate(
  url: string,
  files?: SchemaFile[],
  tell: (line: string) => void = () => undefined,
): Promise<string[]> {
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connect_timeout: 10,
    answer_timeout: migrationMinutes * 60,
    connection: { search_path: 'corkboard' },
  })
  try {
    return (await sql.begin(async (tx) => {
      await prepare(tx)
      const wanted = files ?? (await schemaFiles())
      const ran = await bringUp(tx, wanted)
      const unknown = unknownMigrations(wanted, await readApplied(tx))
      if (unknown.length > 0)
        tell(`The schema is of a newer version, with which this one works: it has ${unknown.join(', ')}.`)
      return ran
    })) as string[]
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** `name` is the path in `sql/`. */
export interface SchemaFile {
  name: string
  checksum: string
  text: string
}

/** Runs those of `files` that have changed. @returns their names @throws as `migrate` does */
async function bringUp(tx: TransactionSql, files: SchemaFile[]): Promise<string[]> {
  const changed = changedFiles(files, await readApplied(tx))
  await runFiles(tx, changed)
  if (changed.length > 0) await checkFunctions(tx)
  return changed.map(({ name }) => name)
}

/**
 * Makes the schema of an earlier version in an empty database: the functions of this version, but only these migrations.
 * A function may name tables of a later migration, so nothing may call it before `bring`.
 *
 * @returns `bring`, which migrates to this version. Both run in the caller's transaction
 */
export async function makeSchema(
  tx: TransactionSql,
  migrations: { name: string }[],
): Promise<{ bring(): Promise<string[]> }> {
  await prepare(tx)
  const own = await schemaFiles()
  await runFiles(
    tx,
    own.filter((file) => !isMigration(file) || migrations.some(({ name }) => name === file.name)),
  )
  return { bring: () => bringUp(tx, own) }
}

/** Takes the lock, and makes the schema and its table of files. Throws if the server is too old. */
async function prepare(tx: TransactionSql): Promise<void> {
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
      name text primary key, checksum text not null, applied_at timestamptz not null default now(),
      works_with integer
    )`
  // A database of the first release lacks the column. An `alter table` that changes nothing would lock the table, too,
  // and `/readyz` of other nodes reads it.
  const [column] = await tx`
    select from pg_attribute where attrelid = 'corkboard.schema_files'::regclass and attname = 'works_with'`
  if (!column) await tx`alter table corkboard.schema_files add column works_with integer`
}

/** Runs these files and records them. */
async function runFiles(tx: TransactionSql, changed: SchemaFile[]): Promise<void> {
  const rerun = changed.filter((file) => !isMigration(file))
  if (rerun.length > 0) await runFunctions(tx, rerun)
  for (const file of changed.filter(isMigration)) await tx.unsafe(file.text)
  for (const file of changed)
    await tx`
      insert into schema_files (name, checksum, works_with)
      values (${file.name}, ${file.checksum}, ${isMigration(file) ? worksWith(file.text) : null})
      on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`
}

/** Reads `schema_files`, also that of the first release, which lacks `works_with`. */
export const readApplied = (tx: ISql): Promise<AppliedFile[]> =>
  tx<AppliedFile[]>`
    select name, checksum, (to_jsonb(f) ->> 'works_with')::integer as works_with from corkboard.schema_files f`

/** Returns the files to run. Throws if the database has migrations that differ from these files. */
function changedFiles(files: SchemaFile[], applied: AppliedFile[]): SchemaFile[] {
  const unknown = unknownMigrations(files, applied)
  const state = compareSchema(files, applied)
  if (state === 'newer') return []
  if (unknown.length > 0)
    throw new Error(
      `The database is newer than this version of Corkboard: it has ${unknown.join(', ')}. Start the newer version.`,
    )
  const changed = unlike(files, applied)
  const edited = changed.find((file) => isMigration(file) && applied.some(({ name }) => name === file.name))
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
 * Compares the schema with this version. `usable`: it is that of this version, or a newer one with which this version
 * works. `empty`: no migration has run. `other`: it is older, or too new.
 */
export async function schemaState(url: string): Promise<'empty' | 'usable' | 'other'> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connect_timeout: 5, answer_timeout: 15 })
  try {
    const [table] = await sql`select to_regclass('corkboard.schema_files') as name`
    if (table!['name'] === null) return 'empty'
    const own = await schemaFiles()
    const applied = await readApplied(sql)
    const isSame = unlike(own, applied).length === 0
    return isSame || compareSchema(own, applied) === 'newer' ? 'usable' : 'other'
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Reads the schema files of this version, in the order in which they run. After `migrate` the table `schema_files` lists them. */
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
