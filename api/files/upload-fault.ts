/** Turns the reason for which the database refuses an upload into an error. */
import { inTrash, noBoard, notWritable } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'

export type UploadFault = 'missing' | 'forbidden' | 'trash' | 'plan' | 'full' | 'gone'

export const noUpload = () =>
  new ServiceError(
    'not_found',
    'This board has no open upload with this key and upload_id. It may have ended or expired. Begin a new one.',
  )

/** @param storage what the board's owner has, for the fault `full` */
export function uploadRefused(
  fault: UploadFault,
  bytes: number,
  storage: { used: number | null; quota: number | null } = { used: null, quota: null },
) {
  switch (fault) {
    case 'missing':
      return noBoard()
    case 'forbidden':
      return notWritable()
    case 'trash':
      return inTrash()
    case 'plan':
      return new ServiceError('forbidden', 'Multipart uploads require a paid plan of the board’s owner.')
    case 'full':
      return new ServiceError(
        'limit_reached',
        `This upload of ${bytes} bytes exceeds the storage of the board's owner: ${storage.used} of ${storage.quota} bytes are used.`,
      )
    case 'gone':
      return noUpload()
  }
}
