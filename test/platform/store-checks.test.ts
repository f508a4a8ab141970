import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { DiskStore } from '../../platform/storage/disk-store.ts'
import { openPartUrls } from '../../platform/storage/part-urls.ts'
import { S3Store } from '../../platform/storage/s3-store.ts'
import { openSupabaseStore } from '../../platform/storage/supabase-store.ts'
import { readConfig } from '../../server/config.ts'
import { launch, testDataDir } from '../support/instance.ts'
import { listenWith, s3Credentials, s3Handler, type Bucket } from '../support/s3-double.ts'
import { startService } from '../support/service.ts'
import { bucketName, newBucket, openS3Double, openSupabaseDouble } from '../support/store-drivers.ts'
import { serviceKey, supabaseHandler } from '../support/supabase-double.ts'
import { makeBoard } from '../api/board.ts'
import { png, read, sendParts, upload } from '../api/file.ts'

type Handler = ReturnType<typeof s3Handler>

test('[OS9] an S3 bucket that is not there, a wrong key and a dead server each give one line', async () => {
  const double = await openS3Double()
  onTestFinished(() => double.close())
  const right = { endpoint: double.url, bucket: bucketName, ...s3Credentials }
  const dead = { ...right, endpoint: 'http://127.0.0.1:1' }
  for (const [options, told] of [
    [{ ...right, bucket: 'another' }, 'NoSuchBucket'],
    [{ ...right, secretAccessKey: 'wrong' }, 'SignatureDoesNotMatch'],
    [{ ...right, accessKeyId: 'nobody' }, 'InvalidAccessKeyId'],
    [dead, 'ECONNREFUSED'],
  ] as const) {
    const error = await new S3Store(options).check().catch((failure: unknown) => failure as Error)
    expect((error as Error).message).toMatch(
      /^The bucket \S+ at \S+ cannot be used: .*Check S3_ENDPOINT.*\.$/,
    )
    expect((error as Error).message).toContain(told)
    expect((error as Error).message).not.toContain('\n')
  }
  const unusable = new S3Store(dead)
  await expect(unusable.head('some-key')).rejects.toMatchObject({ code: 'storage_unavailable' })
})

test('[OS9] a Supabase bucket that is not there, a wrong key and a dead server each give one line', async () => {
  const double = await openSupabaseDouble()
  onTestFinished(() => double.close())
  const right = { url: double.url, serviceKey, bucket: bucketName, s3: null }
  for (const options of [
    { ...right, bucket: 'another' },
    { ...right, serviceKey: 'wrong' },
    { ...right, url: 'http://127.0.0.1:1' },
  ]) {
    await expect(openSupabaseStore(options).check()).rejects.toThrow(
      /^The Supabase bucket \S+ at \S+ cannot be found: .*Check SUPABASE_URL, SUPABASE_SERVICE_KEY and S3_BUCKET\.$/,
    )
  }
  const unusable = openSupabaseStore({ ...right, url: 'http://127.0.0.1:1' })
  await expect(unusable.head('some-key')).rejects.toMatchObject({ code: 'storage_unavailable' })
  await expect(unusable.get('some-key')).rejects.toMatchObject({ code: 'storage_unavailable' })
  await expect(openSupabaseStore(right).beginMultipart('key', 'video/mp4')).rejects.toMatchObject({
    code: 'storage_unavailable',
  })
})

test('[OS9] a bucket that may be read and not written gives one line', async () => {
  const bucket: Bucket = { ...newBucket(), readOnly: true }
  const s3 = await openS3Double(bucket)
  const supabase = await openSupabaseDouble(bucket)
  onTestFinished(async () => {
    await s3.close()
    await supabase.close()
  })
  await expect(s3.store.check()).rejects.toThrow(
    /^The bucket \S+ at \S+ cannot be used: [^\n]*AccessDenied[^\n]*\. Check S3_ENDPOINT[^\n]*\.$/,
  )
  await expect(supabase.store.check()).rejects.toThrow(
    /^The Supabase bucket \S+ at \S+ cannot be written: new row violates row-level security policy\. Check [^\n]*\.$/,
  )
})

test('[OS9] with Supabase the keys of its S3 endpoint are checked too, when there are any', async () => {
  const double = await openSupabaseDouble()
  onTestFinished(() => double.close())
  const s3 = {
    endpoint: `${double.url}/storage/v1/s3`,
    bucket: bucketName,
    ...s3Credentials,
    secretAccessKey: 'wrong',
  }
  const options = { url: double.url, serviceKey, bucket: bucketName }
  await expect(openSupabaseStore({ ...options, s3 }).check()).rejects.toThrow(/SignatureDoesNotMatch/)
  await openSupabaseStore({ ...options, s3: null }).check()
})

test('[OS9] the start ends with that line, and nothing else', { timeout: 120_000 }, async () => {
  const [s3, supabase] = [await openS3Double(), await openSupabaseDouble()]
  onTestFinished(async () => {
    await s3.close()
    await supabase.close()
  })
  const keys = {
    S3_ACCESS_KEY_ID: s3Credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
    S3_REGION: s3Credentials.region,
  }
  const dataDir = await testDataDir()
  await writeFile(join(dataDir, 'files'), 'a file where the folder should be')
  const starts: [Record<string, string>, RegExp][] = [
    [{ STORAGE: 'disk' }, /^corkboard: The folder of files \S+ cannot be written: /],
    [
      { STORAGE: 's3', S3_ENDPOINT: s3.url, S3_BUCKET: 'another', ...keys },
      /^corkboard: The bucket another at \S+ cannot be used: .*NoSuchBucket/,
    ],
    [
      {
        STORAGE: 'supabase',
        SUPABASE_URL: supabase.url,
        SUPABASE_SERVICE_KEY: serviceKey,
        S3_BUCKET: 'another',
        ...keys,
      },
      /^corkboard: The Supabase bucket another at \S+ cannot be found: /,
    ],
  ]
  for (const [env, line] of starts) {
    const { code, stderr } = await launch(dataDir, { PORT: '0', LOG_LEVEL: 'silent', ...env }).ended
    expect(code).toBe(1)
    expect(stderr).toMatch(line)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  }
})

