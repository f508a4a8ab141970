import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import postgres from './driver.ts'

const here = import.meta.dirname

/** Bound on one statement of a migration, and on waiting for another process that migrates. */
const migrationMinutes = 60

/**
 * Brings the schema to the newest version: the numbered files of `migrations/` once each and in order, then each file
 * of `functions/` whenever its text has changed. One process at a time; the others wait.
 *
 * @returns the names of the files that were run
 * @throws if a migration that was applied has changed since, or if the database is newer than this code
 */
export async function migrate(url: string): Promise<string[]> {
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connect_timeout: 10,
    answer_timeout: migrationMinutes * 60,
    connection: { search_path: 'corkboard' },
  })
  try {
    return (await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(1129270348)`
      const [server] = await tx<{ version: string; number: number }[]>`
        select current_setting('server_version') as version, current_setting('server_version_num')::integer as number`
      if (server!.number < 150_000)
        throw new Error(`Corkboard needs PostgreSQL 15 or newer; this database is ${server!.version}.`)
      await tx`create schema if not exists corkboard`
      await tx`
        create table if not exists corkboard.schema_files (
          name text primary key, checksum text not null, applied_at timestamptz not null default now()
        )`
      const applied = new Map(
        (await tx<{ name: string; checksum: string }[]>`select name, checksum from schema_files`).map(
          (row) => [row.name, row.checksum],
        ),
      )
      const ran: string[] = []
      const migrations = await sqlFiles('migrations')
      const unknown = [...applied.keys()].find(
        (name) => name.startsWith('migrations/') && !migrations.some((file) => file.name === name),
      )
      if (unknown) throw new Error(`The database is newer than this version of Corkboard: it has ${unknown}.`)
      for (const file of [...migrations, ...(await sqlFiles('functions'))]) {
        const known = applied.get(file.name)
        if (known === file.checksum) continue
        if (known !== undefined && file.name.startsWith('migrations/')) {
          throw new Error(`${file.name} has changed after it was applied. Migrations are append-only.`)
        }
        await tx.unsafe(file.text)
        await tx`
          insert into schema_files (name, checksum) values (${file.name}, ${file.checksum})
          on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`
        ran.push(file.name)
      }
      return ran
    })) as string[]
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The files that this version consists of; `schema_files` holds them all once `migrate` has run. */
export async function schemaFiles(): Promise<{ name: string; checksum: string }[]> {
  return [...(await sqlFiles('migrations')), ...(await sqlFiles('functions'))]
}

/** Whether the schema is this version's: `empty` before the first migration, `other` for an older or a newer one. */
export async function schemaState(url: string): Promise<'empty' | 'current' | 'other'> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connect_timeout: 5, answer_timeout: 15 })
  try {
    const [table] = await sql`select to_regclass('corkboard.schema_files') as name`
    if (table!['name'] === null) return 'empty'
    const applied = await sql<{ name: string; checksum: string }[]>`
      select name, checksum from corkboard.schema_files`
    return isCurrent(await schemaFiles(), applied) ? 'current' : 'other'
  } finally {
    await sql.end({ timeout: 5 })
  }
}

export function isCurrent(
  expected: { name: string; checksum: string }[],
  applied: { name: string; checksum: string }[],
): boolean {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  return expected.every(({ name, checksum }) => checksums.get(name) === checksum)
}

async function sqlFiles(folder: string): Promise<{ name: string; checksum: string; text: string }[]> {
  const names = (await readdir(`${here}/${folder}`)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${here}/${folder}/${name}`, 'utf8')
      return { name: `${folder}/${name}`, checksum: createHash('sha256').update(text).digest('hex'), text }
    }),
  )
}
