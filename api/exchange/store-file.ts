/** A file that is no image comes in from elsewhere. */
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { withKnownSize } from '../../platform/known-size.ts'
import { giveUpUpload, reserveUpload } from '../files/reserve.ts'
import { uploadRefused, type UploadFault } from '../files/upload-fault.ts'
import type { ApiContext } from '../route.ts'

export interface IncomingFile {
  account: string
  boardId: string
  contentType: string
  /** Without its dot. */
  ext: string | null
  /** Null when nobody has said. */
  bytes: number | null
  body: Readable
}

/**
 * Streams it to the store and records it. Nothing is left of one that fails.
 *
 * @throws ServiceError `not_found`, `forbidden`, `conflict`, `limit_reached`, `storage_unavailable`; what the body fails with
 */
export async function storeFile(
  context: ApiContext,
  { account, boardId, contentType, ext, bytes: declared, body }: IncomingFile,
): Promise<{ key: string; bytes: number }> {
  return withKnownSize(body, declared, async (whole, bytes) => {
    const key = await reserveUpload(context, {
      account,
      boardId,
      contentType,
      bytes,
      partSize: null,
      extension: ext === null ? '' : `.${ext}`,
      lifetimeMs: limits.files.uploadMs,
    })
    try {
      const came = await context.files.put(key, whole, { bytes, contentType })
      if (came !== bytes) throw new ServiceError('upstream_error', 'the answer broke off before its end')
      // Should its outcome stay unknown, the worker sees whether there is a row.
      const [answer] = await context.database.asUser(
        account,
        (tx) => tx<{ fault: UploadFault | null }[]>`
          select fault from finish_upload(${key}, ${contentType}, null, null, ${new Date(context.clock.now())})`,
      )
      if (answer!.fault) throw uploadRefused(answer!.fault, { used: null, quota: null, bytes })
    } catch (error) {
      await giveUpUpload(context, account, key).catch((left: unknown) =>
        context.log.warn({ err: left, key }, 'what a failed upload left is removed when it expires'),
      )
      throw error
    }
    return { key, bytes }
  })
}
