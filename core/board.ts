/** Why a board can't be worked on; said alike whoever finds out, so that invisible and missing look the same. */
import { ServiceError } from './errors.ts'

/** @param where the field that names the board, such as `to_board_id: `; none for the board of the path */
export const noBoard = (where = '') => new ServiceError('not_found', said(where, 'No such board.'))
export const inTrash = (where = '') =>
  new ServiceError('conflict', said(where, 'The board is in the trash. Restore it first.'))
export const notWritable = (where = '') =>
  new ServiceError('forbidden', said(where, 'You may view this board but not change it.'))

const said = (where: string, sentence: string) =>
  where === '' ? sentence : where + sentence.charAt(0).toLowerCase() + sentence.slice(1)

/** @param used cards that the owner has. @param adds cards that were sent */
export const tooManyCards = (cap: number, used: number, adds: number) =>
  new ServiceError(
    'limit_reached',
    `The board owner's plan holds ${cap} cards; ${used} are used and ${adds} more were sent.`,
  )
