/**
 * Stores files in a bucket of Supabase Storage. Its own API handles whole objects. Multipart uploads use its S3
 * endpoint, because its signed uploads and TUS return no ETag.
 */
import { StorageClient } from '@supabase/storage-js'
import { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'
import { withKnownSize } from './known-size.ts'
import {
  storeUnavailable,
  type ByteRange,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
} from './object-store.ts'
import { S3Store, type S3Options } from './s3-store.ts'

export interface SupabaseOptions {
  /** URL of the Supabase project. */
  url: string
  serviceKey: string
  bucket: string
  /** Null: multipart uploads are refused. */
  s3: S3Options | null
}

/** The `error` that storage-js returns, also when the server can't be reached. */
interface StorageFault {
  message: string
  status?: number
  statusCode?: string
}

export class SupabaseStore implements ObjectStore {
  readonly #options: SupabaseOptions
  readonly #client: StorageClient
  readonly #parts: S3Store | null

  constructor(options: SupabaseOptions) {
    const { url, serviceKey, s3 } = options
    this.#options = options
    const headers = { apikey: serviceKey, authorization: `Bearer ${serviceKey}` }
    this.#client = new StorageClient(`${url}/storage/v1`, headers)
    this.#parts = s3 && new S3Store(s3)
  }

  async check() {
    const { bucket, url } = this.#options
    const refuse = (what: string, error: StorageFault) =>
      new Error(
        `The Supabase bucket ${bucket} at ${url} cannot be ${what}: ${error.message}. Check SUPABASE_URL, SUPABASE_SERVICE_KEY and S3_BUCKET.`,
        { cause: error },
      )
    const found = await this.#client.getBucket(bucket)
    if (found.error) throw refuse('found', found.error)
    const probe = 'corkboard-check'
    const kind = { upsert: true, contentType: 'image/png' }
    const written = await this.#files().upload(probe, new Uint8Array([1]), kind)
    if (written.error) throw refuse('written', written.error)
    const removed = await this.#files().remove([probe])
    if (removed.error) throw refuse('written', removed.error)
    await this.#parts?.check()
  }

  put(key: string, body: Readable, { bytes, contentType, granted }: PutOptions) {
    return withKnownSize(body, bytes, async (sized, length) => {
      await granted
      const { error } = await this.#files().upload(key, length === 0 ? new Uint8Array() : sized, {
        upsert: true,
        contentType,
        headers: { 'content-length': String(length) },
      })
      if (error) throw sized.errored ?? storeUnavailable(error)
      return length
    })
  }

  async head(key: string) {
    const { data, error } = await this.#files().info(key)
    if (error) return missingOrFault(error)
    return { bytes: Number(data.size) }
  }

  async get(key: string, range?: ByteRange) {
    const files = this.#files()
    if (range) files.setHeader('range', `bytes=${range.start}-${range.end}`)
    const { data, error } = await files.download(key).asStream()
    if (error) return missingOrFault(error)
    return Readable.fromWeb(data as Parameters<typeof Readable.fromWeb>[0])
  }

  async remove(keys: string[]) {
    for (let at = 0; at < keys.length; at += removePageSize) {
      const { error } = await this.#files().remove(keys.slice(at, at + removePageSize))
      if (error && !isMissing(error)) throw storeUnavailable(error)
    }
  }

  list() {
    return this.#listFolder('')
  }

  async *#listFolder(folder: string): AsyncGenerator<StoredObject> {
    for (let offset = 0; ; offset += listPageSize) {
      const { data, error } = await this.#files().list(folder, {
        limit: listPageSize,
        offset,
        sortBy: { column: 'name', order: 'asc' },
      })
      if (error) throw storeUnavailable(error)
      for (const { id, name, metadata } of data) {
        const key = folder === '' ? name : `${folder}/${name}`
        if (id === null) yield* this.#listFolder(key)
        else yield { key, bytes: (metadata as { size?: number } | null)?.size ?? 0 }
      }
      if (data.length < listPageSize) return
    }
  }

  async beginMultipart(...given: Parameters<ObjectStore['beginMultipart']>) {
    return this.#inParts().beginMultipart(...given)
  }

  async signParts(...given: Parameters<ObjectStore['signParts']>) {
    return this.#inParts().signParts(...given)
  }

  async complete(...given: Parameters<ObjectStore['complete']>) {
    return this.#inParts().complete(...given)
  }

  async abort(...given: Parameters<ObjectStore['abort']>) {
    return this.#inParts().abort(...given)
  }

  async tidy() {}

  #files() {
    return this.#client.from(this.#options.bucket)
  }

  #inParts(): S3Store {
    if (this.#parts) return this.#parts
    throw new ServiceError(
      'storage_unavailable',
      'Multipart uploads are not configured on this server, because its storage has no S3 keys. Upload the file in one request.',
    )
  }
}

const listPageSize = 1000
const removePageSize = 500

/** The server sends many errors with HTTP status 400 and puts the real status into `statusCode`. */
const isMissing = ({ status, statusCode }: StorageFault) =>
  status === 404 || statusCode === '404' || statusCode === 'NoSuchKey'

function missingOrFault(error: StorageFault): null {
  if (isMissing(error)) return null
  throw storeUnavailable(error)
}
