/** Opens the configured file store. */
import { join } from 'node:path'
import type { Clock } from '../platform/clock.ts'
import { DiskStore } from '../platform/storage/disk-store.ts'
import type { Logger } from '../platform/log.ts'
import type { ObjectStore } from '../platform/storage/object-store.ts'
import { openPartUrls } from '../platform/storage/part-urls.ts'
import { S3Store } from '../platform/storage/s3-store.ts'
import { openSupabaseStore } from '../platform/storage/supabase-store.ts'
import { secretKeysOf, type Config } from './config.ts'
import type { PartUploadOptions } from './part-uploads.ts'

export interface Storage {
  store: ObjectStore
  /** Null when clients send the parts of uploads straight to the store, not to this service. */
  partUploads: PartUploadOptions | null
}

export interface StorageContext {
  clock: Clock
  publicUrl(): string
  log: Pick<Logger, 'warn'>
}

export function openStorage(config: Config, { clock, publicUrl, log }: StorageContext): Storage {
  const { storage } = config
  switch (storage.kind) {
    case 'disk': {
      const urls = openPartUrls(secretKeysOf(config))
      const store = new DiskStore({ folder: join(config.dataDir, 'files'), urls, clock, publicUrl })
      return { store, partUploads: { store, urls, clock } }
    }
    case 's3':
      return { store: new S3Store(storage.s3), partUploads: null }
    case 'supabase':
      if (!storage.s3)
        log.warn(
          {},
          'multipart uploads are refused; to accept them, set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY of the Supabase project',
        )
      return { store: openSupabaseStore(storage), partUploads: null }
  }
}

/** The origin to which browsers send the parts of uploads. Null: this service. */
export function bucketOrigin({ storage }: Config): string | null {
  const s3 = storage.kind === 'disk' ? null : storage.s3
  return s3 && new URL(s3.endpoint).origin
}
