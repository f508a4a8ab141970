import type { Readable } from 'node:stream'
import type { TransactionSql } from 'postgres'
import { readApplied } from '../migrate.ts'
import { isMigration } from '../schema-range.ts'
import { connect } from './connect.ts'
import { readTables, type ArchivedTable } from './tables.ts'

export interface ArchivedSequence {
  name: string
  /** Text, because a bigint may be larger than a number can be exactly. */
  last: string
  called: boolean
}

/** What an archive says of the database that it was made from. */
export interface DatabaseHead {
  /** The moment of the database that the archive holds. */
  takenAt: string
  postgres: string
  /** The migrations of the schema, in order. */
  migrations: { name: string; checksum: string }[]
  tables: ArchivedTable[]
  sequences: ArchivedSequence[]
  /** The text in base64 that shows whether a SECRET_KEY is right. */
  canary: string | null
  /** The number of files, and their bytes by their rows. */
  files: { count: number; bytes: number }
  /** Bytes of all tables on the server's disk, with their indexes. */
  databaseBytes: number
}

/** One moment of the database. */
export interface Snapshot {
  head: DatabaseHead
  /** Returns the rows of a table in COPY's text format. Read one table at a time, to its end. */
  rows(table: ArchivedTable): Promise<Readable>
  /** Returns the keys of all files, one a line. */
  fileKeys(): Promise<Readable>
}

/**
 * Calls `work` with one moment of the database, of which all reads are: one transaction, repeatable read. A running
 * service goes on writing meanwhile. Only migrations wait.
 */
export async function withSnapshot<T>(url: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const sql = connect(url, 'corkboard backup')
  try {
    return (await sql.begin('isolation level repeatable read, read only', async (tx) => {
      const sequences = await readSequences(tx)
      // The service's role, because policies are forced on the owner of the tables.
      await tx`set local role corkboard_system`
      const copy = (from: string) => tx.unsafe(`copy ${from} to stdout`).readable()
      const tables = await readTables(tx)
      return work({
        head: { ...(await readHead(tx, tables)), sequences },
        rows: ({ name, columns }) => copy(`${quote(name)} (${columns.map(quote).join(', ')})`),
        fileKeys: () => copy(`(select distinct key from ${storedFiles(tables)} order by key)`),
      })
    })) as T
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** All files of the store: uploads, and the history and versions of boards, which earlier schemas don't have. */
function storedFiles(tables: ArchivedTable[]): string {
  const has = (table: string) => tables.some(({ name }) => name === table)
  return `(
    select image_key as key, bytes from images
    ${
      has('board_history')
        ? `union all select key, bytes from board_history
           union all select base_key, base_bytes from board_history where base_key is not null`
        : ''
    }
    ${has('board_versions') ? 'union all select key, bytes from board_versions' : ''}
  ) as stored`
}

async function readHead(
  tx: TransactionSql,
  tables: ArchivedTable[],
): Promise<Omit<DatabaseHead, 'sequences'>> {
  const [server] = await tx<{ taken_at: Date; version: string; bytes: string }[]>`
    select now() as taken_at, current_setting('server_version') as version,
      (select sum(pg_total_relation_size(oid)) from pg_class
       where relnamespace = 'corkboard'::regnamespace and relkind = 'r') as bytes`
  const [canary] = await tx<{ sealed: Buffer }[]>`select sealed from secret_canary`
  const [files] = await tx<{ count: string; bytes: string }[]>`
    select count(*), coalesce(sum(bytes), 0) as bytes
    from (select max(bytes) as bytes from ${tx.unsafe(storedFiles(tables))} group by key) f`
  const applied = await readApplied(tx)
  return {
    takenAt: server!.taken_at.toISOString(),
    postgres: server!.version,
    migrations: applied
      .filter(isMigration)
      .map(({ name, checksum }) => ({ name, checksum }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    tables,
    canary: canary?.sealed.toString('base64') ?? null,
    files: { count: Number(files!.count), bytes: Number(files!.bytes) },
    databaseBytes: Number(server!.bytes),
  }
}

/** Sequences belong to no moment. Read after the moment, so no id that it has is given out again. */
async function readSequences(tx: TransactionSql): Promise<ArchivedSequence[]> {
  const names = await tx<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'corkboard'::regnamespace and relkind = 'S' order by relname`
  const read = async ({ name }: { name: string }) => {
    const [row] = await tx<{ last: string; called: boolean }[]>`
      select last_value::text as last, is_called as called from ${tx(name)}`
    return { name, ...row! }
  }
  return Promise.all(names.map(read))
}

export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
