/** Stores files in an S3 bucket. URLs contain the bucket in their path, which every implementation supports. */
import { AwsV4Signer } from 'aws4fetch'
import type { Readable } from 'node:stream'
import { request, type Dispatcher } from 'undici'
import { withKnownSize } from './known-size.ts'
import {
  byPartNumber,
  storeUnavailable,
  type ByteRange,
  type CompletedPart,
  type CompleteOutcome,
  type ObjectStore,
  type PartPlan,
  type PutOptions,
  type StoredObject,
} from './object-store.ts'
import { storeBody } from './store-body.ts'

export interface S3Options {
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
}

interface Call {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Readable | string
}

type Answer = Dispatcher.ResponseData

const headersTimeoutMs = 60_000 // also for completing an upload of 10,000 parts
const bodyIdleMs = 60_000

export class S3Store implements ObjectStore {
  readonly #options: S3Options

  constructor(options: S3Options) {
    this.#options = options
  }

  async check() {
    const { bucket, endpoint } = this.#options
    const probe = '.corkboard-check'
    try {
      await this.#succeed({ method: 'GET', query: { 'list-type': '2', 'max-keys': '1' } })
      await this.#succeed({ method: 'PUT', key: probe, headers: { 'content-length': '0' }, body: '' })
      await this.#succeed({ method: 'DELETE', key: probe })
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw new Error(
        `The bucket ${bucket} at ${endpoint} cannot be used: ${(cause as Error).message}. Check S3_ENDPOINT, S3_REGION, S3_BUCKET and the keys.`,
        { cause: error },
      )
    }
  }

  put(key: string, body: Readable, { bytes, contentType, granted }: PutOptions) {
    return withKnownSize(body, bytes, async (sized, length) => {
      await granted
      const headers = { 'content-type': contentType, 'content-length': String(length) }
      await this.#succeed({ method: 'PUT', key, headers, body: sized })
      return length
    })
  }

  async head(key: string) {
    const answer = await this.#send({ method: 'HEAD', key })
    await answer.body.dump()
    if (answer.statusCode === 404) return null
    if (answer.statusCode >= 300) throw refusal({ method: 'HEAD', key }, answer, '')
    return { bytes: Number(answer.headers['content-length']) }
  }

  async get(key: string, range?: ByteRange) {
    const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {}
    const answer = await this.#send({ method: 'GET', key, headers })
    if (answer.statusCode < 300) return storeBody(answer.body)
    const text = await textOf(answer)
    if (answer.statusCode === 404) return null
    throw refusal({ method: 'GET', key }, answer, text)
  }

  // One request per key: some S3 implementations require an MD5 of the body of a bulk delete, others do not.
  async remove(keys: string[]) {
    for (const key of keys) await this.#succeed({ method: 'DELETE', key }, { mayMiss: true })
  }

  async *list() {
    let page = await this.#listPage(null)
    yield* page.objects
    while (page.next !== null) {
      page = await this.#listPage(page.next)
      yield* page.objects
    }
  }

