/** Writes files that become visible only when complete, and that survive a power failure. */
import { randomUUID, type Hash } from 'node:crypto'
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Writable, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface DurableFile {
  /** Folder for the temporary file. It is created if it does not exist. */
  incoming: string
  body: Readable | AsyncIterable<Buffer>
  /** Returns the final path for a body of this size. Null discards the file. */
  place(bytes: number): string | null
  /** Create the folder of the final path if it does not exist. */
  makesFolder?: boolean
  /** Most bytes to write. Further bytes are counted but not written. */
  limit?: number
  /** Updated with the bytes of the file. */
  md5?: Hash
  /** The file gets its final path only after this resolves. If it rejects, the write stops. */
  granted?: Promise<void> | undefined
  /** The memory of the body's chunks may be freed once they are written. */
  ownsChunks?: boolean | undefined
}

/**
 * Writes a temporary file, syncs it, renames it and syncs its folder.
 *
 * @returns the size in bytes, or null when `place` discarded the file. @throws the error of the body
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
    await file.granted
    await orWithFolder(dirname(target), file.makesFolder === true, () => rename(draft, target))
    placed = true
    await syncFolder(dirname(target))
    return bytes
  } finally {
    await handle.close()
    if (!placed) await rm(draft, { force: true })
  }
}

/** Syncs a folder. Only then are the names of new files in it durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

export const fileChunkBytes = 256 * 1024

/** Writes the body. Chunks that arrive during a write are batched into the next one, since a write switches threads. */
async function fill(
  file: FileHandle,
  body: DurableFile['body'],
  { limit = Infinity, md5, granted, ownsChunks }: Omit<DurableFile, 'incoming' | 'body' | 'place'>,
): Promise<number> {
  let bytes = 0
  const early = new EarlySync(file)
  const write = async (chunks: Buffer[]) => {
    const isOver = bytes > limit
    let length = 0
    for (const chunk of chunks) {
      md5?.update(chunk)
      length += chunk.length
    }
    bytes += length
    if (isOver) return
    await writeAll(file, chunks, length)
    if (ownsChunks) chunks.forEach(free)
    early.written(length)
  }
  let writing = Promise.resolve()
  const turn = async (chunks: Buffer[], done: (error: Error | null) => void) => {
    writing = write(chunks)
    done(
      await writing.then(
        () => null,
        (error: Error) => error,
      ),
    )
  }
  const sink = new Writable({
    highWaterMark: fileChunkBytes,
    write: (chunk: Buffer, _encoding, done) => void turn([chunk], done),
    writev: (entries, done) =>
      void turn(
        entries.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  })
  granted?.catch((error: Error) => sink.destroy(error))
  try {
    await pipeline(body, sink)
  } finally {
    // The caller closes the file next. A write still in flight would then hit another file with the same descriptor.
    await writing.catch(() => undefined)
    await early.over()
  }
  if (early.fault) throw early.fault
  return bytes
}

/**
 * Frees the memory of a chunk at once. A chunk of a socket takes 64 KB outside the heap, which otherwise stay until a
 * full garbage collection. Nine uploads of 4 MB caused one, which was a fifth of the cost of an upload. A chunk that
 * shares its memory is not freed.
 */
function free({ buffer, length }: Buffer): void {
  if (length >= 16 * 1024 && buffer.byteLength === length) (buffer as ArrayBuffer).transfer(0)
}

/** Syncs a file while more of it arrives, so that the final sync has little left to do. */
class EarlySync {
  /** Number of syncs in flight over all files. It is limited, so that threads stay free for other file operations. */
  static #underWay = 0
  readonly #file: FileHandle
  #waiting = 0
  #syncing: Promise<void> | null = null
  /** Kept because the system reports a failed sync only once. The final sync would succeed. */
  fault: Error | null = null

  constructor(file: FileHandle) {
    this.#file = file
  }

  written(bytes: number): void {
    this.#waiting += bytes
    if (this.#waiting < earlySyncBytes || this.#syncing || EarlySync.#underWay >= earlySyncsAtOnce) return
    this.#waiting = 0
    EarlySync.#underWay += 1
    this.#syncing = this.#file
      .datasync()
      .catch((error: Error) => {
        this.fault = error
      })
      .finally(() => {
        EarlySync.#underWay -= 1
        this.#syncing = null
      })
  }

  /** Resolves when no sync is in flight, so the file may be closed. */
  async over(): Promise<void> {
    await this.#syncing
  }
}
const earlySyncBytes = 1024 * 1024
const earlySyncsAtOnce = 2

async function writeAll(file: FileHandle, chunks: Buffer[], length: number): Promise<void> {
  let { bytesWritten: at } = await file.writev(chunks)
  if (at === length) return
  const all = Buffer.concat(chunks)
  while (at < length) at += (await file.write(all, at)).bytesWritten
}

/** Folders that are being created. */
const making = new Map<string, Promise<void>>()

/** Does the work. If the folder does not exist, creates it durably and does the work again. */
async function orWithFolder<T>(folder: string, makesFolder: boolean, work: () => Promise<T>): Promise<T> {
  if (!makesFolder) return work()
  const done = await work().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    await making.getOrInsertComputed(folder, () => makeFolder(folder).finally(() => making.delete(folder)))
    return work()
  })
  await making.get(folder) // another call created the folder, and it may not be durable yet
  return done
}

async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let at = path; at !== first; at = dirname(at)) await syncFolder(dirname(at))
  await syncFolder(dirname(first))
}
