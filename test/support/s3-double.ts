/**
 * An S3 bucket in memory, with the part of the S3 API that the service uses. It has its own implementation of SigV4. It
 * verifies signatures in the header and in the query, over all signed headers, including content-length.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface S3DoubleOptions {
  /** Combine parts in the given order without checking it, as Supabase does. */
  trustsPartOrder?: boolean
}

export interface Bucket {
  objects: Map<string, Buffer>
  uploads: Map<string, { key: string; parts: Map<number, Buffer> }>
  /** The keys have only read access. */
  readOnly?: boolean
}

export const s3Credentials = {
  accessKeyId: 'AKIDTEST',
  secretAccessKey: 'a secret of the double',
  region: 'eu-test-1',
}

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/** Answers requests below `/<bucket>`, after `prefix`. */
export function s3Handler(bucketName: string, bucket: Bucket, prefix = '', options: S3DoubleOptions = {}) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, 'http://double')
    try {
      verify(request, url)
      const path = url.pathname.slice(prefix.length + 1)
      const [name, ...rest] = path.split('/')
      if (name !== bucketName) throw new Refusal(404, 'NoSuchBucket')
      if (bucket.readOnly && request.method !== 'GET' && request.method !== 'HEAD')
        throw new Refusal(403, 'AccessDenied')
      await answer(request, response, url, rest.join('/'))
    } catch (error) {
      request.resume()
      const { status = 500, code = String(error) } = error as Partial<Refusal>
      response.writeHead(status, { 'content-type': 'application/xml' })
      response.end(
        request.method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>no</Message></Error>`,
      )
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse, url: URL, key: string) {
    const query = url.searchParams
    const send = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers })
      response.end(body)
    }
    const uploadId = query.get('uploadId')
    const upload = uploadId === null ? undefined : bucket.uploads.get(uploadId)
    switch (request.method) {
      case 'GET': {
        if (key === '') return send(200, listing(query))
        const object = bucket.objects.get(key)
        if (!object) throw new Refusal(404, 'NoSuchKey')
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
        return range ? send(206, object.subarray(Number(range[1]), Number(range[2]) + 1)) : send(200, object)
      }
      case 'HEAD': {
        const object = bucket.objects.get(key)
        if (!object) throw new Refusal(404, 'NoSuchKey')
        response.writeHead(200, { 'content-length': String(object.length) })
        return void response.end()
      }
      case 'PUT': {
        if (request.headers['content-length'] === undefined) throw new Refusal(411, 'MissingContentLength')
        const body = await buffer(request)
        if (uploadId === null) {
          bucket.objects.set(key, body)
        } else {
          if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload')
          upload.parts.set(Number(query.get('partNumber')), body)
        }
        return send(200, '', { etag: `"${md5(body)}"` })
      }
      case 'POST': {
        const body = String(await buffer(request))
        if (query.has('uploads')) {
          const id = randomUUID()
          bucket.uploads.set(id, { key, parts: new Map() })
          return send(
            200,
            `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
          )
        }
        if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload')
        const named = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"([^"]*)"<\/ETag>/g)].map(
          ([, number, etag]) => ({ number: Number(number), etag }),
        )
        if (
          named.some(
            ({ number, etag }) => !upload.parts.has(number) || md5(upload.parts.get(number)!) !== etag,
          )
        )
          throw new Refusal(400, 'InvalidPart')
        const sorted = named.every(({ number }, at) => at === 0 || number > named[at - 1]!.number)
        if (!sorted && !options.trustsPartOrder) throw new Refusal(400, 'InvalidPartOrder')
        bucket.objects.set(key, Buffer.concat(named.map(({ number }) => upload.parts.get(number)!)))
        bucket.uploads.delete(uploadId!)
        return send(200, `<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`)
      }
      case 'DELETE':
        if (uploadId === null) bucket.objects.delete(key)
        else if (!bucket.uploads.delete(uploadId)) throw new Refusal(404, 'NoSuchUpload')
        return send(204)
      default:
        throw new Refusal(405, 'MethodNotAllowed')
    }
  }

  /** Returns two entries per page, so that lists have several pages. */
  function listing(query: URLSearchParams): string {
    const after = query.get('continuation-token') ?? ''
    const keys = [...bucket.objects.keys()].sort().filter((key) => key > after)
    const page = keys.slice(0, 2)
    const contents = page.map(
      (key) => `<Contents><Key>${key}</Key><Size>${bucket.objects.get(key)!.length}</Size></Contents>`,
    )
    const more = keys.length > page.length
    return `<ListBucketResult><IsTruncated>${more}</IsTruncated>${more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''}${contents.join('')}</ListBucketResult>`
  }
}

/** @throws Refusal */
function verify(request: IncomingMessage, url: URL): void {
  const query = new URLSearchParams(url.search)
  const header = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/.exec(
    request.headers.authorization ?? '',
  )
  const inQuery = query.has('X-Amz-Signature')
  const credential = header?.[1] ?? query.get('X-Amz-Credential') ?? ''
  const signedHeaders = header?.[2] ?? query.get('X-Amz-SignedHeaders') ?? ''
  const signature = header?.[3] ?? query.get('X-Amz-Signature') ?? ''
  const date = inQuery ? query.get('X-Amz-Date')! : String(request.headers['x-amz-date'])
  const payload = inQuery ? 'UNSIGNED-PAYLOAD' : String(request.headers['x-amz-content-sha256'])
  const [accessKey, ...scope] = credential.split('/')
  if (accessKey !== s3Credentials.accessKeyId) throw new Refusal(403, 'InvalidAccessKeyId')
  const time = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const age = (Date.now() - time) / 1000
  if (!(age < (inQuery ? Number(query.get('X-Amz-Expires')) : 900))) throw new Refusal(403, 'AccessDenied')
  query.delete('X-Amz-Signature')
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const canonicalQuery = [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const names = signedHeaders.split(';')
  if (!names.includes('host')) throw new Refusal(403, 'AccessDenied')
  const canonical = [
    request.method,
    url.pathname,
    canonicalQuery,
    ...names.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}`),
    '',
    signedHeaders,
    payload,
  ].join('\n')
  const key = scope.reduce<string | Buffer>(
    (key, part) => hmac(key, part),
    `AWS4${s3Credentials.secretAccessKey}`,
  )
  const expected = hmac(
    key,
    ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n'),
  ).toString('hex')
  if (expected !== signature) throw new Refusal(403, 'SignatureDoesNotMatch')
}

export async function listenWith(
  handler: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => void handler(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
