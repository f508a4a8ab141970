/**
 * Where the bytes of files are. Types, sizes and owners are in the database; a store knows keys and bytes alone.
 *
 * Three drivers: a folder (disk-store.ts), S3 (s3-store.ts), Supabase Storage (supabase-store.ts). One suite of tests
 * holds them to the same contract (test/platform/object-store.ts).
 */
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'

/** Of a stored object: first and last byte, both included, as in HTTP. */
export interface ByteRange {
  start: number
  end: number
}

export interface PutOptions {
  /** How many there are to come; null when that isn't known. */
  bytes: number | null
  contentType: string
  /** Nothing is under the key before it resolves, nor when it rejects. What comes meanwhile may be taken in. */
  granted?: Promise<void>
  /** Nobody else has the chunks of the body: what they hold may be freed as soon as it is written. */
  ownsChunks?: boolean
}

export interface PartPlan {
  partNumber: number
  /** What its URL accepts, exactly. */
  bytes: number
}

export interface CompletedPart {
  partNumber: number
  /** Without quotes. */
  etag: string
}

export interface StoredObject {
  key: string
  bytes: number
}

/** `unknown`: the upload was never begun, or is completed or aborted. `wrong-parts`: one is missing, or has another ETag. */
export type CompleteOutcome = { outcome: 'stored' } | { outcome: 'unknown' } | { outcome: 'wrong-parts' }

/**
 * Keys are made by this service, of `[A-Za-z0-9_./-]`. What the store can't do now throws a ServiceError
 * `storage_unavailable`.
 */
export interface ObjectStore {
  /** At the start: is it there, and may we write? @throws Error whose message is one line for the operator */
  check(): Promise<void>
  /**
   * Whole or not at all; durable when it resolves. What is under the key is replaced.
   *
   * @returns how many bytes came
   * @throws what `body` and `granted` fail with
   */
  put(key: string, body: Readable, options: PutOptions): Promise<number>
  head(key: string): Promise<{ bytes: number } | null>
  /** Null when there is no such object. The stream fails when the store breaks off. */
  get(key: string, range?: ByteRange): Promise<Readable | null>
  /** One that is not there is none the less removed. */
  remove(keys: string[]): Promise<void>
  /** All objects, in no order. */
  list(): AsyncIterable<StoredObject>
  /** @returns the upload's id */
  beginMultipart(key: string, contentType: string): Promise<string>
  /** URLs to PUT parts to, by part number. Each answers with the part's ETag. */
  signParts(
    key: string,
    uploadId: string,
    parts: PartPlan[],
    lifetimeSeconds: number,
  ): Promise<Map<number, string>>
  /** The object is what the parts are, in the order of their numbers. */
  complete(key: string, uploadId: string, parts: CompletedPart[]): Promise<CompleteOutcome>
  /** Removes what writes left that broke off together with their process. */
  tidy(): Promise<void>
  /** Throws the parts away. An upload that isn't there is none the less aborted. */
  abort(key: string, uploadId: string): Promise<void>
}

export function storeUnavailable(cause: unknown): ServiceError {
  return new ServiceError('storage_unavailable', 'The file store is out of reach. Try again shortly.', {
    cause,
  })
}

export const byPartNumber = (a: { partNumber: number }, b: { partNumber: number }) =>
  a.partNumber - b.partNumber
