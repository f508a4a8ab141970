/** Reserves storage quota for an upload before its bytes arrive, and releases it when the upload fails. */
import { randomBytes } from 'node:crypto'
import { limits } from '../../core/limits.ts'
import { currentOperation, withoutOperation } from '../../sql/operation.ts'
import type { ApiContext } from '../http/route.ts'
import { uploadRefused, type UploadFault } from './upload-fault.ts'

export interface Reservation {
  account: string
  boardId: string
  contentType: string
  bytes: number
  /** In bytes. Absent: the upload is one request. */
  partSize?: number
  /** The extension with its dot, or empty. */
  extension: string
}

/**
 * @returns the new file's key, and `reserved`, which rejects with a ServiceError `not_found`, `forbidden`, `conflict` or
 *   `limit_reached` when the upload is refused
 */
export function reserveUpload(
  context: ApiContext,
  upload: Reservation,
): { key: string; reserved: Promise<void> } {
  const key = `f${randomBytes(18).toString('base64url')}${upload.extension}`
  return { key, reserved: reserve(context, key, upload) }
}

async function reserve(context: ApiContext, key: string, upload: Reservation): Promise<void> {
  const { database, storageBytes, clock } = context
  const { partSize = null } = upload
  const lifetimeMs = partSize === null ? limits.files.uploadMs : limits.files.sessionMs
  const expires = new Date(clock.now() + lifetimeMs)
  const [answer] = await withoutOperation(() =>
    database.asUser(
      upload.account,
      (tx) => tx<{ fault: UploadFault | null; used: number | null; quota: number | null }[]>`
        select fault, used, quota
        from begin_upload(
          ${upload.boardId}, ${key}, ${upload.contentType}, ${upload.bytes}, ${partSize},
          ${storageBytes.free}, ${storageBytes.pro}, ${expires}
        )`,
    ),
  )
  const { fault, used, quota } = answer!
  if (fault) throw uploadRefused(fault, upload.bytes, { used, quota })
}

/**
 * Ends an upload that failed: it can't be completed any more, its bytes are removed, its quota is released. If this fails,
 * the worker does it when the upload expires. Returns false when there is no open upload.
 */
export const giveUpUpload = (context: ApiContext, account: string, key: string): Promise<boolean> =>
  withoutOperation(() => endUpload(context, account, key))

/** The same after an error, which matters more: that this failed is only logged. */
export const dropUpload = (context: ApiContext, account: string, key: string): Promise<unknown> =>
  giveUpUpload(context, account, key).catch((error: unknown) =>
    context.log.warn({ err: error, key }, 'cleanup of a failed upload failed; it is removed when it expires'),
  )

/** @param ended called in the transaction that ends the upload */
export async function endUpload(
  context: ApiContext,
  account: string,
  key: string,
  ended?: () => void,
): Promise<boolean> {
  const { database, files } = context
  const [upload] = await database.asUser(account, async (tx) => {
    const rows = await tx<{ upload_id: string | null }[]>`select upload_id from end_upload(${key})`
    if (rows.length > 0) ended?.()
    return rows
  })
  if (!upload) return false
  if (upload.upload_id) await files.abort(key, upload.upload_id)
  await files.remove([key])
  await withoutOperation(() => database.asUser(account, (tx) => tx`select forget_upload(${key})`))
  return true
}

export interface FinishedUpload {
  fault: UploadFault | null
  bytes: number | null
  width: number | null
  height: number | null
}

/**
 * Writes the row of an uploaded file. With a fault it writes nothing. A repeated call returns the row of the first.
 *
 * @param finished called in the transaction that writes the row
 */
export async function finishUpload(
  { database, clock }: ApiContext,
  account: string,
  file: { key: string; boardId: string; contentType: string; width: number | null; height: number | null },
  finished?: () => void,
): Promise<FinishedUpload> {
  let upload: FinishedUpload | undefined
  await database
    .asUser(account, async (tx) => {
      ;[upload] = await tx<FinishedUpload[]>`
        select fault, bytes, width, height
        from finish_upload(${file.key}, ${file.contentType}, ${file.width}, ${file.height}, ${new Date(clock.now())})`
      if (upload!.fault) throw rolledBack
      currentOperation()?.concerns({ type: 'image', ids: [file.key], board: file.boardId })
      finished?.()
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error
    })
  return upload!
}

const rolledBack = new Error('The upload is not finished.')
