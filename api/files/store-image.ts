/** Stores an image from an upload or an import. */
import { PassThrough, type Readable } from 'node:stream'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { imageTypes, type ImageHeader } from '../../platform/images/image-header.ts'
import { withKnownSize } from '../../platform/storage/known-size.ts'
import type { ApiContext } from '../http/route.ts'
import { peekImage } from './peek-image.ts'
import { dropUpload, finishUpload, giveUpUpload, reserveUpload } from './reserve.ts'
import { uploadRefused, type UploadFault } from './upload-fault.ts'

export interface IncomingImage {
  account: string
  boardId: string
  /** As the sender declares it. */
  contentType: string | undefined
  /** As the sender declares it; null when it does not. */
  bytes: number | null
  body: Readable
  /** No other code keeps references to the body's chunks. */
  ownsChunks?: boolean
  /** Called in the transaction that records the image. */
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
 * Streams the image to the store and records it. An upload that fails leaves nothing behind.
 *
 * @throws ServiceError `not_found`, `forbidden`, `conflict`, `limit_reached`, `payload_too_large`,
 *   `unsupported_media_type`, `storage_unavailable`; the error of the body
 */
export async function storeImage(context: ApiContext, image: IncomingImage): Promise<StoredImage> {
  const type = image.contentType?.split(';', 1)[0]!.trim().toLowerCase() ?? ''
  if (!imageTypes.some((one) => one === type)) throw unaccepted()
  if (image.bytes !== null && image.bytes > limits.files.uploadBytes) throw tooLarge()
  if (image.bytes === null) await requireWritable(context, image) // before the body of a stranger is buffered
  return withKnownSize(image.bytes === null ? bounded(image.body) : image.body, image.bytes, (body, bytes) =>
    storeSized(context, { ...image, body, bytes, contentType: type }),
  )
}

async function storeSized(
  context: ApiContext,
  image: IncomingImage & { bytes: number; contentType: string },
): Promise<StoredImage> {
  const { account, boardId, contentType, bytes, body, ownsChunks, finished } = image
  const extension = extensions[contentType as keyof typeof extensions]
  const { key, reserved } = reserveUpload(context, { account, boardId, contentType, bytes, extension })
  const peeking = peekImage(body)
  let size: ImageHeader['size']
  try {
    // Receives bytes while the quota is reserved. A refused reservation is answered at once.
    const { header, whole } = await Promise.race([peeking, rejection(reserved)])
    if (header?.type !== contentType) throw wrongType(contentType, header)
    size = header.size
    const received = await context.files.put(key, whole(), {
      bytes,
      contentType,
      granted: reserved,
      ownsChunks,
    })
    if (received !== bytes) throw incomplete()
  } catch (error) {
    // Reads and drops the rest, because a client that still sends would not read the answer.
    body.unpipe()
    body.on('error', () => undefined)
    void peeking.catch(() => undefined).then(() => body.resume())
    await reserved
    await dropUpload(context, account, key)
    throw error
  }
  const { width = null, height = null } = size ?? {}
  const stored = { image_key: key, width, height, bytes, content_type: contentType }
  // If the outcome stays unknown, the worker later checks whether the row exists.
  const file = { key, boardId, contentType, width, height }
  const { fault } = await finishUpload(context, account, file, () => finished?.(stored))
  if (fault) {
    // If the upload ended meanwhile, the worker may have removed it before its last bytes arrived.
    if (!(await giveUpUpload(context, account, key))) await context.files.remove([key])
    throw uploadRefused(fault, bytes)
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

/** The body, which fails with `payload_too_large` beyond the limit for images. */
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
  if (answer!.fault) throw uploadRefused(answer!.fault, 0)
}

const unaccepted = () =>
  new ServiceError('unsupported_media_type', `The content-type must be one of: ${imageTypes.join(', ')}.`)
const wrongType = (type: string, header: ImageHeader | null) =>
  new ServiceError(
    'unsupported_media_type',
    `The content-type is ${type}, but the bytes are ${header ? header.type : 'not an accepted image type'}. Send the matching content-type.`,
  )
const tooLarge = () =>
  new ServiceError(
    'payload_too_large',
    `An image in one request must have at most ${limits.files.uploadBytes} bytes. Upload larger files with POST /uploads/multipart.`,
  )
const incomplete = () => badRequest('The body is shorter than its content-length. Send it again.')
