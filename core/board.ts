/** Why a board can't be worked on; said alike whoever finds out, so that invisible and missing look the same. */
import { ServiceError } from './errors.ts'

export const noBoard = () => new ServiceError('not_found', 'No such board.')
export const inTrash = () => new ServiceError('conflict', 'The board is in the trash. Restore it first.')
export const notWritable = () => new ServiceError('forbidden', 'You may view this board but not change it.')
