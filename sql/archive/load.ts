/** Loads the tables of an archive into an empty database, in one transaction. */
import type { Writable } from 'node:stream'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { ISql, TransactionSql } from 'postgres'
import type { Transaction } from '../database.ts'
import { pauseDeliveries } from '../delivery-pause.ts'
import { locks } from '../locks.ts'
import { makeSchema, schemaFiles } from '../migrate.ts'
import { unknownMigrations } from '../schema-range.ts'
import { connect } from './connect.ts'
import { quote, type DatabaseHead } from './dump.ts'
import { endAccess, findAccess, type LiveAccess } from './live-access.ts'

export interface LoadOptions {
  /** Deliveries of webhooks go on with the next start, without `corkboard resume`. */
  resume: boolean
  /** Ends all tokens, sessions, links and connected applications. */
  revokeAll: boolean
}

/** The database while it is loaded. Nobody else sees anything of it before the end. */
export interface Target {
  /** Starts a table. Tables come in the order of the head. Write its rows, then `end()`. */
  open(table: string): Promise<TableWriter>
  /** Makes the loaded tables a database of this version. @param reclaimed keys of files that no longer exist */
  settle(options: LoadOptions & { reclaimed: string[] }): Promise<LiveAccess>
}

export interface TableWriter {
  write(rows: Buffer): Promise<void>
  end(): Promise<void>
}

/** @throws Error when the archive has migrations that this version doesn't have */
export async function checkSchema({ migrations }: DatabaseHead): Promise<void> {
  const own = await schemaFiles()
  const [unknown] = unknownMigrations(own, migrations)
  const edited = migrations.find(
    ({ name, checksum }) => own.find((file) => file.name === name)?.checksum !== checksum,
  )
  const strange = unknown ?? edited?.name
  if (strange)
    throw new Error(
      `The archive has the schema of a newer version of Corkboard, with ${strange}. Restore it with that version.`,
    )
}

