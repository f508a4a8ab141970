/** Why the database refuses an upload, as an answer. */
import { inTrash, noBoard, notWritable } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'

export type UploadFault = 'missing' | 'forbidden' | 'trash' | 'plan' | 'full' | 'gone'

export const noUpload = () =>
  new ServiceError(
    'not_found',
    'There is no such upload on this board: it ended, expired, or was never begun.',
  )

export function uploadRefused(
  fault: UploadFault,
  numbers: { used: number | null; quota: number | null; bytes: number },
) {
  switch (fault) {
    case 'missing':
      return noBoard()
    case 'forbidden':
      return notWritable()
    case 'trash':
      return inTrash()
    case 'plan':
      return new ServiceError('forbidden', 'Uploads in parts are for boards whose owner has a paid plan.')
    case 'full':
      return new ServiceError(
        'limit_reached',
        `The storage of the board's owner is ${numbers.quota} bytes, ${numbers.used} of them are used; this upload has ${numbers.bytes}.`,
      )
    case 'gone':
      return noUpload()
  }
}
