/**
 * Stores files in a folder. A file becomes visible only when it is complete: it is written to a temporary file, synced,
 * and then renamed.
 *
 *   objects/<two characters>/<key>       the objects; slashes in a key make subfolders
 *   parts/<upload id>/<number>.<md5>     the parts of uploads in progress
 *   incoming/<random>                    temporary files of writes in flight
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { fileChunkBytes, syncFolder, writeDurably } from './durable-file.ts'
import { faults } from './file-faults.ts'
import {
  byPartNumber,
  type ByteRange,
  type CompletedPart,
  type CompleteOutcome,
  type ObjectStore,
  type PartPlan,
  type PutOptions,
} from './object-store.ts'
import { storeBody } from './store-body.ts'
import type { PartUrls } from './part-urls.ts'
import type { Clock } from '../clock.ts'

export interface DiskStoreOptions {
  folder: string
  urls: PartUrls
  clock: Clock
  /** URL at which clients reach the service, without a slash at the end. */
  publicUrl(): string
}

/** `unknown`: the upload does not exist, or not any more. */
export type PartOutcome =
  | { outcome: 'stored'; etag: string }
  | { outcome: 'unknown' }
  | { outcome: 'wrong-size' }

export class DiskStore implements ObjectStore {
  readonly #options: DiskStoreOptions
  readonly #objects: string
  readonly #parts: string
  readonly #incoming: string

  constructor(options: DiskStoreOptions) {
    this.#options = options
    this.#objects = join(options.folder, 'objects')
    this.#parts = join(options.folder, 'parts')
    this.#incoming = join(options.folder, 'incoming')
  }

