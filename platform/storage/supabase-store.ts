/**
 * Stores files in a bucket of Supabase Storage. Its own API handles whole objects. Multipart uploads use its S3
 * endpoint, because its signed uploads and TUS return no ETag.
 */
import { StorageClient } from '@supabase/storage-js'
import { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'
import { withKnownSize } from './known-size.ts'
import { storeUnavailable, type ObjectStore, type StoredObject } from './object-store.ts'
import { storeBody } from './store-body.ts'
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

export function openSupabaseStore(options: SupabaseOptions): ObjectStore {
  const { url, serviceKey, bucket, s3 } = options
  const headers = { apikey: serviceKey, authorization: `Bearer ${serviceKey}` }
  const client = new StorageClient(`${url}/storage/v1`, headers)
  const files = () => client.from(bucket)
  const parts = s3 && new S3Store(s3)

  const inParts = () => parts ?? refuseParts()

  return {
    async check() {
      await checkBucket(client, options)
      await parts?.check()
    },

    put: (key, body, { bytes, contentType, granted }) =>
      withKnownSize(body, bytes, async (sized, length) => {
        await granted
        const { error } = await files().upload(key, length === 0 ? new Uint8Array() : sized, {
          upsert: true,
          contentType,
          headers: { 'content-length': String(length) },
        })
        if (error) throw sized.errored ?? storeUnavailable(error)
        return length
      }),

    async head(key) {
      const { data, error } = await files().info(key)
      if (error) return missingOrFault(error)
      return { bytes: Number(data.size) }
    },

    async get(key, range) {
      const from = range ? files().setHeader('range', `bytes=${range.start}-${range.end}`) : files()
      const { data, error } = await from.download(key).asStream()
      if (error) return missingOrFault(error)
      return storeBody(Readable.fromWeb(data as Parameters<typeof Readable.fromWeb>[0]))
    },

    async remove(keys) {
      for (let at = 0; at < keys.length; at += removePageSize) {
        const { error } = await files().remove(keys.slice(at, at + removePageSize))
        if (error && !isMissing(error)) throw storeUnavailable(error)
      }
    },

    list: () => listFolder(files(), ''),

    beginMultipart: async (key, contentType) => inParts().beginMultipart(key, contentType),
    signParts: async (...args) => inParts().signParts(...args),
    complete: async (...args) => inParts().complete(...args),
    abort: async (...args) => inParts().abort(...args),
    tidy: () => Promise.resolve(),
  }
}

function refuseParts(): never {
  throw new ServiceError(
    'storage_unavailable',
    'Multipart uploads are not configured on this server, because its storage has no S3 keys. Upload the file in one request.',
  )
}

type Files = ReturnType<StorageClient['from']>

/** @throws Error with one line for the operator */
async function checkBucket(client: StorageClient, { url, bucket }: SupabaseOptions): Promise<void> {
  const refuse = (what: string, error: StorageFault) =>
    new Error(
      `The Supabase bucket ${bucket} at ${url} cannot be ${what}: ${error.message}. Check SUPABASE_URL, SUPABASE_SERVICE_KEY and S3_BUCKET.`,
      { cause: error },
    )
  const files = client.from(bucket)
  const found = await client.getBucket(bucket)
  if (found.error) throw refuse('found', found.error)
  const probe = 'corkboard-check'
  const written = await files.upload(probe, new Uint8Array([1]), {
    upsert: true,
    contentType: 'image/png',
  })
  if (written.error) throw refuse('written', written.error)
  const removed = await files.remove([probe])
  if (removed.error) throw refuse('written', removed.error)
}

async function* listFolder(files: Files, folder: string): AsyncGenerator<StoredObject> {
  for (let offset = 0; ; offset += listPageSize) {
    const { data, error } = await files.list(folder, {
      limit: listPageSize,
      offset,
      sortBy: { column: 'name', order: 'asc' },
    })
    if (error) throw storeUnavailable(error)
    for (const { id, name, metadata } of data) {
      const key = folder === '' ? name : `${folder}/${name}`
      if (id === null) yield* listFolder(files, key)
      else yield { key, bytes: (metadata as { size?: number } | null)?.size ?? 0 }
    }
    if (data.length < listPageSize) return
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
