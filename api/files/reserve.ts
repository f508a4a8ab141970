/** The place of an upload in the quota: taken before its bytes come, given back when they don't. */
import { randomBytes } from 'node:crypto'
import type { ApiContext } from '../route.ts'
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

/** @returns the new file's key. @throws ServiceError `not_found`, `forbidden`, `conflict`, `limit_reached` */
export async function reserveUpload(context: ApiContext, upload: Reservation): Promise<string> {
  const { database, storageBytes, clock } = context
  const key = `f${randomBytes(18).toString('base64url')}${upload.extension}`
  const expires = new Date(clock.now() + upload.lifetimeMs)
  const [answer] = await database.asUser(
    upload.account,
    (tx) => tx<{ fault: UploadFault | null; used: number | null; quota: number | null }[]>`
      select fault, used, quota
      from begin_upload(
        ${upload.boardId}, ${key}, ${upload.contentType}, ${upload.bytes}, ${upload.partSize},
        ${storageBytes.free}, ${storageBytes.pro}, ${expires}
      )`,
  )
  const { fault, used, quota } = answer!
  if (fault) throw uploadRefused(fault, { used, quota, bytes: upload.bytes })
  return key
}

/**
 * Nobody completes the upload any more, its bytes go, then its place is free. What fails here is done by the worker
 * when the upload expires. False when there is none that could end.
 */
export async function giveUpUpload(context: ApiContext, account: string, key: string): Promise<boolean> {
  const { database, files } = context
  const [ended] = await database.asUser(
    account,
    (tx) => tx<{ upload_id: string | null }[]>`select upload_id from end_upload(${key})`,
  )
  if (!ended) return false
  if (ended.upload_id) await files.abort(key, ended.upload_id)
  await files.remove([key])
  await database.asUser(account, (tx) => tx`select forget_upload(${key})`)
  return true
}
