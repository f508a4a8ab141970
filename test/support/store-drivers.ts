/**
 * The drivers that are tested with the contract of object stores. S3 and Supabase are our own doubles. A real store is
 * tested, too, when the environment names it:
 *
 *   TEST_S3_ENDPOINT, TEST_S3_REGION, TEST_S3_BUCKET, TEST_S3_ACCESS_KEY_ID, TEST_S3_SECRET_ACCESS_KEY
 *   TEST_SUPABASE_URL, TEST_SUPABASE_SERVICE_KEY, TEST_SUPABASE_BUCKET, and for multipart
 *   TEST_SUPABASE_S3_ACCESS_KEY_ID, TEST_SUPABASE_S3_SECRET_ACCESS_KEY, TEST_SUPABASE_S3_REGION
 */
import { S3Store } from '../../platform/storage/s3-store.ts'
import { openSupabaseStore } from '../../platform/storage/supabase-store.ts'
import { openDiskDriver, type StoreUnderTest } from './disk-driver.ts'
import { listenWith, s3Credentials, s3Handler, type Bucket } from './s3-double.ts'
import { serviceKey, supabaseHandler } from './supabase-double.ts'

export interface Driver {
  name: string
  open(): Promise<StoreUnderTest>
}

export const bucketName = 'files-of-test'
export const newBucket = (): Bucket => ({ objects: new Map(), uploads: new Map() })

export async function openS3Double(bucket: Bucket = newBucket()): Promise<StoreUnderTest & { url: string }> {
  const server = await listenWith(s3Handler(bucketName, bucket))
  const store = new S3Store({ endpoint: server.url, bucket: bucketName, ...s3Credentials })
  return { store, ...server }
}

export async function openSupabaseDouble(
  bucket: Bucket = newBucket(),
): Promise<StoreUnderTest & { url: string }> {
  const server = await listenWith(supabaseHandler(bucketName, bucket))
  const s3 = { endpoint: `${server.url}/storage/v1/s3`, bucket: bucketName, ...s3Credentials }
  return { store: openSupabaseStore({ url: server.url, serviceKey, bucket: bucketName, s3 }), ...server }
}

const env = (name: string, fallback?: string) => {
  const value = process.env[name] ?? fallback
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}
const close = () => Promise.resolve()

const realS3: Driver = {
  name: 'a real S3',
  open: () =>
    Promise.resolve({
      close,
      store: new S3Store({
        endpoint: env('TEST_S3_ENDPOINT'),
        region: env('TEST_S3_REGION', 'us-east-1'),
        bucket: env('TEST_S3_BUCKET'),
        accessKeyId: env('TEST_S3_ACCESS_KEY_ID'),
        secretAccessKey: env('TEST_S3_SECRET_ACCESS_KEY'),
      }),
    }),
}

const realSupabase: Driver = {
  name: 'a real Supabase Storage',
  open: () => {
    const url = env('TEST_SUPABASE_URL')
    const bucket = env('TEST_SUPABASE_BUCKET')
    const s3 = {
      endpoint: `${url}/storage/v1/s3`,
      region: env('TEST_SUPABASE_S3_REGION', 'us-east-1'),
      bucket,
      accessKeyId: env('TEST_SUPABASE_S3_ACCESS_KEY_ID'),
      secretAccessKey: env('TEST_SUPABASE_S3_SECRET_ACCESS_KEY'),
    }
    const store = openSupabaseStore({ url, serviceKey: env('TEST_SUPABASE_SERVICE_KEY'), bucket, s3 })
    return Promise.resolve({ close, store })
  },
}

export const drivers: Driver[] = [
  { name: 'disk', open: openDiskDriver },
  { name: 's3', open: () => openS3Double() },
  { name: 'supabase', open: () => openSupabaseDouble() },
  ...(process.env['TEST_S3_ENDPOINT'] ? [realS3] : []),
  ...(process.env['TEST_SUPABASE_URL'] ? [realSupabase] : []),
]