  async check() {
    try {
      for (const path of [this.#objects, this.#parts, this.#incoming])
        await mkdir(path, { recursive: true, mode: 0o700 })
      const probe = join(this.#incoming, randomUUID())
      await (await open(probe, 'wx')).close()
      await rm(probe)
    } catch (error) {
      throw new Error(
        `The folder of files ${this.#options.folder} cannot be written: ${(error as Error).message}. Check DATA_DIR and its permissions.`,
        { cause: error },
      )
    }
  }

  tidy() {
    return faults(async () => {
      for (const name of await readdir(this.#incoming).catch(whenMissing([]))) {
        const draft = join(this.#incoming, name)
        const found = await stat(draft).catch(whenMissing(null))
        // A draft without a write for this long belongs to a process that was killed.
        if (found && found.mtimeMs < Date.now() - draftIdleMs) await rm(draft, { force: true })
      }
    })
  }

  put(key: string, body: Readable, { granted, ownsChunks }: PutOptions) {
    return faults(async () => (await this.#write(this.#objectPath(key), body, { granted, ownsChunks }))!)
  }

  head(key: string) {
    return faults(async () => {
      const found = await stat(this.#objectPath(key)).catch(whenMissing(null))
      return found && { bytes: found.size }
    })
  }

  get(key: string, range?: ByteRange) {
    return faults(async () => {
      // Not with a FileHandle: its reads are promises, which cost more.
      const stream = createReadStream(this.#objectPath(key), { ...range, highWaterMark: fileChunkBytes })
      const opened = once(stream, 'open').then(() => storeBody(stream))
      return opened.catch(whenMissing(null))
    })
  }

  remove(keys: string[]) {
    return faults(async () => {
      for (const key of keys) await rm(this.#objectPath(key), { force: true })
    })
  }

  async *list() {
    const entries = await readdir(this.#objects, { recursive: true, withFileTypes: true }).catch(
      whenMissing([]),
    )
    for (const entry of entries) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const found = await stat(path).catch(whenMissing(null))
      const key = relative(this.#objects, path).split(sep).slice(1).join('/')
      if (found) yield { key, bytes: found.size }
    }
  }

  beginMultipart() {
    return faults(async () => {
      const uploadId = randomBytes(18).toString('base64url')
      await mkdir(this.#uploadPath(uploadId), { recursive: true })
      await syncFolder(this.#parts)
      return uploadId
    })
  }

  async signParts(key: string, uploadId: string, plan: PartPlan[], lifetimeSeconds: number) {
    const { clock, urls, publicUrl } = this.#options
    const expires = Math.floor(clock.now() / 1000) + lifetimeSeconds
    const signed = plan.map(({ partNumber, bytes }): [number, string] => {
      const path = urls.sign({ key, uploadId, partNumber, bytes, expires })
      return [partNumber, publicUrl() + path]
    })
    return new Map(signed)
  }

  complete(key: string, uploadId: string, completed: CompletedPart[]) {
    return faults(async (): Promise<CompleteOutcome> => {
      const path = this.#objectPath(key)
      const upload = this.#uploadPath(uploadId)
      const there = await readdir(upload).catch(whenMissing(null))
      if (!there) return { outcome: 'unknown' }
      const names = completed.toSorted(byPartNumber).map(partName)
      if (names.length === 0 || !names.every((name) => there.includes(name)))
        return { outcome: 'wrong-parts' }
      const body = contentsOf(names.map((name) => join(upload, name)))
      // If a part was uploaded again meanwhile, the file with its old ETag is gone.
      const stored = await this.#write(path, body).catch(whenMissing(null))
      if (stored === null) return { outcome: 'wrong-parts' }
      await rm(upload, { recursive: true, force: true })
      return { outcome: 'stored' }
    })
  }

  abort(_key: string, uploadId: string) {
    return faults(() => rm(this.#uploadPath(uploadId), { recursive: true, force: true }))
  }

  /** Stores a part. The caller has verified its signed URL. */
  putPart(
    part: { uploadId: string; partNumber: number; bytes: number },
    body: Readable,
  ): Promise<PartOutcome> {
    const { uploadId, partNumber, bytes } = part
    return faults(async () => {
      const upload = this.#uploadPath(uploadId)
      if (!(await stat(upload).catch(whenMissing(null)))) return { outcome: 'unknown' }
      const md5 = createHash('md5')
      let etag = ''
      let gone = false
      const place = (came: number) => {
        if (came !== bytes) return null
        etag = md5.digest('hex')
        return join(upload, partName({ partNumber, etag }))
      }
      const file = { incoming: this.#incoming, body, place, md5, limit: bytes }
      const stored = await writeDurably(file).catch((error: NodeJS.ErrnoException) => {
        gone = error.syscall === 'rename' && error.code === 'ENOENT' // aborted meanwhile
        if (!gone) throw error
        return null
      })
      if (stored === null) return { outcome: gone ? 'unknown' : 'wrong-size' }
      for (const other of await readdir(upload)) {
        if (other.startsWith(`${partNumber}.`) && other !== partName({ partNumber, etag }))
          await rm(join(upload, other), { force: true })
      }
      return { outcome: 'stored', etag }
    })
  }

  #write(
    path: string,
    body: Readable | AsyncGenerator<Buffer>,
    how: Pick<PutOptions, 'granted' | 'ownsChunks'> = {},
  ) {
    return writeDurably({ incoming: this.#incoming, body, place: () => path, makesFolder: true, ...how })
  }

  #objectPath(key: string): string {
    if (!keyPattern.test(key) || key.split('/').some((part) => /^\.*$/.test(part)))
      throw new Error(`${JSON.stringify(key)} is not a valid file key`)
    return join(this.#objects, key.slice(0, 2), key)
  }

  #uploadPath(uploadId: string): string {
    if (!uploadIdPattern.test(uploadId))
      throw new Error(`${JSON.stringify(uploadId)} is not a valid upload id`)
    return join(this.#parts, uploadId)
  }
}

async function* contentsOf(paths: string[]): AsyncGenerator<Buffer> {
  for (const path of paths)
    yield* createReadStream(path, { highWaterMark: fileChunkBytes }) as AsyncIterable<Buffer>
}

const draftIdleMs = 10 * 60_000
const keyPattern = /^[\w-][\w./-]{2,400}$/
const uploadIdPattern = /^[\w-]{10,100}$/

const partName = ({ partNumber, etag }: CompletedPart) =>
  `${partNumber}.${/^[0-9a-f]{32}$/.test(etag) ? etag : 'none'}`

const whenMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return value
    throw error
  }
