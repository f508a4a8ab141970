/** Why the service did not take a file, in words for the person who brought it. */
import { isFailure } from '../../client/index.ts'
import { Unreachable } from '../service/unreachable.ts'
import { imageTypes } from './shape.ts'

/** The largest image that goes in one request. Everything else needs a plan with uploads in parts. */
const requestBytes = 25 * 1024 * 1024

export function refusalOf(error: unknown, file: Blob): string {
  if (isFailure(error, 'limit_reached'))
    return 'There is no room for this file: the storage of the board’s owner is full. Delete files, or ask the owner.'
  if (isFailure(error, 'unsupported_media_type'))
    return 'The contents of this file are not what its name says. Save it again as a picture.'
  if (isFailure(error, 'payload_too_large')) return 'This file is too large for the service.'
  if (isFailure(error, 'conflict')) return 'The board is in the trash. Restore it first.'
  if (isFailure(error, 'not_found')) return 'You can’t see this board any more, or the upload has expired.'
  if (isFailure(error, 'forbidden'))
    return isSmallImage(file)
      ? 'You may not add files to this board. Ask its owner.'
      : 'The plan of the board’s owner takes only pictures, of up to 25 MB. Ask the owner for more.'
  return error instanceof Error ? error.message : String(error)
}

const isSmallImage = ({ type, size }: Blob) => imageTypes.includes(type) && size <= requestBytes

/** Whether the file itself is what was refused. Another attempt would end in the same way. */
export const isFinal = (error: unknown): boolean =>
  !isFailure(error) || isFailure(error, 'unsupported_media_type', 'payload_too_large')

/** Whether the same upload may work later: no answer came, or the service had no time. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Unreachable ||
  isFailure(error, 'unreachable', 'storage_unavailable', 'unexpected_answer', 'rate_limited')
