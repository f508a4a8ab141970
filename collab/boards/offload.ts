/** Pure work of a request in a worker thread. */
import { ServiceError } from '../../core/errors.ts'
import { QueueFull } from '../../platform/work/fair-queue.ts'
import { TaskTimedOut, type Task, type WorkerPool } from '../../platform/work/worker-pool.ts'

/**
 * Returns the task's result. The request's account takes the turn.
 *
 * @throws ServiceError `session_unavailable` when too much waits already, or the work took too long
 */
export async function offload<Input, Output>(
  pool: WorkerPool,
  task: Task<Input, Output>,
  input: Input,
  account: string,
): Promise<Output> {
  try {
    return await pool.run(task, input, { account, timeoutMs })
  } catch (error) {
    if (error instanceof QueueFull || error instanceof TaskTimedOut) throw busy(error)
    throw error
  }
}

/** Pieces are bounded to about a second of work; a loaded machine gives the threads little time. */
const timeoutMs = 30_000

const busy = (cause: Error) =>
  new ServiceError(
    'session_unavailable',
    'The service is busy with earlier requests. Try again shortly, with fewer cards.',
    { cause },
  )