/** @throws Error when the database is not empty, is too old, or does not store UTF-8 */
export async function checkEmpty(url: string): Promise<void> {
  const sql = connect(url, 'corkboard restore')
  try {
    await requireEmpty(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/**
 * Calls `work` in the transaction that loads the database. The end of this process, at any moment, leaves the database
 * empty.
 *
 * @throws as `checkEmpty` does; the driver's errors
 */
export async function loadDatabase<T>(
  url: string,
  head: DatabaseHead,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  const sql = connect(url, 'corkboard restore')
  let rows: Writable | null = null
  try {
    return (await sql.begin(async (tx) => {
      try {
        await tx`select pg_advisory_xact_lock(${locks.migration})` // another restore, or the start of a service
        await requireEmpty(tx)
        const { bring } = await makeSchema(tx, head.migrations)
        const indexes = await dropIndexes(tx)
        await openTables(tx, head)
        return await work({
          async open(table) {
            rows = await copyInto(tx, head, table)
            return tableWriter(rows)
          },
          async settle(options) {
            for (const statement of indexes) await tx.unsafe(statement)
            return settle(tx, head, bring, options)
          },
        })
      } catch (error) {
        rows?.destroy(error as Error) // a COPY that is under way would take no rollback
        throw error
      }
    })) as T
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function requireEmpty(sql: ISql): Promise<void> {
  const [server] = await sql<{ number: number; encoding: string; schema: string | null; name: string }[]>`
    select current_setting('server_version_num')::integer as number, current_setting('server_encoding') as encoding,
      to_regnamespace('corkboard')::text as schema, current_database() as name`
  const { number, encoding, schema, name } = server!
  if (number < 150_000) throw new Error('Corkboard needs PostgreSQL 15 or newer, and this server is older.')
  if (encoding !== 'UTF8')
    throw new Error(
      `The database ${name} stores text as ${encoding}. Make one with \`create database … encoding 'UTF8' template template0\`.`,
    )
  if (schema !== null)
    throw new Error(
      `The database ${name} is not empty: it has a schema corkboard. Set DATABASE_URL to an empty database, or DATA_DIR to a new folder.`,
    )
}

/**
 * Drops the indexes that keep nothing unique. Made at once after the load, they take less than half of the time:
 * a restore of the words of 20,000 cards took 24 s, and 57 s with the indexes in place.
 *
 * @returns the statements that make them again
 */
async function dropIndexes(tx: TransactionSql): Promise<string[]> {
  const indexes = await tx<{ name: string; definition: string; settings: string[] }[]>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition,
      array(
        select format('alter index %s alter column %s set statistics %s', i.indexrelid::regclass, a.attnum, a.attstattarget)
        from pg_attribute a
        where a.attrelid = i.indexrelid and a.attstattarget >= 0
      ) as settings
    from pg_index i
    join pg_class t on t.oid = i.indrelid
    where t.relnamespace = 'corkboard'::regnamespace and not i.indisunique`
  for (const { name } of indexes) await tx.unsafe(`drop index ${name}`)
  await tx`set local maintenance_work_mem = '256MB'`
  return indexes.flatMap(({ definition, settings }) => [definition, ...settings])
}

/**
 * Lets the owner load the tables: without policies, which COPY can't have, and without triggers, which would fire events
 * and count again what is counted. Foreign keys are checked all the same.
 */
async function openTables(tx: TransactionSql, { tables }: DatabaseHead): Promise<void> {
  for (const { name } of tables)
    await tx.unsafe(`alter table ${quote(name)} no force row level security, disable trigger user`)
}

async function closeTables(tx: TransactionSql, { tables }: DatabaseHead): Promise<void> {
  for (const { name } of tables)
    await tx.unsafe(`alter table ${quote(name)} force row level security, enable trigger user`)
}

async function copyInto(tx: TransactionSql, { tables }: DatabaseHead, name: string): Promise<Writable> {
  const table = tables.find((one) => one.name === name)
  if (!table) throw new Error(`The archive has rows of ${name}, which its header does not name.`)
  return tx
    .unsafe(`copy ${quote(name)} (${table.columns.map(quote).join(', ')}) from stdin`)
    .writable() as Promise<Writable>
}

function tableWriter(rows: Writable): TableWriter {
  const done = finished(rows)
  done.catch(() => undefined) // the next write, or the end, rejects with it
  return {
    async write(chunk) {
      if (!rows.write(chunk)) await Promise.race([once(rows, 'drain'), done])
    },
    async end() {
      rows.end()
      await done
    },
  }
}

async function settle(
  tx: TransactionSql,
  head: DatabaseHead,
  bring: () => Promise<string[]>,
  { resume, revokeAll, reclaimed }: LoadOptions & { reclaimed: string[] },
): Promise<LiveAccess> {
  await closeTables(tx, head)
  for (const { name, last, called } of head.sequences)
    await tx`select setval(${quote(name)}::regclass, ${last}::bigint, ${called})`
  await bring()
  const service = tx as unknown as Transaction
  await tx`set local role corkboard_system`
  await giveNewClients(service)
  await tx`delete from images where image_key = any (${reclaimed}::text[])`
  await tx`delete from board_versions where key = any (${reclaimed}::text[])`
  // Of history, the oldest segments are reclaimed first. A board that was purged meanwhile has lost all of it.
  await tx`
    delete from board_history h
    where exists (
      select from board_history g
      where g.board_id = h.board_id and g.from_seq >= h.from_seq
        and (g.key = any (${reclaimed}::text[]) or g.base_key = any (${reclaimed}::text[]))
    )`
  if (!resume) await pauseDeliveries(service)
  const access = await findAccess(service)
  if (revokeAll) await endAccess(service)
  await tx`reset role`
  for (const { name } of head.tables) await tx.unsafe(`analyze ${quote(name)}`)
  return access
}

/**
 * Gives the API a new Yjs client on every board. Editors may have what the API wrote after the backup, under the old
 * client. If the API used its clocks again, documents would differ for good.
 */
async function giveNewClients(tx: Transaction): Promise<void> {
  await tx`
    update board_documents
    set api_client = (2::bigint ^ 32)::bigint + 1 + floor(random() * ((2::bigint ^ 52)::bigint))::bigint, api_clock = 0`
}
