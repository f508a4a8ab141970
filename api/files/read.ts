import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { id, integer, oneOf, text } from '../http/vocabulary.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import {
  fileKeyPattern,
  noFile,
  resizeFormats,
  resizeWidths,
  resizedKey,
  type ResizeFormat,
} from '../../core/file.ts'
import { limits } from '../../core/limits.ts'
import { imageTypes } from '../../platform/images/image-header.ts'
import { errorBody } from '../http/error-reply.ts'
import { fileCaching } from '../http/headers.ts'
import { route, type Answer, type ApiContext, type AuditedCaller } from '../http/route.ts'
import { refusal } from '../http/schemas.ts'
import { matches, parseRange } from './byte-range.ts'
import { isSignedBy, type SignedFile } from './image-urls.ts'

export interface FileRow {
  image_key: string
  content_type: string
  bytes: number
  width: number | null
  height: number | null
  workspace_id: string
  board_id: string | null
}

const bytesAnswer = {
  content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
} as unknown as TSchema
const nothing = Type.Null()

/** Of a signed URL, as `POST /images/urls` gives it. */
const signedQuery = {
  expires: Type.Optional(integer('Of a signed URL: when it ends, in Unix seconds.', { minimum: 0 })),
  by: Type.Optional(id('Of a signed URL: the account for which it was signed.')),
  session: Type.Optional(
    text('Of a signed URL that a session asked for: what it ends with.', {
      pattern: '^[0-9a-f-]{36}\\.[0-9]{1,17}(\\.[0-9a-f-]{36})?$',
    }),
  ),
  signature: Type.Optional(text('Of a signed URL: the signature. Such a request needs no token.')),
}

export const readFile = route('GET /images/:key', 'read', {
  summary: 'Read a file, or a resized image.',
  schemas: {
    params: Type.Object({ key: text('Key of the file.') }),
    query: Type.Object({
      w: Type.Optional(
        oneOf(
          resizeWidths.map(String),
          'Returns the image resized to at most this width in pixels. An image is never enlarged.',
        ),
      ),
      format: Type.Optional(
        oneOf(resizeFormats, 'Format of the resized image. Default: `webp`. Requires `w`.'),
      ),
      ...signedQuery,
    }),
  },
  description:
    'Send `Range` to get a part of the file. Send `If-None-Match` with an earlier `etag` to get a 304 if you already have the bytes. A 304 does not count against the rate limit. A URL with a `signature`, from `POST /images/urls`, needs no token.',
  refuses: ['unsupported_media_type'],
  answerHeaders: ['etag', 'cache-control', 'vary', 'content-disposition', 'accept-ranges', 'content-range'],
  answers: {
    200: { ...bytesAnswer, description: 'The file, or the resized image.' },
    206: { ...bytesAnswer, description: 'The part of the file that `Range` requests.' },
    304: {
      ...nothing,
      description: 'Not modified: the client already has the bytes of the `etag` in `If-None-Match`.',
    },
    416: {
      ...refusal(['bad_request']),
      description: '`bad_request`: `Range` starts after the end of the file.',
    },
  },
  async handle(context, { principal, params, query, request }) {
    const file = await findFile(context, principal.userId, params.key)
    return answerFile(context, { file, query, request, reader: principal, caching })
  },
  async handleSigned(context, { params, query, request }) {
    const { signature = '', expires = 0, by = '', session = null } = query
    const width = query.w === undefined ? null : Number(query.w)
    const signed = { key: params.key, width, format: query.format ?? 'webp', by, expires, session }
    const leftSeconds = Math.floor(expires - context.clock.now() / 1000)
    if (leftSeconds < 0 || !isSignedBy(context.imageUrls, signed, signature)) throw badSignature()
    const { reader, ...file } = await findSigned(context, signed)
    const caching = { 'cache-control': `private, max-age=${leftSeconds}, immutable` }
    return answerFile(context, { file, query, request, reader, caching })
  },
})

/** While a browser caches a file, it shows the file even if access has ended. */
const caching = { 'cache-control': fileCaching, vary: 'authorization' }

interface Reading {
  file: FileRow
  query: { w?: string; format?: ResizeFormat }
  request: FastifyRequest
  reader: AuditedCaller
  caching: Record<string, string>
}

async function answerFile(
  context: ApiContext,
  { file, query, request, reader, caching }: Reading,
): Promise<Answer> {
  if (query.w === undefined && query.format !== undefined)
    throw badRequest('format requires w. Send both to get a resized image.')
  const answer =
    query.w === undefined
      ? await whole(context, file, request)
      : await smaller(context, file, Number(query.w), query.format ?? 'webp', request)
  context.fileRead?.({
    ...{ reader, request },
    imageKey: file.image_key,
    workspaceId: file.workspace_id,
    boardId: file.board_id,
    status: answer.status ?? 200,
  })
  return answer.status === 416 ? answer : { ...answer, headers: { ...answer.headers, ...caching } }
}

const badSignature = () =>
  new ServiceError(
    'invalid_token',
    'The signature of this URL is wrong, or the URL has ended. Get a new one from POST /images/urls.',
  )

