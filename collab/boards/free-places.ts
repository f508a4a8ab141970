/** Finds free places on a board. For a large board a worker thread does it, while the board's other writes wait. */
import { badRequest } from '../../core/errors.ts'
import { placeMoved } from '../../core/layout/place-moved.ts'
import { placeNew, type NewCards, type Places } from '../../core/layout/place-new.ts'
import { awaited, type Steps } from '../../platform/work/loop-turn.ts'
import { task, type Task, type WorkerPool } from '../../platform/work/worker-pool.ts'
import { offload } from './offload.ts'

const newTask = task<typeof placeNew>(new URL('../../core/layout/place-new.ts', import.meta.url), 'placeNew')
const movedTask = task<typeof placeMoved>(
  new URL('../../core/layout/place-moved.ts', import.meta.url),
  'placeMoved',
)

/** Largest number of cards for which the main thread finds places. That takes a few milliseconds. */
export const inlinePlaces = 2000

/** The worker threads, and the account whose share of them is used. */
export interface Threads {
  pool: WorkerPool
  account: string
}

/**
 * Finds places for new cards.
 *
 * @throws ServiceError `bad_request` when a layout has no room, `session_unavailable` when the worker threads are busy
 */
export function* placesOfNew(threads: Threads, input: NewCards): Steps<Places> {
  const found = yield* search(threads, newTask, placeNew, input, input.occupied.length)
  if ('refused' in found) throw badRequest(found.refused)
  return found.places
}

/**
 * Finds places for cards that are moved to this board.
 *
 * @throws ServiceError `session_unavailable` when the worker threads are busy
 */
export function placesOfMoved(
  threads: Threads,
  input: Parameters<typeof placeMoved>[0],
): Steps<ReturnType<typeof placeMoved>> {
  return search(threads, movedTask, placeMoved, input, input.rest.length)
}

function* search<Input, Output>(
  { pool, account }: Threads,
  task: Task<Input, Output>,
  here: (input: Input) => Output,
  input: Input,
  cards: number,
): Steps<Output> {
  if (cards <= inlinePlaces) return here(input)
  return yield* awaited(() => offload(pool, task, input, account))
}
