import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { writeArchive, type ArchiveWriter } from '../../platform/archive/write-archive.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import { withSnapshot, type DatabaseHead } from '../../sql/archive/dump.ts'
import type { Database } from '../../sql/database.ts'
import { ahead } from './ahead.ts'
import { archiveFormat, type ArchiveHeader, type FileReport, type Stages } from './format.ts'

export interface BackUpOptions {
  path: string
  url: string
  database: Database
  /** Null leaves out the bytes of files. */
  store: ObjectStore | null
  stages: Stages
}

export interface BackUpSummary {
  head: DatabaseHead
  files: FileReport | null
  /** Size of the archive. */
  bytes: number
}

const tablePartBytes = 4 * 1024 * 1024
/** Files up to this size are read ahead, several at once: a bucket answers slowly, but many requests at a time. */
const smallFileBytes = 1024 * 1024
const smallFilesAtOnce = 8

/**
 * Writes an archive of the database and its files. The database's moment is read first, so that its transaction ends
 * before the files are read: while it is open, PostgreSQL can't remove dead rows. A file never changes, and is removed
 * 10 minutes after it was condemned at the earliest.
 *
 * @throws Error with one line for the operator, also when the disk is full. Then nothing is left at the path
 */
export async function backUp({ path, url, database, store, stages }: BackUpOptions): Promise<BackUpSummary> {
  const archive = await writeArchive(path)
  const keys = `${path}.${randomUUID().slice(0, 8)}.keys`
  try {
    const head = await withSnapshot(url, async (snapshot) => {
      const { head } = snapshot
      const header: ArchiveHeader = { format: archiveFormat, withFiles: store !== null, ...head }
      await archive.add('header.json', json(header))
      stages.begin('tables', head.tables.length)
      for (const table of head.tables) {
        await addRows(archive, table.name, await snapshot.rows(table))
        stages.step(1)
      }
      if (store) await pipeline(await snapshot.fileKeys(), createWriteStream(keys, { mode: 0o600 }))
      return head
    })
    let files: FileReport | null = null
    if (store) {
      stages.begin('MB of files', head.files.bytes / 1e6)
      const each = createInterface({ input: createReadStream(keys) })
      files = await addFiles({ archive, store, database, stages }, each)
      await archive.add('files.json', json(files))
    }
    return { head, files, bytes: await archive.finish() }
  } catch (error) {
    await archive.abandon()
    throw error
  } finally {
    await rm(keys, { force: true })
  }
}

const json = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`)

async function addRows(archive: ArchiveWriter, table: string, rows: Readable): Promise<void> {
  let parts = 0
  let waiting: Buffer[] = []
  let bytes = 0
  const add = async () => {
    parts += 1
    await archive.add(`tables/${table}/${String(parts).padStart(6, '0')}`, Buffer.concat(waiting))
    waiting = []
    bytes = 0
  }
  try {
    for await (const row of rows as AsyncIterable<Buffer>) {
      waiting.push(row)
      bytes += row.length
      if (bytes >= tablePartBytes) await add()
    }
  } finally {
    rows.destroy()
  }
  if (bytes > 0) await add()
}

interface FileParts {
  archive: ArchiveWriter
  store: ObjectStore
  database: Database
  stages: Stages
}

async function addFiles(
  { archive, store, database, stages }: FileParts,
  keys: AsyncIterable<string>,
): Promise<FileReport> {
  const report: FileReport = { count: 0, bytes: 0, missing: [], reclaimed: [] }
  for await (const { key, bytes, small } of ahead(keys, smallFilesAtOnce, (key) => readSmall(store, key))) {
    const body = small ?? (bytes === null ? null : await store.get(key))
    if (bytes === null || body === null) {
      report[(await isRecorded(database, key)) ? 'missing' : 'reclaimed'].push(key)
      continue
    }
    await archive.addStream(`files/${key}`, bytes, small ? [small] : told(body as Readable, stages))
    if (small) stages.step(bytes / 1e6)
    report.count += 1
    report.bytes += bytes
  }
  return report
}

interface StoredFile {
  key: string
  /** Null when the store doesn't have it. */
  bytes: number | null
  /** Null when it is large, and read when its turn comes. */
  small: Buffer | null
}

async function readSmall(store: ObjectStore, key: string): Promise<StoredFile> {
  const found = await store.head(key)
  if (!found || found.bytes > smallFileBytes) return { key, bytes: found?.bytes ?? null, small: null }
  const body = await store.get(key)
  return { key, bytes: body && found.bytes, small: body && (await buffer(body)) }
}

async function* told(body: Readable, stages: Stages): AsyncGenerator<Uint8Array> {
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    stages.step(chunk.length / 1e6)
    yield chunk
  }
}

/** Whether the database has the file by now, and it is not about to be removed. */
async function isRecorded(database: Database, key: string): Promise<boolean> {
  const [row] = await database.callAsSystem(
    (sql) => sql`
      select from images where image_key = ${key} and condemned_at is null
      union all
      select from board_history where ${key} in (key, base_key)
      limit 1`,
  )
  return row !== undefined
}
