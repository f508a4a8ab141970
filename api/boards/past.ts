/** Requests about the past of a board: the moment that they name, and who may see it. */
import Type from 'typebox'
import type { Moment } from '../../collab/history/outline.ts'
import type { Past, Reader } from '../../collab/history/past.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { parseTime } from '../http/feed.ts'
import { uuidPattern } from '../http/schemas.ts'
import { integer, object, text, time, nullable } from '../http/vocabulary.ts'
import { requireVisible } from './board.ts'

export const moment = text(
  'A moment of the board: a time (RFC 3339, such as `2026-01-31T09:00:00Z`), a `position` of its history, or the id of a named version.',
  { maxLength: 40 },
)

export const asOf = Type.Optional(moment)

/** The moment in an answer. */
export const pastMoment = object('The moment that the answer shows.', {
  position: integer('Position in the history of the board. It grows with each change.'),
  at: nullable(time('When the board became like this. Null when that is no longer known.')),
})

export const presentMoment = ({ position, at }: Pick<Past, 'position' | 'at'>) => ({
  position,
  at: at === null ? null : new Date(at).toISOString(),
})

/** @throws ServiceError `bad_request` */
export function momentOf(given: string, name = 'as_of'): Moment {
  if (/^\d{1,15}$/.test(given)) return { position: Number(given) }
  if (uuidPattern.test(given)) return { version: given.toLowerCase() }
  const at = parseTime(given)
  if (at) return { at: at.getTime() }
  throw badRequest(
    `${name} must be a time such as 2026-01-31T09:00:00.000Z, a position of the board's history, such as 41, or the id of a version.`,
  )
}

/** The newest state, whatever this machine's clock says. */
export const newest = (clock: Clock): Moment => ({ at: clock.now() + 60 * 60 * 1000 })

/**
 * Returns what of the board's past the caller may see.
 *
 * @throws ServiceError `not_found` for a board that the caller may not see, `forbidden` for a guest without its history
 */
export const pastReader = (database: Database, account: string, boardId: string): Promise<Reader> =>
  database.asUser(account, async (tx) => {
    const since = await pastSince(tx, boardId)
    const [user] = await tx<{ tier: string }[]>`select tier from users where id = ${account}`
    return { account, isPro: user?.tier === 'pro', since }
  })

/** The same in a transaction of the caller: the first moment that they may see. Null: all of the past. */
export async function pastSince(tx: Transaction, boardId: string): Promise<Date | null> {
  await requireVisible(tx, boardId)
  const [access] = await tx<{ allowed: boolean; since: Date | null }[]>`
    select allowed, since from history_access(${boardId})`
  if (!access?.allowed)
    throw new ServiceError(
      'forbidden',
      'You may view this board, but not its history. Ask the owner of its workspace to share the history, too.',
    )
  return access.since
}
