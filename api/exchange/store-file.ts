/** A file that is no image comes in from elsewhere. */
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { withKnownSize } from '../../platform/storage/known-size.ts'
import { finishUpload, giveUpUpload, reserveUpload } from '../files/reserve.ts'
import { uploadRefused } from '../files/upload-fault.ts'
import type { ApiContext } from '../http/route.ts'

export interface IncomingFile {
  account: string
  boardId: string
  contentType: string
  /** Without its dot. */
  ext: string | null
  /** Null when nobody has said. */
  bytes: number | null
  body: Readable
  /** Called in the transaction that records it. */
  finished?(stored: StoredFile): void
}

export interface StoredFile {
  key: string
  bytes: number
}

/**
 * Streams it to the store and records it. Nothing is left of one that fails.
 *
 * @throws ServiceError `not_found`, `forbidden`, `conflict`, `limit_reached`, `storage_unavailable`; what the body fails with
 */
export async function storeFile(
  context: ApiContext,
  { account, boardId, contentType, ext, bytes: declared, body, finished }: IncomingFile,
): Promise<StoredFile> {
  return withKnownSize(body, declared, async (whole, bytes) => {
    const { key, reserved } = reserveUpload(context, {
      account,
      boardId,
      contentType,
      bytes,
      partSize: null,
      extension: ext === null ? '' : `.${ext}`,
      lifetimeMs: limits.files.uploadMs,
    })
    await reserved
    try {
      const came = await context.files.put(key, whole, { bytes, contentType })
      if (came !== bytes) throw new ServiceError('upstream_error', 'the answer broke off before its end')
      // Should its outcome stay unknown, the worker sees whether there is a row.
      const file = { key, boardId, contentType, width: null, height: null }
      const { fault } = await finishUpload(context, account, file, () => finished?.({ key, bytes }))
      if (fault) throw uploadRefused(fault, { used: null, quota: null, bytes })
    } catch (error) {
      await giveUpUpload(context, account, key).catch((left: unknown) =>
        context.log.warn({ err: left, key }, 'what a failed upload left is removed when it expires'),
      )
      throw error
    }
    return { key, bytes }
  })
}
