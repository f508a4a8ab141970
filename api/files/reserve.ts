/** The place of an upload in the quota: taken before its bytes come, given back when they don't. */
import { randomBytes } from 'node:crypto'
import { currentOperation, withoutOperation } from '../../sql/operation.ts'
import type { ApiContext } from '../http/route.ts'
import { uploadRefused, type UploadFault } from './upload-fault.ts'

export interface Reservation {
  account: string
  boardId: string
  contentType: string
  bytes: number
  /** In bytes; null: it is sent in one request. */
  partSize: number | null
  /** With its dot, or empty. */
  extension: string
  lifetimeMs: number
}

/**
 * @returns the new file's key; and `reserved`, which rejects with a ServiceError `not_found`, `forbidden`, `conflict` or
 *   `limit_reached` when there is no place for it
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
  const expires = new Date(clock.now() + upload.lifetimeMs)
  const [answer] = await withoutOperation(() =>
    database.asUser(
      upload.account,
      (tx) => tx<{ fault: UploadFault | null; used: number | null; quota: number | null }[]>`
        select fault, used, quota
        from begin_upload(
          ${upload.boardId}, ${key}, ${upload.contentType}, ${upload.bytes}, ${upload.partSize},
          ${storageBytes.free}, ${storageBytes.pro}, ${expires}
        )`,
    ),
  )
  const { fault, used, quota } = answer!
  if (fault) throw uploadRefused(fault, { used, quota, bytes: upload.bytes })
}

/**
 * Nobody completes the upload any more, its bytes go, then its place is free. What fails here is done by the worker
 * when the upload expires. False when there is none that could end.
 */
export const giveUpUpload = (context: ApiContext, account: string, key: string): Promise<boolean> =>
  withoutOperation(() => endUpload(context, account, key))

/** @param ended called in the transaction after which nobody completes it */
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
 * The file is there: its row is written. With a fault nothing is. Called again, it finds the row of the first call.
 *
 * @param finished called in the transaction
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
