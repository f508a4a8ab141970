/** Finds a multipart upload for an account that may write on its board. */
import { text } from '../http/vocabulary.ts'
import { noBoard, notWritable } from '../../core/board.ts'
import type { ApiContext } from '../http/route.ts'
import { boardId } from '../http/schemas.ts'
import { noUpload, type UploadFault } from './upload-fault.ts'

/** The fields with which requests name an upload. */
export const sessionFields = {
  board_id: boardId,
  key: text('Key of the file, from `POST /uploads/multipart`.', { minLength: 1, maxLength: 500 }),
  upload_id: text('Id of the upload, from `POST /uploads/multipart`.', { minLength: 1, maxLength: 2000 }),
}

export interface Session {
  contentType: string
  bytes: number
  partSize: number
  state: 'open' | 'stored' | 'ending'
}

/** @throws ServiceError `not_found`, also for an upload that expired or belongs to another board; `forbidden` */
export async function findSession(
  { database, clock }: ApiContext,
  account: string,
  { board_id, key, upload_id }: Record<keyof typeof sessionFields, string>,
): Promise<Session> {
  const [fault, session] = await database.asUser(account, async (tx) => {
    const [board] = await tx<{ fault: UploadFault | null }[]>`select board_write_fault(${board_id}) as fault`
    const [found] = await tx<(Session & { expires_at: Date })[]>`
      select content_type as "contentType", bytes, part_size as "partSize", state, expires_at
      from uploads
      where image_key = ${key} and upload_id = ${upload_id} and board_id = ${board_id} and part_size is not null`
    return [board!.fault, found]
  })
  if (fault === 'missing') throw noBoard()
  if (fault === 'forbidden') throw notWritable()
  if (!session || (session.state !== 'stored' && session.expires_at.getTime() <= clock.now()))
    throw noUpload()
  return session
}
