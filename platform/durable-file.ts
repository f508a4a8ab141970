/** Files that are never seen half, and that stay when the power goes. */
import { randomUUID, type Hash } from 'node:crypto'
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Writable, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface DurableFile {
  /** Where it is written. Made when it isn't there. */
  incoming: string
  body: Readable | AsyncIterable<Buffer>
  /** Where it goes, once so many bytes came and are synced; null: nowhere. */
  place(bytes: number): string | null
  /** The folder that it goes to is made when it isn't there. */
  makesFolder?: boolean
  /** What comes after one byte more than this is not written. */
  limit?: number
  /** Gets its bytes. */
  md5?: Hash
}

/**
 * Writes a file beside, syncs it, renames it and syncs its folder.
 *
 * @returns how many bytes came; null when it went nowhere. @throws what the body fails with
 */
export async function writeDurably({ incoming, body, place, ...file }: DurableFile): Promise<number | null> {
  const draft = join(incoming, randomUUID())
  const handle = await orWithFolder(incoming, true, () => open(draft, 'wx', 0o600))
  let placed = false
  try {
    const bytes = await fill(handle, body, file)
    const target = place(bytes)
    if (target === null) return null
    await handle.sync()
    await orWithFolder(dirname(target), file.makesFolder === true, () => rename(draft, target))
    placed = true
    await syncFolder(dirname(target))
    return bytes
  } finally {
    await handle.close()
    if (!placed) await rm(draft, { force: true })
  }
}

/** A name in a folder is durable when the folder is synced. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

export const fileChunkBytes = 256 * 1024

/** While one write is under way, the next gathers: each is a way to another thread and back. */
async function fill(
  file: FileHandle,
  body: DurableFile['body'],
  { limit = Infinity, md5 }: Pick<DurableFile, 'limit' | 'md5'>,
): Promise<number> {
  let bytes = 0
  const write = (chunks: Buffer[], done: (error?: Error | null) => void) => {
    let length = 0
    for (const chunk of chunks) {
      md5?.update(chunk)
      length += chunk.length
    }
    const isOver = bytes > limit
    bytes += length
    if (isOver) done()
    else writeAll(file, chunks, length).then(() => done(), done)
  }
  const sink = new Writable({
    highWaterMark: fileChunkBytes,
    write: (chunk: Buffer, _encoding, done) => write([chunk], done),
    writev: (entries, done) =>
      write(
        entries.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  })
  await pipeline(body, sink)
  return bytes
}

async function writeAll(file: FileHandle, chunks: Buffer[], length: number): Promise<void> {
  let { bytesWritten: at } = await file.writev(chunks)
  if (at === length) return
  const all = Buffer.concat(chunks)
  while (at < length) at += (await file.write(all, at)).bytesWritten
}

/** Folders that are being made. */
const making = new Map<string, Promise<void>>()

/** Does it, and again when its folder had to be made first. That folder is durable then. */
async function orWithFolder<T>(folder: string, makesFolder: boolean, work: () => Promise<T>): Promise<T> {
  if (!makesFolder) return work()
  const done = await work().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    if (!making.has(folder)) {
      making.set(
        folder,
        makeFolder(folder).finally(() => making.delete(folder)),
      )
    }
    await making.get(folder)
    return work()
  })
  await making.get(folder) // somebody else's, in which the name was seen before it was durable
  return done
}

async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let at = path; at !== first; at = dirname(at)) await syncFolder(dirname(at))
  await syncFolder(dirname(first))
}
