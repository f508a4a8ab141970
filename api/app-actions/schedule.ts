/** Publishes and cancels the schedule of a board, for the person who is signed in. */
import type { FastifyRequest } from 'fastify'
import { inTrash, noBoard, notWritable } from '../../core/board.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { SignedIn } from '../../sql/accounts/sessions.ts'
import { cancelBoard, publishBoard } from '../../sql/boards/schedule.ts'
import { errorCode, type Database } from '../../sql/database.ts'
import { withOperation } from '../../sql/operation.ts'
import { presentBoard, readBoard } from '../boards/board.ts'
import { uuidPattern } from '../http/schemas.ts'
import { formOperation } from '../sign-in/operation.ts'

export const scheduleActions = ['publish', 'cancel'] as const
const changes = { publish: publishBoard, cancel: cancelBoard }

/** @returns the board as the API shows it. @throws ServiceError `not_found`, `forbidden` or `conflict` */
export async function changeSchedule(
  { database }: { database: Database },
  request: FastifyRequest,
  account: SignedIn,
  action: (typeof scheduleActions)[number],
  given: string,
): Promise<Record<string, unknown>> {
  if (!uuidPattern.test(given)) throw noBoard()
  const id = given.toLowerCase()
  const work = () =>
    database.asUser(account.userId, async (tx) => {
      await changes[action](tx, id)
      return presentBoard(await readBoard(tx, id))
    })
  try {
    return await withOperation(formOperation(request, account, `board.${action}`, id), work)
  } catch (error) {
    throw refusals[errorCode((error as Error).cause)]?.() ?? error
  }
}

/** By the code that functions/schedule.sql raises. */
const refusals: Record<string, () => ServiceError> = {
  P0002: noBoard,
  '42501': notWritable,
  '55000': inTrash,
}