/** The file of a signed URL, with the account for which it was signed, which must still be able to read it. */
async function findSigned(
  { database }: ApiContext,
  { key, by, session }: SignedFile,
): Promise<FileRow & { reader: AuditedCaller }> {
  const [token = null, ended = null, board = null] = session?.split('.') ?? []
  const [row] = await database.callAsSystem(
    (sql) => sql<(FileRow & { name: string | null; agent: string | null })[]>`
      select image_key, content_type, bytes, width, height, workspace_id, board_id, reader_name as name, agent_id as agent
      from ${token === null ? sql`signed_file(${key}, ${by})` : sql`signed_session_file(${key}, ${by}, ${token}, ${ended}, ${board})`}`,
  )
  if (!row) throw noFile()
  const { name, agent, ...file } = row
  const nobody = { tokenId: null, clientId: null, session: null }
  return { ...file, reader: { ...nobody, userId: by, displayName: name, serviceAccountId: agent } }
}

async function findFile({ database }: ApiContext, account: string, key: string): Promise<FileRow> {
  if (!fileKeyPattern.test(key)) throw noFile()
  const [file] = await database.asUser(
    account,
    (tx) => tx<FileRow[]>`
      select image_key, content_type, bytes, width, height, workspace_id, board_id
      from images
      where image_key = ${key}
      limit 1`,
  )
  if (!file) throw noFile()
  return file
}

const headersOf = (etag: string) => ({
  etag,
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
})

async function whole(
  { files }: ApiContext,
  file: FileRow,
  { method, headers }: FastifyRequest,
): Promise<Answer> {
  const etag = `"${file.image_key}"`
  const shared = {
    ...headersOf(etag),
    'accept-ranges': 'bytes',
    'content-disposition': `${isShown(file.content_type) ? 'inline' : 'attachment'}; filename="${file.image_key}"`,
  }
  if (matches(headers['if-none-match'], etag)) return { status: 304, body: undefined, headers: shared }
  const condition = headers['if-range']
  const range = condition === undefined || condition === etag ? parseRange(headers.range, file.bytes) : null
  if (range === 'unsatisfiable') {
    const body = errorBody(
      'bad_request',
      `Range starts after the end of the file, which has ${file.bytes} bytes.`,
    )
    return { status: 416, body, headers: { 'content-range': `bytes */${file.bytes}` } }
  }
  const length = range ? range.end - range.start + 1 : file.bytes
  const answer = {
    status: range ? 206 : 200,
    headers: {
      ...shared,
      'content-type': file.content_type,
      'content-length': String(length),
      ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${file.bytes}` } : {}),
    },
  }
  if (method === 'HEAD') return { ...answer, body: undefined }
  const stream = await files.get(file.image_key, range ?? undefined)
  if (!stream) throw contentsUnavailable()
  return { ...answer, body: stream }
}

const contentsUnavailable = () =>
  new ServiceError(
    'storage_unavailable',
    'The contents of this file are temporarily unavailable. Try again later.',
  )

/** Whether the browser may show the file. Other types are sent as downloads, because a browser could run them. */
const isShown = (type: string) =>
  imageTypes.some((one) => one === type) || /^(audio|video)\/[\w.-]+$/.test(type)

async function smaller(
  context: ApiContext,
  file: FileRow,
  width: number,
  format: ResizeFormat,
  { method, headers }: FastifyRequest,
): Promise<Answer> {
  if (!canBeResized(file))
    throw new ServiceError(
      'unsupported_media_type',
      `Only jpeg, png, gif, webp and avif images of up to ${limits.files.resizePixels} pixels can be resized. Read this file without w.`,
    )
  const etag = `"${file.image_key}-${width}.${format}"`
  const shared = {
    ...headersOf(etag),
    'content-disposition': `inline; filename="${file.image_key.split('.')[0]}-${width}.${format}"`,
  }
  if (matches(headers['if-none-match'], etag)) return { status: 304, body: undefined, headers: shared }
  const typed = { ...shared, 'content-type': `image/${format}` }
  // Without content-length, because only the resized image tells it.
  if (method === 'HEAD') return { body: undefined, headers: typed }
  const bytes = await resized(context, file, width, format)
  return { body: bytes, headers: { ...typed, 'content-length': String(bytes.length) } }
}

export const canBeResized = ({ content_type, bytes, width, height }: FileRow) =>
  content_type !== 'image/heic' &&
  imageTypes.some((one) => one === content_type) &&
  bytes <= limits.files.resizeBytes &&
  (width ?? 0) * (height ?? 0) <= limits.files.resizePixels

/** The resized image from the store. The first read makes it and stores it. */
async function resized(
  { files, resizer, log }: ApiContext,
  { image_key: key, workspace_id }: FileRow,
  width: number,
  format: ResizeFormat,
): Promise<Buffer> {
  const place = resizedKey(key, width, format)
  const kept = await files.get(place)
  if (kept) return buffer(kept)
  const bytes = await resizer.resize({
    key,
    // The work counts for the file's workspace, not for the reader.
    account: workspace_id,
    width,
    format,
    async open() {
      const stream = await files.get(key)
      if (!stream) throw contentsUnavailable()
      return stream
    },
    keep: (made) =>
      files
        .put(place, Readable.from([made]), { bytes: made.length, contentType: `image/${format}` })
        .catch((error: unknown) => log.warn({ err: error, key }, 'storing a resized image failed')),
  })
  if (!bytes)
    throw new ServiceError(
      'unsupported_media_type',
      'This image cannot be decoded, so it cannot be resized. Read it without `w`.',
    )
  return bytes
}
