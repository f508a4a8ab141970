import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import postgres from 'postgres'

const here = import.meta.dirname

/**
 * Brings the schema to the newest version: the numbered files of `migrations/` once each and in order, then each file
 * of `functions/` whenever its text has changed. One process at a time; the others wait.
 *
 * @returns the names of the files that were run
 * @throws if a migration that was applied has changed since, or if the database is newer than this code
 */
export async function migrate(url: string): Promise<string[]> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connection: { search_path: 'corkboard' } })
  try {
    return (await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(1129270348)`
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

async function sqlFiles(folder: string): Promise<{ name: string; checksum: string; text: string }[]> {
  const names = (await readdir(`${here}/${folder}`)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${here}/${folder}/${name}`, 'utf8')
      return { name: `${folder}/${name}`, checksum: createHash('sha256').update(text).digest('hex'), text }
    }),
  )
}
