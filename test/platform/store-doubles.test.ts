/** The doubles that stand in for S3 and Supabase are no more lenient than those. */
import { AwsV4Signer } from 'aws4fetch'
import { expect, onTestFinished, test } from 'vitest'
import { s3Credentials } from '../support/s3-double.ts'
import { bucketName, newBucket, openS3Double, openSupabaseDouble } from '../support/store-drivers.ts'
import { serviceKey } from '../support/supabase-double.ts'

async function openDouble(kind: 's3' | 'supabase', bucket = newBucket()) {
  const double = kind === 's3' ? await openS3Double(bucket) : await openSupabaseDouble(bucket)
  onTestFinished(() => double.close())
  return { ...double, root: `${double.url}${kind === 's3' ? '' : '/storage/v1/s3'}/${bucketName}` }
}

interface Signing {
  method: string
  url: string
  headers?: Record<string, string>
  body?: string
  signQuery?: boolean
}

/** As the drivers sign, but for what a test leaves out. */
const sign = (request: Signing) =>
  new AwsV4Signer({ ...s3Credentials, service: 's3', allHeaders: true, ...request }).sign()

const statusOf = async (url: string | URL, init: RequestInit) => {
  const response = await fetch(url, init)
  await response.arrayBuffer()
  return response.status
}

test.each(['s3', 'supabase'] as const)('[OS11] %s verifies signatures in the header', async (kind) => {
  const { root } = await openDouble(kind)
  const url = `${root}/some-key`
  const signed = await sign({ method: 'PUT', url, headers: { 'x-amz-meta-a': '1' } })
  const headers = Object.fromEntries(signed.headers)
  const put = (changed: Record<string, string>, to = url) =>
    statusOf(to, { method: 'PUT', headers: { ...headers, ...changed }, body: 'text' })
  expect(await put({})).toBe(200)
  expect(await put({ 'x-amz-meta-a': '2' })).toBe(403)
  expect(await put({}, `${root}/other-key`)).toBe(403)
  expect(await put({}, `${url}?partNumber=1`)).toBe(403)
  expect(
    await put({ authorization: headers['authorization']!.replace(/.$/, (c) => (c === '0' ? '1' : '0')) }),
  ).toBe(403)
  expect(await put({ 'x-amz-date': '20200101T000000Z' })).toBe(403)
  expect(await statusOf(url, { method: 'PUT', headers, body: 'text' })).toBe(200)
  expect(await statusOf(url, { method: 'GET', headers })).toBe(403)
  expect(await statusOf(url, { method: 'PUT', body: 'text' })).toBe(403)
})

test.each(['s3', 'supabase'] as const)(
  '[OS11] %s verifies signatures in the query, and the length that was signed',
  async (kind) => {
    const { root } = await openDouble(kind)
    const signed = await sign({
      method: 'PUT',
      url: `${root}/some-key?X-Amz-Expires=60`,
      headers: { 'content-length': '4' },
      signQuery: true,
    })
    const put = (body: string, url: string | URL = signed.url) => statusOf(url, { method: 'PUT', body })
    expect(new URL(signed.url).searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;host')
    expect([await put('four'), await put('fives'), await put('two')]).toEqual([200, 403, 403])
    for (const [name, value] of [
      ['X-Amz-Expires', '3600'],
      ['X-Amz-SignedHeaders', 'host'],
      ['X-Amz-Date', '20200101T000000Z'],
      ['partNumber', '2'],
    ] as const) {
      const changed = new URL(signed.url)
      changed.searchParams.set(name, value)
      expect([name, await put('four', changed)]).toEqual([name, 403])
    }
  },
)

test('[OS11] parts out of order are refused by S3 and put together as they are named by Supabase', async () => {
  for (const kind of ['s3', 'supabase'] as const) {
    const bucket = newBucket()
    const { root, store } = await openDouble(kind, bucket)
    const uploadId = await store.beginMultipart('some-key', 'video/mp4')
    const urls = await store.signParts(
      'some-key',
      uploadId,
      [1, 2].map((partNumber) => ({ partNumber, bytes: 1 })),
      60,
    )
    const etags = await Promise.all(
      [1, 2].map(async (number) => {
        const response = await fetch(urls.get(number)!, { method: 'PUT', body: String(number) })
        return response.headers.get('etag')!
      }),
    )
    for (const etag of etags) expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    const parts = [2, 1].map(
      (number) => `<Part><PartNumber>${number}</PartNumber><ETag>${etags[number - 1]}</ETag></Part>`,
    )
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    const signed = await sign({ method: 'POST', url: `${root}/some-key?uploadId=${uploadId}`, body })
    const status = await statusOf(signed.url, {
      method: 'POST',
      headers: Object.fromEntries(signed.headers),
      body,
    })
    if (kind === 's3') expect([status, bucket.objects.size]).toEqual([400, 0])
    else expect([status, String(bucket.objects.get('some-key'))]).toEqual([200, '21'])
  }
})

test('[OS11] the errors of Supabase are HTTP 400 with the truth inside, and a wrong key looks like no bucket', async () => {
  const { url } = await openDouble('supabase')
  const ask = async (path: string, key = serviceKey) => {
    const response = await fetch(`${url}/storage/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    return [response.status, ((await response.json()) as { statusCode: string; error: string }).statusCode]
  }
  expect(await ask(`object/info/${bucketName}/none`)).toEqual([400, '404'])
  expect(await ask(`object/${bucketName}/none`)).toEqual([400, '404'])
  expect(await ask(`bucket/${bucketName}`, 'wrong')).toEqual([400, '404'])
})