test('[OS9] a folder that cannot be made gives one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'files'), 'a file where the folder should be')
  await chmod(join(folder, 'files'), 0o600)
  const urls = openPartUrls(['k'.repeat(32)])
  const store = new DiskStore({
    folder: join(folder, 'files'),
    urls,
    clock: systemClock,
    publicUrl: () => '',
  })
  await expect(store.check()).rejects.toThrow(/^The folder of files \S+ cannot be written: [^\n]+\.$/)
})

test('[OS10] a storage whose settings are missing stops the start with a line that names them', () => {
  expect(() => readConfig({ STORAGE: 's3', S3_BUCKET: 'b' })).toThrow(
    'STORAGE=s3 requires S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY. Set what is missing.',
  )
  expect(() => readConfig({ STORAGE: 'supabase' })).toThrow(
    'STORAGE=supabase requires SUPABASE_URL, SUPABASE_SERVICE_KEY, S3_BUCKET. Set what is missing.',
  )
  expect(() => readConfig({ STORAGE: 'ftp' })).toThrow('STORAGE must be disk, supabase or s3')
  const supabase = {
    STORAGE: 'supabase',
    SUPABASE_URL: 'https://x.supabase.co',
    SUPABASE_SERVICE_KEY: 'k',
    S3_BUCKET: 'b',
  }
  expect(readConfig(supabase).storage).toMatchObject({ kind: 'supabase', s3: null })
  const keys = { S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 's' }
  expect(readConfig({ ...supabase, ...keys }).storage).toMatchObject({
    s3: { endpoint: 'https://x.supabase.co/storage/v1/s3', region: 'us-east-1', bucket: 'b' },
  })
})

/** A store whose connections break in the middle of each object. */
async function breaking(handler: Handler) {
  const state = { breaks: true, afterBytes: 500 }
  const server = await listenWith((request, response) => {
    if (!state.breaks || request.method !== 'GET') return handler(request, response)
    response.writeHead(200, { 'content-length': '1000' })
    response.flushHeaders()
    response.write(Buffer.alloc(state.afterBytes), () => setImmediate(() => request.socket.destroy()))
  })
  onTestFinished(() => server.close())
  return { url: server.url, state }
}

test('[OS13] a connection that breaks within an object is storage_unavailable', async () => {
  const s3 = await breaking(s3Handler(bucketName, newBucket()))
  const supabase = await breaking(supabaseHandler(bucketName, newBucket()))
  const stores = [
    new S3Store({ endpoint: s3.url, bucket: bucketName, ...s3Credentials }),
    openSupabaseStore({ url: supabase.url, serviceKey, bucket: bucketName, s3: null }),
  ]
  for (const store of stores) {
    const body = await store.get('some-key')
    await expect(buffer(body!)).rejects.toMatchObject({ code: 'storage_unavailable' })
  }
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-store-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const urls = openPartUrls(['a key for tests, of more than 32 characters'])
  const disk = new DiskStore({ folder, urls, clock: systemClock, publicUrl: () => '' })
  await mkdir(join(folder, 'objects', 'so', 'some-key'), { recursive: true })
  await expect(buffer((await disk.get('some-key'))!)).rejects.toMatchObject({ code: 'storage_unavailable' })
})

test('[OS13] reads, resized images and completions over a connection that breaks are 503', async () => {
  const { url, state } = await breaking(s3Handler(bucketName, newBucket()))
  state.breaks = false
  const storage = { kind: 's3' as const, s3: { endpoint: url, bucket: bucketName, ...s3Credentials } }
  const service = await startService({ config: { storage }, workers: false })
  onTestFinished(() => service.stop())
  const user = await service.user()
  const { id } = await makeBoard(user)
  const key = (await upload(service, user, id)).body.image_key
  const { body } = await user.api.post(`/uploads/multipart?board=${id}`, {
    bytes: png.length,
    content_type: 'image/png',
  })
  const session = { board_id: id, key: body.key, upload_id: body.upload_id }
  const parts = await sendParts(user, session, png, body.part_size, [1])
  const complete = () => user.api.post('/uploads/multipart/complete', { ...session, parts })
  state.breaks = true
  expect((await read(service, user, `${key}?w=160`)).status).toBe(503)
  const refused = await complete()
  expect([refused.status, refused.body.code]).toEqual([503, 'storage_unavailable'])
  state.afterBytes = 0
  const unread = await read(service, user, key)
  expect([unread.status, unread.headers.get('cache-control')]).toEqual([503, null])
  state.breaks = false
  expect((await complete()).status).toBe(201)
  expect((await read(service, user, `${key}?w=160`)).status).toBe(200)
  state.breaks = true
  expect((await read(service, user, `${key}?w=160`)).status).toBe(503) // the one that is kept
})
