/** What the commit path answers to a write that it does not make. */
import { inTrash, noBoard, notWritable } from '../core/board.ts'
import { ServiceError } from '../core/errors.ts'
import { IdentifierTaken } from '../core/identifier-taken.ts'
import type { WriteItem } from './assemble.ts'
import type { Outcome, RefusalDetail } from './commit-call.ts'

export function refusal(item: WriteItem, outcome: Outcome, detail: RefusalDetail, cap: number): ServiceError {
  const { where } = item.write
  switch (outcome) {
    case 'identifier': {
      const [scope, value, card] = detail as [string, string, string]
      return new IdentifierTaken({ scope, value }, card)
    }
    case 'forbidden':
      return notWritable(where)
    case 'trashed':
      return inTrash(where)
    case 'limit':
      return new ServiceError(
        'limit_reached',
        `The board owner's plan holds ${cap} cards; ${Number(detail)} are used and ${item.built?.adds ?? 0} more were sent.`,
      )
    case 'storage': {
      const [used, quota, bytes] = detail as [number, number, number]
      return new ServiceError(
        'limit_reached',
        `The storage of the board's owner is ${quota} bytes, ${used} of them are used; the files of these cards, which come into its workspace, have ${bytes}.`,
      )
    }
    default:
      return noBoard(where)
  }
}

export function tooLate(): ServiceError {
  return new ServiceError(
    'storage_unavailable',
    'The change could not be committed in time. It may still come through.',
  )
}

export function shuttingDown(): ServiceError {
  return new ServiceError('session_unavailable', 'The service is shutting down. Try again shortly.')
}
