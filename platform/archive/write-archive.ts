/**
 * An archive is one file of named parts: a tar, compressed with zstd, so that operators can look into it
 * (`tar --zstd -tvf`).
 *
 *   <parts>      in the order in which they were added
 *   sums/000001  after up to 500 parts: their SHA-256, as `sha256sum` prints and checks them
 *   end.json     last. An archive without it is incomplete. `sha256` is that of all sums
 *
 * zstd adds a checksum of the whole. Nothing is kept in memory but a chunk and the sums that are not written yet.
 *
 * tar-stream (the tar of most npm tools) packs streams, which `tar` does for files only.
 */
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import { pack, type Pack } from 'tar-stream'
import { syncFolder } from '../storage/durable-file.ts'
import { ArchiveError } from './archive-error.ts'

export const sumsAtOnce = 500

/** What `end.json` holds. */
export interface ArchiveEnd {
  parts: number
  sha256: string
}

export interface ArchiveWriter {
  add(name: string, body: Buffer): Promise<void>
  /** @throws the error of `body`, or an Error when it does not have this size. The archive must then be abandoned */
  addStream(name: string, bytes: number, body: Body): Promise<void>
  /** Writes `end.json`, syncs the file and gives it its name. @returns the size of the file */
  finish(): Promise<number>
  /** Removes what was written. Does nothing after `finish`. */
  abandon(): Promise<void>
}

/**
 * Makes an archive that only its owner may read. It has another name until it is complete.
 *
 * @throws ArchiveError when the path exists, or can't be written. So do the writer's methods, also for a full disk
 */
export async function writeArchive(path: string): Promise<ArchiveWriter> {
  const target = resolve(path)
  const draft = `${target}.${randomUUID().slice(0, 8)}.partial`
  if (await stat(target).catch(() => null)) throw exists(path)
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }) // synced when it is closed
  await once(file, 'open').catch((error: Error) => {
    throw unwritable(path, error)
  })
  const tar = pack()
  const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } }
  const written = pipeline(tar, createZstdCompress(checked), file)
  // A failed disk ends the pipeline. A part that is being added then gets no answer, so each races against this.
  const failed = written.then(() => new Promise<never>(() => undefined))
  failed.catch(() => undefined)
  const parts = new Parts(tar)
  let isOver = false
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await Promise.race([work, failed])
    } catch (error) {
      throw isOfDisk(error) ? unwritable(path, error) : error
    }
  }

  return {
    add: (name, body) => guarded(parts.add(name, body.length, [body])),
    addStream: (name, bytes, body) => guarded(parts.add(name, bytes, body)),
    async finish() {
      await guarded(parts.end())
      await guarded(written)
      // Unlike a rename, a link replaces no file that was made meanwhile.
      await link(draft, target).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST' ? exists(path) : unwritable(path, error)
      })
      isOver = true
      await rm(draft)
      await syncFolder(dirname(target))
      return (await stat(target)).size
    },
    async abandon() {
      if (isOver) return
      isOver = true
      tar.destroy()
      await written.catch(() => undefined)
      await rm(draft, { force: true })
    },
  }
}

/** The entries of the tar, with their sums. */
class Parts {
  readonly #tar: Pack
  readonly #allSums = createHash('sha256')
  #sums: string[] = []
  #lists = 0
  #count = 0

  constructor(tar: Pack) {
    this.#tar = tar
  }

  async add(name: string, bytes: number, body: Body): Promise<void> {
    const sha256 = await this.#write(name, bytes, body)
    this.#count += 1
    this.#sums.push(`${sha256}  ${name}\n`)
    if (this.#sums.length === sumsAtOnce) await this.#writeSums()
  }

  async end(): Promise<void> {
    await this.#writeSums()
    const end: ArchiveEnd = { parts: this.#count, sha256: this.#allSums.digest('hex') }
    await this.#writeText('end.json', `${JSON.stringify(end)}\n`)
    this.#tar.finalize()
  }

  async #writeSums(): Promise<void> {
    const text = this.#sums.join('')
    this.#sums = []
    this.#allSums.update(text)
    this.#lists += 1
    await this.#writeText(`sums/${String(this.#lists).padStart(6, '0')}`, text)
  }

  #writeText(name: string, text: string): Promise<string> {
    const body = Buffer.from(text)
    return this.#write(name, body.length, [body])
  }

  /** Always as a stream: tar-stream takes a buffer without waiting for the disk. @returns the SHA-256 */
  async #write(name: string, bytes: number, body: Body): Promise<string> {
    const hash = createHash('sha256')
    const { promise: stored, resolve, reject } = Promise.withResolvers<void>()
    const entry = this.#tar.entry({ name, size: bytes, mode: 0o600 }, (error) =>
      error ? reject(error) : resolve(),
    )
    stored.catch(() => undefined)
    entry.on('error', () => undefined) // `stored` has it
    let written = 0
    for await (const chunk of body) {
      hash.update(chunk)
      written += chunk.length
      if (written > bytes) break
      if (!entry.write(chunk)) await Promise.race([once(entry, 'drain'), stored])
    }
    if (written !== bytes)
      throw new ArchiveError(`${name} does not have the ${bytes} bytes that it should have.`)
    entry.end()
    await stored
    return hash.digest('hex')
  }
}

export type Body = AsyncIterable<Uint8Array> | Uint8Array[]

const exists = (path: string) =>
  new ArchiveError(`${path} exists already. Choose another path, or remove it.`)

const isOfDisk = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && ['write', 'fsync', 'open'].includes(String(error.syscall))

function unwritable(path: string, error: NodeJS.ErrnoException): ArchiveError {
  const what = fullCodes.has(error.code ?? '')
    ? `there is no room left for ${path}. Make room, or choose another path`
    : `${path} can't be written: ${error.message}. Choose a folder that exists and that this user can write to`
  return new ArchiveError(`${what[0]!.toUpperCase()}${what.slice(1)}.`, { cause: error })
}

/** A full disk, a used quota, a limit on the size of files. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
