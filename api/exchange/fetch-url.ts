/** Fetches a URL for an account. Stores a file; passes a web page to the caller. */
import { Readable } from 'node:stream'
import { boundText } from '../../core/card-values.ts'
import { cardFields } from '../../core/card.ts'
import { ServiceError, type ErrorCode } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Fetched, FetchOutcome } from '../../platform/egress/egress.ts'
import { storeImage, type StoredImage } from '../files/store-image.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import type { ApiContext } from '../http/route.ts'
import { kindOf, type RemoteKind } from './kind-of.ts'
import { storeFile, type StoredFile } from './store-file.ts'

export interface Failed {
  error: string
  code: ErrorCode
}

/** A file that was fetched and stored. `ext` is null when the file's type has no known extension. */
export type RemoteFile = { name: string | null; mime: string; ext: string | null } & (
  | ({ kind: 'image' } & StoredImage)
  | ({ kind: Exclude<RemoteKind['kind'], 'image' | 'link'> } & StoredFile)
)

/** A web page. Its first bytes were read. */
export interface RemotePage {
  kind: 'link'
  contentType: string | undefined
  start: Buffer
  /** The whole page. */
  body: AsyncIterable<Buffer>
}

interface Request<Page> {
  account: string
  boardId: string
  url: string
  timeoutMs: number
  /** Reads a web page while its connection is open. */
  page(page: RemotePage): Promise<Page>
  /** Called in the transaction that records the file. */
  stored(file: RemoteFile): void
}

/** Limits the concurrent fetches of an account, for imports and for uploads from a URL. */
export const fetches = new FairQueue({ atOnce: Infinity, atOncePerAccount: limits.import.atOnce })

/** @returns a function that releases the slot; null when none became free within `waitMs` */
export const takeFetchTurn = (account: string, waitMs: number): Promise<(() => void) | null> =>
  fetches.take(account, { signal: AbortSignal.timeout(Math.max(0, Math.ceil(waitMs))) }).catch(() => null)

const codes: Record<Exclude<FetchOutcome<never>['outcome'], 'received'>, ErrorCode> = {
  refused: 'bad_request',
  unreachable: 'upstream_error',
  timeout: 'upstream_error',
  broken: 'upstream_error',
  redirects: 'upstream_error',
  'too-large': 'payload_too_large',
}

/** Errors of the URL and its file are returned. @throws errors of the database and of the file store */
export async function fetchUrl<Page>(
  context: ApiContext,
  request: Request<Page>,
): Promise<RemoteFile | Page | Failed> {
  const outcome = await context.fetchRemote(
    {
      url: request.url,
      headers: { 'user-agent': 'Corkboard (import)', accept: '*/*' },
      timeoutMs: request.timeoutMs,
      maxRedirects: limits.import.redirects,
      maxBytes: limits.import.fileBytes,
    },
    (answer) =>
      receive(context, request, answer).catch((error: unknown) => {
        // The file was refused: return that. If the body failed, `outcome` has the cause.
        if (error instanceof ServiceError && !answer.body.errored) return failedBy(error)
        throw error
      }),
  )
  if (outcome.outcome === 'received') return outcome.value
  return { error: sentence(outcome.error), code: codes[outcome.outcome] }
}

export const failedBy = ({ message, code }: ServiceError): Failed => ({ error: sentence(message), code })

/** A text that begins with the name of the field stays as it is. */
const sentence = (text: string) =>
  (text.startsWith('url ') ? text : text.charAt(0).toUpperCase() + text.slice(1)) +
  (text.endsWith('.') ? '' : '.')

/** Part of a file: we ask for none, and must not store one as the whole. */
const partialContent = 206

async function receive<Page>(
  context: ApiContext,
  { account, boardId, page, stored }: Request<Page>,
  { status, headers, url, body }: Fetched,
): Promise<RemoteFile | Page | Failed> {
  const isWhole = status >= 200 && status <= 299 && status !== partialContent
  if (!isWhole)
    return { error: `The server of the URL answered with status ${status}.`, code: 'upstream_rejected' }
  const contentType = headers['content-type']
  const { start, whole, stream } = await begin(body)
  if (start.length === 0)
    return { error: 'The server of the URL sent an empty body.', code: 'upstream_rejected' }
  const found = await kindOf(start, contentType)
  if (found.kind === 'link') return page({ kind: 'link', contentType, start, body: whole })
  const incoming = { account, boardId, bytes: declaredBytes(headers), body: stream() }
  const about = { name: nameIn(url), mime: boundText(found.mime, cardFields.mime.limit), ext: found.ext }
  if (found.kind === 'image') {
    const asFile = (image: StoredImage): RemoteFile => ({ kind: 'image', ...about, ...image })
    const finished = (image: StoredImage) => stored(asFile(image))
    return asFile(await storeImage(context, { ...incoming, contentType: found.mime, finished }))
  }
  if (incoming.bytes !== null && incoming.bytes > limits.import.fileBytes) return tooLarge
  // Types that a browser could run are stored as plain bytes.
  const inert = /xml|html|script/.test(found.mime) ? 'application/octet-stream' : found.mime
  const { kind, ext } = found
  const asFile = (file: StoredFile): RemoteFile => ({ kind, ...about, ...file })
  const finished = (file: StoredFile) => stored(asFile(file))
  return asFile(await storeFile(context, { ...incoming, contentType: inert, ext, finished }))
}

const tooLarge: Failed = {
  error: `The file is larger than ${limits.import.fileBytes} bytes, the most that an import accepts.`,
  code: 'payload_too_large',
}

/** Reads the beginning of the body, from which the file's type is detected. */
async function begin(body: Readable) {
  const rest = body.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>
  const chunks: Buffer[] = []
  for (let length = 0; length < limits.import.sniffBytes;) {
    const { value, done } = await rest.next()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  const whole = withStart(chunks, rest)
  return {
    start: Buffer.concat(chunks).subarray(0, limits.import.sniffBytes),
    whole,
    stream: () => Readable.from(whole, { objectMode: false, highWaterMark: 64 * 1024 }),
  }
}

async function* withStart(chunks: Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
  chunks.length = 0
  yield* rest
}

/** The `content-length`. Null without one, and for a compressed body, whose decoded size is unknown. */
function declaredBytes(headers: Record<string, string>): number | null {
  const length = headers['content-length']
  return headers['content-encoding'] === undefined && length !== undefined && /^\d{1,15}$/.test(length)
    ? Number(length)
    : null
}

/** The last part of the URL's path, as a name to show. */
function nameIn(url: string): string | null {
  const last =
    URL.parse(url)
      ?.pathname.split('/')
      .findLast((part) => part !== '') ?? ''
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {
    // not valid percent-encoding: use it undecoded
  }
  return boundText(name, cardFields.file_name.limit) || null
}