  async #listPage(after: string | null) {
    const query = {
      'list-type': '2',
      'max-keys': '1000',
      ...(after === null ? {} : { 'continuation-token': after }),
    }
    const xml = await this.#succeed({ method: 'GET', query })
    const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(
      ([, entry = '']): StoredObject => ({
        key: element(entry, 'Key') ?? '',
        bytes: Number(element(entry, 'Size')),
      }),
    )
    return {
      objects,
      next: element(xml, 'IsTruncated') === 'true' ? element(xml, 'NextContinuationToken') : null,
    }
  }

  async beginMultipart(key: string, contentType: string) {
    const headers = { 'content-type': contentType }
    const xml = await this.#succeed({ method: 'POST', key, query: { uploads: '' }, headers })
    const uploadId = element(xml, 'UploadId')
    if (!uploadId) throw storeUnavailable(new Error('the store returned no upload id'))
    return uploadId
  }

  async signParts(key: string, uploadId: string, parts: PartPlan[], lifetimeSeconds: number) {
    const urls = parts.map(async ({ partNumber, bytes }): Promise<[number, string]> => {
      const query = { partNumber: String(partNumber), uploadId, 'X-Amz-Expires': String(lifetimeSeconds) }
      // The length is signed too, so the store refuses a part of another size.
      const headers = { 'content-length': String(bytes) }
      const signed = await this.#sign(
        { method: 'PUT', key, query, headers },
        { signQuery: true, allHeaders: true },
      )
      return [partNumber, signed.url.href]
    })
    return new Map(await Promise.all(urls))
  }

  async complete(key: string, uploadId: string, parts: CompletedPart[]): Promise<CompleteOutcome> {
    const listed = parts
      .toSorted(byPartNumber)
      .map(
        ({ partNumber, etag }) =>
          `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${escape(etag)}"</ETag></Part>`,
      )
    const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${listed.join('')}</CompleteMultipartUpload>`
    const headers = { 'content-type': 'application/xml' }
    const call: Call = { method: 'POST', key, query: { uploadId }, headers, body }
    const answer = await this.#send(call)
    const text = await textOf(answer)
    // An error can have status 200, because S3 sends the status before it combines the parts.
    const code = element(text, 'Code')
    if (answer.statusCode < 300 && !code) return { outcome: 'stored' }
    if (code === 'NoSuchUpload') return { outcome: 'unknown' }
    if (wrongParts.has(code ?? '')) return { outcome: 'wrong-parts' }
    throw refusal(call, answer, text)
  }

  async abort(key: string, uploadId: string) {
    await this.#succeed({ method: 'DELETE', key, query: { uploadId } }, { mayMiss: true })
  }

  async tidy() {}

  /** @returns the body of a successful answer. @throws ServiceError for any other answer, but 404 when it `mayMiss` */
  async #succeed(call: Call, { mayMiss = false } = {}): Promise<string> {
    const answer = await this.#send(call)
    const text = await textOf(answer)
    const isMissing = answer.statusCode === 404 && mayMiss
    if (answer.statusCode >= 300 && !isMissing) throw refusal(call, answer, text)
    return text
  }

  async #send(call: Call): Promise<Answer> {
    const { method, body } = call
    const { url, headers } = await this.#sign(call)
    try {
      return await request(url, {
        method,
        headers: Object.fromEntries(headers),
        body: body ?? null,
        headersTimeout: headersTimeoutMs,
        bodyTimeout: bodyIdleMs,
      })
    } catch (error) {
      throw failureOf(error, body)
    }
  }

  #sign({ method, key, query = {}, headers = {} }: Call, how: { signQuery?: true; allHeaders?: true } = {}) {
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = this.#options
    const url = new URL(`${endpoint}/${bucket}${key === undefined ? '' : `/${key}`}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const credentials = { accessKeyId, secretAccessKey, region, service: 's3' }
    return new AwsV4Signer({ ...credentials, method, url: url.href, headers, ...how }).sign()
  }
}

const wrongParts = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'MalformedXML'])

/** Returns the error of the body, if it failed, or else `storage_unavailable`. */
function failureOf(error: unknown, body: Readable | string | undefined): unknown {
  const ofBody = typeof body === 'object' ? body.errored : null
  return ofBody ?? storeUnavailable(error)
}

async function textOf({ body }: Answer): Promise<string> {
  try {
    return await body.text()
  } catch (error) {
    throw storeUnavailable(error)
  }
}

function refusal({ method, key }: Call, { statusCode }: Answer, text: string) {
  const told = [element(text, 'Code'), element(text, 'Message')].filter(Boolean).join(': ')
  return storeUnavailable(
    new Error(`${method} ${key ?? 'of the bucket'} answered ${statusCode} ${told}`.trim()),
  )
}

/** Returns the text of the first element with this name. */
function element(xml: string, name: string): string | null {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  return text === undefined
    ? null
    : text.replace(/&(amp|lt|gt|quot|apos);/g, (_all, entity: string) => entities[entity]!)
}
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const escape = (text: string) => text.replace(/[<>&"']/g, '')
