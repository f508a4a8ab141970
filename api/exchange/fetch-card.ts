/** What is at a URL → the fields of the card that it becomes; its file, if it is one, is stored. */
import { Readable } from 'node:stream'
import { bodyLimit, boundText, textLimits, type CardChange } from '../../core/card.ts'
import { ServiceError, type ErrorCode } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Fetched, FetchOutcome } from '../../platform/egress.ts'
import { storeImage, type StoredImage } from '../files/store-image.ts'
import type { ApiContext } from '../route.ts'
import { kindOf } from './kind-of.ts'
import { readPageHead } from './page-head.ts'
import { storeFile, type StoredFile } from './store-file.ts'

export interface Failed {
  error: string
  code: ErrorCode
}

const codes: Record<Exclude<FetchOutcome<never>['outcome'], 'received'>, ErrorCode> = {
  refused: 'bad_request',
  unreachable: 'upstream_error',
  timeout: 'upstream_error',
  broken: 'upstream_error',
  redirects: 'upstream_error',
  'too-large': 'payload_too_large',
}

interface Item {
  account: string
  boardId: string
  /** Called in the transaction that records its file, if it is one. */
  stored(card: CardChange): void
}

/** @throws what is no fault of the item's: the database, the file store */
export async function fetchCard(
  context: ApiContext,
  item: Item & { url: string; timeoutMs: number },
): Promise<CardChange | Failed> {
  const outcome = await context.fetchRemote(
    {
      url: item.url,
      headers: { 'user-agent': 'Corkboard (import)', accept: '*/*' },
      timeoutMs: item.timeoutMs,
      maxRedirects: limits.import.redirects,
      maxBytes: limits.import.fileBytes,
    },
    (answer) =>
      receive(context, item, answer).catch((error: unknown) => {
        // Refusals of the file are the item's; when the body broke off, that is what the outcome tells.
        if (error instanceof ServiceError && !answer.body.errored) return failedBy(error)
        throw error
      }),
  )
  if (outcome.outcome === 'received') return outcome.value
  return { error: sentence(outcome.error), code: codes[outcome.outcome] }
}

export const failedBy = ({ message, code }: ServiceError): Failed => ({ error: sentence(message), code })

const sentence = (text: string) =>
  text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.')

async function receive(
  context: ApiContext,
  { account, boardId, stored }: Item,
  answer: Fetched,
): Promise<CardChange | Failed> {
  const { status, headers, url } = answer
  if (status < 200 || status > 299) return { error: `The URL answered ${status}.`, code: 'upstream_rejected' }
  const contentType = headers['content-type']
  const { start, rest, whole } = await begin(answer.body)
  if (start.length === 0) return { error: 'The URL answered with nothing.', code: 'upstream_rejected' }
  const found = await kindOf(start, contentType)
  if (found.kind === 'link') {
    const { title, description } = readPageHead(
      await readUpTo(start, rest, limits.import.pageBytes),
      contentType,
    )
    return {
      kind: 'link',
      title: title && boundText(title, textLimits.title),
      body: description && boundText(description, bodyLimit),
    }
  }
  const incoming = { account, boardId, bytes: declaredBytes(headers), body: whole() }
  if (found.kind === 'image') {
    const imageCard = ({ image_key, width, height }: StoredImage): CardChange => ({
      kind: 'image',
      image_key,
      ...(width && height ? fitCard(width, height) : {}),
    })
    const finished = (image: StoredImage) => stored(imageCard(image))
    return imageCard(await storeImage(context, { ...incoming, contentType: found.mime, finished }))
  }
  // What a browser could run is kept as mere bytes.
  const inert = /xml|html|script/.test(found.mime) ? 'application/octet-stream' : found.mime
  const fileCard = ({ key, bytes }: StoredFile): CardChange => ({
    kind: found.kind,
    file_key: key,
    file_name: nameIn(url),
    mime: boundText(found.mime, textLimits.mime),
    ext: found.ext,
    size_bytes: bytes,
  })
  const finished = (file: StoredFile) => stored(fileCard(file))
  return fileCard(await storeFile(context, { ...incoming, contentType: inert, ext: found.ext, finished }))
}

/** Reads as much as tells the type. */
async function begin(body: Readable) {
  const rest = body.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>
  const chunks: Buffer[] = []
  for (let length = 0; length < limits.import.sniffBytes;) {
    const { value, done } = await rest.next()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  const whole = () =>
    Readable.from(
      (async function* () {
        yield* chunks
        chunks.length = 0
        yield* rest
      })(),
      { objectMode: false, highWaterMark: 64 * 1024 },
    )
  return {
    start: Buffer.concat(chunks).subarray(0, limits.import.sniffBytes),
    rest: withStart(chunks, rest),
    whole,
  }
}

async function* withStart(chunks: Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
  yield* rest
}

async function readUpTo(start: Buffer, rest: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of rest) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= maxBytes) break
  }
  return chunks.length === 0 ? start : Buffer.concat(chunks).subarray(0, maxBytes)
}

/** As the server says; of what comes compressed nobody says. */
function declaredBytes(headers: Record<string, string>): number | null {
  const length = headers['content-length']
  return headers['content-encoding'] === undefined && length !== undefined && /^\d{1,15}$/.test(length)
    ? Number(length)
    : null
}

/** An image's size in units of the board, its proportions kept as far as cards may be so thin. */
export function fitCard(width: number, height: number): { w: number; h: number } {
  const { min, max } = limits.cardSize
  const least = min / Math.min(width, height)
  const scale = Math.min(Math.max(1, least), max / Math.max(width, height))
  const side = (pixels: number) => Math.min(max, Math.max(min, Math.round(pixels * scale)))
  return { w: side(width), h: side(height) }
}

/** The last part of a URL's path, which is only shown. */
function nameIn(url: string): string | null {
  const last =
    URL.parse(url)
      ?.pathname.split('/')
      .findLast((part) => part !== '') ?? ''
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {
    // as it is written, then
  }
  return boundText(name, textLimits.file_name) || null
}
