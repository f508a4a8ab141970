/** Waits until the service has everything, for requests that work on what it has. */
import type { OpenBoard } from '../../client/editor/index.ts'

const patienceMs = 5000

/** @throws Error, in words for the person */
export async function allSaved(board: OpenBoard): Promise<void> {
  try {
    await board.saved(AbortSignal.timeout(patienceMs))
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
    throw new Error('Your changes are not saved yet. Try again when they are.', { cause: error })
  }
}
