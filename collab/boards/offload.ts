/** Runs a request's pure computations in a worker thread. */
import { ServiceError } from '../../core/errors.ts'
import { QueueFull } from '../../platform/work/fair-queue.ts'
import { TaskExceeded, type Task, type WorkerPool } from '../../platform/work/worker-pool.ts'

/**
 * Returns the task's result. The task uses the account's share of the threads.
 *
 * @throws ServiceError `session_unavailable` when too many tasks are queued already, or the task took too long or too much memory
 */
export async function offload<Input, Output>(
  pool: WorkerPool,
  task: Task<Input, Output>,
  input: Input,
  account: string,
  transfer: ArrayBuffer[] = [],
): Promise<Output> {
  try {
    return await pool.run(task, input, { account, timeoutMs, transfer })
  } catch (error) {
    if (error instanceof QueueFull || error instanceof TaskExceeded) throw busy(error)
    throw error
  }
}

/**
 * Divides the input into runs, one for each task: at most `maxChars` characters and `maxCount` items. An item that is
 * larger is a run of its own.
 */
export function runsOf<Item>(
  items: Item[],
  charsOf: (item: Item) => number,
  maxChars: number,
  maxCount = Infinity,
): Item[][] {
  const runs: Item[][] = []
  let chars = Infinity
  for (const item of items) {
    if (chars + charsOf(item) > maxChars || runs.at(-1)!.length >= maxCount) {
      runs.push([])
      chars = 0
    }
    runs.at(-1)!.push(item)
    chars += charsOf(item)
  }
  return runs
}

/** Tasks are limited to about a second of work. On a busy machine they take much longer. */
const timeoutMs = 30_000

const busy = (cause: Error) =>
  new ServiceError(
    'session_unavailable',
    'The service is busy with earlier requests, or this one is too large for it. Try again shortly, with fewer cards.',
    { cause },
  )
