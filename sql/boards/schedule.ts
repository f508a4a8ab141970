/** Publishes and cancels a board's schedule. Run it `asUser`. */
import { AccountError } from '../accounts/accounts.ts'
import { errorCode, type Transaction } from '../database.ts'

export interface Schedule {
  sched_status: 'draft' | 'published' | 'cancelled'
  sched_version: number
  sched_published_at: Date | null
}

/** @throws AccountError when the account can't see or write the board, or the board is in the trash */
export const publishBoard = (tx: Transaction, boardId: string): Promise<Schedule> =>
  refusalsNamed(tx<Schedule[]>`select * from publish_board(${boardId})`)

/** @throws AccountError as `publishBoard` does */
export const cancelBoard = (tx: Transaction, boardId: string): Promise<Schedule> =>
  refusalsNamed(tx<Schedule[]>`select * from cancel_board(${boardId})`)

const refusals = new Set(['P0002', '42501', '55000'])

async function refusalsNamed(rows: PromiseLike<Schedule[]>): Promise<Schedule> {
  try {
    return (await rows)[0]!
  } catch (error) {
    if (refusals.has(errorCode(error))) throw new AccountError((error as Error).message, { cause: error })
    throw error
  }
}
