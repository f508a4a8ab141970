/**
 * Runs pure functions in worker threads, for work that would hold up the main thread. Accounts take turns; each piece has
 * a time limit, and past it its thread is ended, whatever it does.
 *
 * On piscina: maintained by Node.js contributors, no dependencies; it starts, recycles and ends the threads.
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { FairQueue, type FairQueueBounds } from './fair-queue.ts'

/** A function that a worker thread can load: its file and its export's name. It gets one argument, which is cloned. */
export interface Task<Input, Output> {
  readonly file: string
  readonly name: string
  /** Only for the types. */
  readonly signature?: (input: Input) => Output | Promise<Output>
}

/** `task<typeof merge>(new URL('./merge.ts', import.meta.url), 'merge')` */
export function task<Work extends (input: never) => unknown>(
  file: URL,
  name: string,
): Task<Parameters<Work>[0], Awaited<ReturnType<Work>>> {
  return { file: fileURLToPath(file), name }
}

/** The work took longer than its time limit. Doing it again would, too. */
export class TaskTimedOut extends Error {
  constructor(name: string, timeoutMs: number, options?: ErrorOptions) {
    super(`${name} took more than ${timeoutMs} ms`, options)
    this.name = 'TaskTimedOut'
  }
}

export interface RunOptions {
  /** Whose turn it takes. For the work of a board: the account that owns the board's workspace. */
  account: string
  /** From its start, not from its queueing. */
  timeoutMs?: number
  /** Buffers that are moved instead of copied; the caller can't use them afterwards. */
  transfer?: ArrayBuffer[]
}

export interface WorkerPoolOptions extends Partial<FairQueueBounds> {
  threads?: number
  /** A thread whose heap grows past this is ended, and its work fails. */
  heapMb?: number
}

const defaultTimeoutMs = 10_000
/** A thread without work ends after this. */
const idleMs = 10_000
/** Threads yield to the main thread, which everybody waits for. */
const niceIncrement = 5

export class WorkerPool {
  readonly #pool: Piscina
  readonly #queue: FairQueue

  constructor({
    threads = Math.max(2, availableParallelism() - 1),
    heapMb = 1024,
    ...bounds
  }: WorkerPoolOptions = {}) {
    this.#queue = new FairQueue({
      // One account never has all threads.
      ...{ atOnce: threads, atOncePerAccount: Math.max(1, threads - 1) },
      ...{ waiting: 1000, waitingPerAccount: 100 },
      ...bounds,
    })
    this.#pool = new Piscina({
      ...{ minThreads: 0, maxThreads: threads, idleTimeout: idleMs, niceIncrement },
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // What the process was started with (`--import`, a test runner's loaders) is not for a thread that computes.
      execArgv: [],
      env: compileCache(),
    })
  }

  /** Pieces that wait for a thread. */
  get waiting(): number {
    return this.#queue.waiting
  }

  /**
   * @throws {QueueFull} when too much waits, in all or of this account
   * @throws {TaskTimedOut} when it took longer than `timeoutMs`
   */
  run<Input, Output>(
    { file, name }: Task<Input, Output>,
    input: Input,
    { account, timeoutMs = defaultTimeoutMs, transfer = [] }: RunOptions,
  ): Promise<Output> {
    return this.#queue.run(account, async () => {
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        return (await this.#pool.run(input, {
          ...{ filename: file, name, signal },
          transferList: transfer as never,
        })) as Output
      } catch (error) {
        throw signal.aborted ? new TaskTimedOut(name, timeoutMs, { cause: error }) : error
      }
    })
  }

  /** Ends the threads; what runs or waits is rejected. */
  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

/** Threads get none of the process's variables: some are secrets. */
function compileCache(): Record<string, string> {
  const folder = process.env['NODE_COMPILE_CACHE']
  return folder ? { NODE_COMPILE_CACHE: folder } : {}
}
