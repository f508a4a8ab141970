import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import Type, { type TSchema } from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import {
  fileKeyPattern,
  noFile,
  resizeFormats,
  resizeWidths,
  resizedKey,
  type ResizeFormat,
} from '../../core/file.ts'
import { limits } from '../../core/limits.ts'
import { imageTypes } from '../../platform/image-header.ts'
import { errorBody } from '../error-reply.ts'
import { route, type Answer, type ApiContext } from '../route.ts'
import { errorAnswer } from '../schemas.ts'
import { matches, parseRange } from './byte-range.ts'

interface FileRow {
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
const nothing = { content: { '*/*': { schema: {} } } } as unknown as TSchema

export const readFile = route({
  method: 'GET',
  path: '/images/:key',
  scope: 'read',
  summary: 'Read a file, or a smaller picture of an image.',
  schemas: {
    params: Type.Object({ key: Type.String() }),
    query: Type.Object({
      w: Type.Optional(
        Type.Enum(resizeWidths.map(String), {
          description: 'At most so many pixels wide; never made larger.',
        }),
      ),
      format: Type.Optional(
        Type.Enum([...resizeFormats], { description: 'Of the smaller picture; `webp` when absent.' }),
      ),
    }),
  },
  answers: { 200: bytesAnswer, 206: bytesAnswer, 304: nothing, 415: errorAnswer, 416: errorAnswer },
  async handle(context, { principal, params, query, request }) {
    const file = await findFile(context, principal.userId, params.key)
    const answer =
      query.w === undefined
        ? await whole(context, file, request.headers)
        : await smaller(context, file, Number(query.w), query.format ?? 'webp', request.headers)
    context.fileRead?.({
      principal,
      request,
      imageKey: file.image_key,
      workspaceId: file.workspace_id,
      boardId: file.board_id,
      status: answer.status ?? 200,
    })
    return answer
  },
})

type Headers = Record<string, string | string[] | undefined> & {
  range?: string | undefined
  'if-none-match'?: string | undefined
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

/** What is under a key never changes, but rights do: a cache asks each time. */
const headersOf = (etag: string) => ({
  etag,
  'cache-control': 'private, no-cache',
  vary: 'authorization',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
})

async function whole({ files }: ApiContext, file: FileRow, headers: Headers): Promise<Answer> {
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
      `The file has ${file.bytes} bytes; range asks for what is after them.`,
    )
    return { status: 416, body, headers: { 'content-range': `bytes */${file.bytes}` } }
  }
  const stream = await files.get(file.image_key, range ?? undefined)
  if (!stream) throw new ServiceError('storage_unavailable', 'The bytes of this file are not to be had now.')
  const length = range ? range.end - range.start + 1 : file.bytes
  return {
    status: range ? 206 : 200,
    body: stream,
    headers: {
      ...shared,
      'content-type': file.content_type,
      'content-length': String(length),
      ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${file.bytes}` } : {}),
    },
  }
}

/** Anything else a browser could run or open is handed out as a download. */
const isShown = (type: string) =>
  imageTypes.some((one) => one === type) || /^(audio|video)\/[\w.-]+$/.test(type)

async function smaller(
  context: ApiContext,
  file: FileRow,
  width: number,
  format: ResizeFormat,
  headers: Headers,
): Promise<Answer> {
  if (!canBeResized(file))
    throw new ServiceError(
      'unsupported_media_type',
      `w is for jpeg, png, gif, webp and avif images of up to ${limits.files.resizePixels} pixels.`,
    )
  const etag = `"${file.image_key}-${width}.${format}"`
  const shared = {
    ...headersOf(etag),
    'content-disposition': `inline; filename="${file.image_key.split('.')[0]}-${width}.${format}"`,
  }
  if (matches(headers['if-none-match'], etag)) return { status: 304, body: undefined, headers: shared }
  const bytes = await resized(context, file.image_key, width, format)
  return {
    body: bytes,
    headers: { ...shared, 'content-type': `image/${format}`, 'content-length': String(bytes.length) },
  }
}

const canBeResized = ({ content_type, bytes, width, height }: FileRow) =>
  content_type !== 'image/heic' &&
  imageTypes.some((one) => one === content_type) &&
  bytes <= limits.files.resizeBytes &&
  (width ?? 0) * (height ?? 0) <= limits.files.resizePixels

/** From the store; made and kept there the first time. */
async function resized(
  { files, resizer, log }: ApiContext,
  key: string,
  width: number,
  format: ResizeFormat,
): Promise<Buffer> {
  const place = resizedKey(key, width, format)
  const kept = await files.get(place)
  if (kept) return buffer(kept)
  const bytes = await resizer.resize(
    async () => {
      const stream = await files.get(key)
      if (!stream)
        throw new ServiceError('storage_unavailable', 'The bytes of this file are not to be had now.')
      return stream
    },
    { width, format },
  )
  if (!bytes)
    throw new ServiceError(
      'unsupported_media_type',
      'This image cannot be decoded: w is not to be had of it.',
    )
  await files
    .put(place, Readable.from([bytes]), { bytes: bytes.length, contentType: `image/${format}` })
    .catch((error: unknown) => log.warn({ err: error, key }, 'a smaller picture could not be kept'))
  return bytes
}
