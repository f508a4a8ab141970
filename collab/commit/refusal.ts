import { inTrash, noBoard, notWritable, tooManyCards } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { IdentifierTaken } from '../../core/identifier-taken.ts'
import { limits } from '../../core/limits.ts'
import type { Outcome, RefusalDetail } from './commit-call.ts'
import type { WriteItem } from './items.ts'

export function refusal(item: WriteItem, outcome: Outcome, detail: RefusalDetail, cap: number): ServiceError {
  const where = item.write.whereOf(item.queue)
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
      return tooManyCards(cap, Number(detail), item.built?.adds ?? 0)
    case 'full':
      return item.full === 'memory' ? new NoMemory() : new DocumentsFull()
    case 'moved_on':
      return new MovedOn()
    case 'guest':
      return guestIsFull(where)
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

export const guestIsFull = (where = '') =>
  new ServiceError(
    'limit_reached',
    `${where}The document storage that the board's owner leaves to you as a guest is full: a guest adds at most a tenth of it. Make cards smaller, delete some of yours, or ask the owner. What is deleted counts for ${limits.trashDays} more days.`,
  )

/** What a write was built on is no longer in the index. */
export class MovedOn extends ServiceError {
  constructor() {
    super('conflict', 'The cards are changing. Try again.')
  }
}

export class DocumentsFull extends ServiceError {
  constructor() {
    super(
      'limit_reached',
      `The document storage of the board's owner is full, and this change adds to it. Shorter cards make room within minutes; deleted cards and boards do when they are purged, after ${limits.trashDays} days. The owner finds the figures in GET /me, in \`documents\`.`,
    )
  }
}

export class NoMemory extends ServiceError {
  constructor() {
    super(
      'session_unavailable',
      'The open boards of this account take as much memory as one account may have. Close a large board and try again, or make this board smaller.',
    )
  }
}

export function tooLate(): ServiceError {
  return new ServiceError(
    'storage_unavailable',
    'The change could not be committed in time. It may still come through.',
  )
}

/** Nothing was written. */
export function tooOften(): ServiceError {
  return new ServiceError(
    'storage_unavailable',
    'Each change of this board takes long, because very many editors have worked on it. Try again in a few seconds, with fewer requests at the same time.',
  )
}

export function shuttingDown(): ServiceError {
  return new ServiceError('session_unavailable', 'The service is shutting down. Try again shortly.')
}
