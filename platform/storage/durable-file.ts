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
  /** Once more than so many bytes came, no more is written. */
  limit?: number
  /** Gets its bytes. */
  md5?: Hash
  /** It goes nowhere before this resolves; when it rejects, no more is written. */
  granted?: Promise<void> | undefined
  /** What the chunks of the body hold may be freed once it is written. */
  ownsChunks?: boolean | undefined
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
    // The file is closed next: its number, in a write that is still under way, would soon be another's.
    await writing.catch(() => undefined)
    await early.over()
  }
  if (early.fault) throw early.fault
  return bytes
}

/**
 * A chunk of a socket is 64 KB outside the heap, which otherwise stays until the whole heap is collected: nine uploads of
 * 4 MB were one such collection, a fifth of all that an upload cost. One that shares its memory is left alone.
 */
function free({ buffer, length }: Buffer): void {
  if (length >= 16 * 1024 && buffer.byteLength === length) (buffer as ArrayBuffer).transfer(0)
}

/** Begins to bring a file to disk while more of it comes, so that little is left for its sync to wait for. */
class EarlySync {
  /** Over all files, so that threads are left for what else works on files. */
  static #underWay = 0
  readonly #file: FileHandle
  #waiting = 0
  #syncing: Promise<void> | null = null
  /** The system tells of it once: the sync at the end would succeed. */
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

  /** When it resolves, the file may be closed. */
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
