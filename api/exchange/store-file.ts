/** Stores a fetched file that is not an image. */
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'
import { withKnownSize } from '../../platform/storage/known-size.ts'
import { dropUpload, finishUpload, reserveUpload } from '../files/reserve.ts'
import { uploadRefused } from '../files/upload-fault.ts'
import type { ApiContext } from '../http/route.ts'

export interface IncomingFile {
  account: string
  boardId: string
  contentType: string
  /** The extension without its dot. */
  ext: string | null
  /** Null when the size is unknown. */
  bytes: number | null
  body: Readable
  /** Called in the transaction that records the file. */
  finished?(stored: StoredFile): void
}

export interface StoredFile {
  key: string
  bytes: number
}

/**
 * Streams the file to the store and records it. A failed upload leaves nothing behind.
 *
 * @throws ServiceError `not_found`, `forbidden`, `conflict`, `limit_reached`, `storage_unavailable`; the error of the body
 */
export async function storeFile(
  context: ApiContext,
  { account, boardId, contentType, ext, bytes: declared, body, finished }: IncomingFile,
): Promise<StoredFile> {
  return withKnownSize(body, declared, async (whole, bytes) => {
    const extension = ext === null ? '' : `.${ext}`
    const { key, reserved } = reserveUpload(context, { account, boardId, contentType, bytes, extension })
    await reserved
    try {
      const received = await context.files.put(key, whole, { bytes, contentType })
      if (received !== bytes)
        throw new ServiceError('upstream_error', 'the response of the server was cut off')
      // If the outcome stays unknown, the worker later checks whether the row exists.
      const file = { key, boardId, contentType, width: null, height: null }
      const { fault } = await finishUpload(context, account, file, () => finished?.({ key, bytes }))
      if (fault) throw uploadRefused(fault, bytes)
    } catch (error) {
      await dropUpload(context, account, key)
      throw error
    }
    return { key, bytes }
  })
}
