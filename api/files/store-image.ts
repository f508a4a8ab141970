/** An image comes in: from a request, or from wherever an import gets it. */
import { PassThrough, type Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { imageTypes, type ImageHeader } from '../../platform/images/image-header.ts'
import { withKnownSize } from '../../platform/storage/known-size.ts'
import type { ApiContext } from '../http/route.ts'
import { peekImage } from './peek-image.ts'
import { finishUpload, giveUpUpload, reserveUpload } from './reserve.ts'
import { uploadRefused, type UploadFault } from './upload-fault.ts'

export interface IncomingImage {
  account: string
  boardId: string
  /** As its sender says. */
  contentType: string | undefined
  /** As its sender says; null when it doesn't. */
  bytes: number | null
  body: Readable
  /** Nobody else has its chunks. */
  ownsChunks?: boolean
  /** Called in the transaction that records it. */
  finished?(stored: StoredImage): void
}

export interface StoredImage {
  image_key: string
  width: number | null
  height: number | null
  bytes: number
  content_type: string
}

/**
 * Streams it to the store and records it. Nothing is left of one that fails.
 *
 * @throws ServiceError `not_found`, `forbidden`, `conflict`, `limit_reached`, `payload_too_large`,
 *   `unsupported_media_type`, `storage_unavailable`; what the body fails with
 */
export async function storeImage(context: ApiContext, image: IncomingImage): Promise<StoredImage> {
  const type = image.contentType?.split(';', 1)[0]!.trim().toLowerCase() ?? ''
  if (!imageTypes.some((one) => one === type)) throw unaccepted()
  if (image.bytes !== null && image.bytes > limits.files.uploadBytes) throw tooLarge()
  if (image.bytes === null) await requireWritable(context, image) // before anything is kept for a stranger
  return withKnownSize(image.bytes === null ? bounded(image.body) : image.body, image.bytes, (body, bytes) =>
    storeSized(context, { ...image, body, bytes, contentType: type }),
  )
}

async function storeSized(
  context: ApiContext,
  {
    account,
    boardId,
    contentType,
    bytes,
    body,
    ownsChunks,
    finished,
  }: IncomingImage & { bytes: number; contentType: string },
): Promise<StoredImage> {
  const extension = extensions[contentType as keyof typeof extensions]
  const lifetimeMs = limits.files.uploadMs
  const { key, reserved } = reserveUpload(context, {
    account,
    boardId,
    contentType,
    bytes,
    partSize: null,
    extension,
    lifetimeMs,
  })
  const peeking = peekImage(body)
  let size: ImageHeader['size']
  try {
    // The bytes come in while the place is taken. Who is refused one is told at once.
    const { header, whole } = await Promise.race([peeking, rejection(reserved)])
    if (header?.type !== contentType) throw notWhatItSays(contentType, header)
    size = header.size
    const came = await context.files.put(key, whole(), { bytes, contentType, granted: reserved, ownsChunks })
    if (came !== bytes) throw brokenOff()
  } catch (error) {
    // Who still sends gets the answer: the rest is read and dropped.
    body.unpipe()
    body.on('error', () => undefined)
    void peeking.catch(() => undefined).then(() => body.resume())
    await reserved
    await giveUpUpload(context, account, key).catch((left: unknown) =>
      context.log.warn({ err: left, key }, 'what a failed upload left is removed when it expires'),
    )
    throw error
  }
  const { width = null, height = null } = size ?? {}
  const stored = { image_key: key, width, height, bytes, content_type: contentType }
  // Should its outcome stay unknown, the worker sees whether there is a row.
  const file = { key, boardId, contentType, width, height }
  const { fault } = await finishUpload(context, account, file, () => finished?.(stored))
  if (fault) {
    // An upload that ended meanwhile may have been cleared away before its last bytes came.
    if (!(await giveUpUpload(context, account, key))) await context.files.remove([key])
    throw uploadRefused(fault, { used: null, quota: null, bytes })
  }
  return stored
}

const rejection = (work: Promise<unknown>): Promise<never> =>
  new Promise((_resolve, reject) => void work.catch(reject))

const extensions = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'image/heic': '.heic',
  'image/avif': '.avif',
}

/** Fails when more comes than an image may have. */
function bounded(body: Readable): Readable {
  let bytes = 0
  const through = new PassThrough({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limits.files.uploadBytes) done(tooLarge())
      else done(null, chunk)
    },
  })
  body.once('error', (error) => through.destroy(error))
  return body.pipe(through)
}

async function requireWritable({ database }: ApiContext, { account, boardId }: IncomingImage): Promise<void> {
  const [answer] = await database.asUser(
    account,
    (tx) => tx<{ fault: UploadFault | null }[]>`select board_write_fault(${boardId}) as fault`,
  )
  if (answer!.fault) throw uploadRefused(answer!.fault, { used: null, quota: null, bytes: 0 })
}

const unaccepted = () =>
  new ServiceError('unsupported_media_type', `The content-type must be one of: ${imageTypes.join(', ')}.`)
const notWhatItSays = (type: string, header: ImageHeader | null) =>
  new ServiceError(
    'unsupported_media_type',
    `The content-type says ${type}, the bytes are ${header ? `of ${header.type}` : 'of no accepted image type'}.`,
  )
const tooLarge = () =>
  new ServiceError(
    'payload_too_large',
    `An image may have ${limits.files.uploadBytes} bytes in one request. Larger ones go by POST /uploads/multipart.`,
  )
const brokenOff = () => new ServiceError('bad_request', 'The body broke off before its end.')
