/**
 * The store of files. It knows only keys and bytes; types, sizes and owners are in the database.
 *
 * There are three drivers: a folder (disk-store.ts), S3 (s3-store.ts) and Supabase Storage (supabase-store.ts). One
 * test suite checks that all of them keep the same contract (test/platform/object-store.ts).
 */
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'

/** First and last byte of a range, both included, as in HTTP. */
export interface ByteRange {
  start: number
  end: number
}

export interface PutOptions {
  /** Size of the body; null when unknown. */
  bytes: number | null
  contentType: string
  /** The object exists only after this resolves. Until then the store may receive the body. */
  granted?: Promise<void>
  /** Nothing else uses the chunks of the body, so their memory may be freed once they are written. */
  ownsChunks?: boolean
}

export interface PartPlan {
  partNumber: number
  /** Exact size that the part's URL accepts. */
  bytes: number
}

export interface CompletedPart {
  partNumber: number
  /** The ETag without quotes. */
  etag: string
}

export interface StoredObject {
  key: string
  bytes: number
}

/**
 * `unknown`: the upload does not exist, or is completed or aborted. `wrong-parts`: a part is missing or its ETag
 * differs.
 */
export type CompleteOutcome = { outcome: 'stored' } | { outcome: 'unknown' } | { outcome: 'wrong-parts' }

/**
 * This service makes the keys, of the characters `[A-Za-z0-9_./-]`. Every method throws a ServiceError
 * `storage_unavailable` when the store fails.
 */
export interface ObjectStore {
  /** Checks at the start that the store exists and is writable. @throws Error with one line for the operator */
  check(): Promise<void>
  /**
   * Stores an object atomically, and replaces the one with the same key. It is durable when the promise resolves.
   *
   * @returns the size in bytes
   * @throws the error of `body` or `granted`
   */
  put(key: string, body: Readable, options: PutOptions): Promise<number>
  head(key: string): Promise<{ bytes: number } | null>
  /** Returns null when the object does not exist. The stream fails with `storage_unavailable` when the store does. */
  get(key: string, range?: ByteRange): Promise<Readable | null>
  /** Removes objects. It is no error when one does not exist. */
  remove(keys: string[]): Promise<void>
  /** Yields all objects, in no particular order. */
  list(): AsyncIterable<StoredObject>
  /** @returns the upload's id */
  beginMultipart(key: string, contentType: string): Promise<string>
  /** Returns the URLs for PUT requests, by part number. The answer to a PUT has the part's ETag. */
  signParts(
    key: string,
    uploadId: string,
    parts: PartPlan[],
    lifetimeSeconds: number,
  ): Promise<Map<number, string>>
  /** Makes the object from its parts, in the order of their numbers. */
  complete(key: string, uploadId: string, parts: CompletedPart[]): Promise<CompleteOutcome>
  /** Removes temporary files of processes that were killed. */
  tidy(): Promise<void>
  /** Removes the parts of an upload. It is no error when the upload does not exist. */
  abort(key: string, uploadId: string): Promise<void>
}

export function storeUnavailable(cause: unknown): ServiceError {
  return new ServiceError('storage_unavailable', 'The file store cannot be reached. Try again shortly.', {
    cause,
  })
}

export const byPartNumber = (a: { partNumber: number }, b: { partNumber: number }) =>
  a.partNumber - b.partNumber
