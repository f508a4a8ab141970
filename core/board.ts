/**
 * Errors for boards that can't be read or changed. Every check uses the same texts, so that invisible and missing
 * boards look alike.
 */
import { ServiceError } from './errors.ts'

/** @param where the field that names the board, such as `to_board_id: `; empty for the board in the path */
export const noBoard = (where = '') => new ServiceError('not_found', said(where, 'No such board.'))
export const inTrash = (where = '') =>
  new ServiceError('conflict', said(where, 'The board is in the trash. Restore it first.'))
export const notWritable = (where = '') =>
  new ServiceError('forbidden', said(where, 'You may view this board but not change it.'))

const said = (where: string, sentence: string) =>
  where === '' ? sentence : where + sentence.charAt(0).toLowerCase() + sentence.slice(1)

/**
 * @param used the owner's cards
 * @param adds cards that were sent
 */
export const tooManyCards = (cap: number, used: number, adds: number) =>
  new ServiceError(
    'limit_reached',
    `The board owner's plan holds ${cap} cards; ${used} are used and ${adds} more were sent.`,
  )
