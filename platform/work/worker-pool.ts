/**
 * Runs pure functions in worker threads, for work that would block the main thread. Accounts take turns. Each piece has
 * a time limit. If it takes longer, its thread is terminated.
 *
 * Piscina starts, reuses and terminates the threads. Node.js contributors maintain it, and it has no dependencies.
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { FairQueue, type FairQueueBounds } from './fair-queue.ts'

/** A function that a worker thread can load, by its file and export name. It gets one argument, which is cloned. */
export interface Task<Input, Output> {
  readonly file: string
  readonly name: string
  /** Exists only for type inference. */
  readonly signature?: (input: Input) => Output | Promise<Output>
}

/** Example: `task<typeof merge>(new URL('./merge.ts', import.meta.url), 'merge')` */
export function task<Work extends (input: never) => unknown>(
  file: URL,
  name: string,
): Task<Parameters<Work>[0], Awaited<ReturnType<Work>>> {
  return { file: fileURLToPath(file), name }
}

/** The work took longer than its time limit, or more memory than a thread has. A retry would, too. */
export class TaskExceeded extends Error {
  constructor(name: string, limit: string, options?: ErrorOptions) {
    super(`${name} took more than ${limit}`, options)
    this.name = 'TaskExceeded'
  }
}

export interface RunOptions {
  /** The account that the work counts for. For a board, it is the owner of the board's workspace. */
  account: string
  /** Time limit, without the time in the queue. */
  timeoutMs?: number
  /** Buffers to transfer instead of copying. The caller can't use them afterwards. */
  transfer?: ArrayBuffer[]
}

export interface WorkerPoolOptions extends Partial<FairQueueBounds> {
  threads?: number
  /** Largest heap of a thread. A thread that exceeds it is terminated, and its work fails. */
  heapMb?: number
}

const defaultTimeoutMs = 10_000
/** A thread without work ends after this. */
const idleMs = 10_000
/** Gives threads a lower priority than the main thread, on which all requests depend. */
const niceIncrement = 5

export class WorkerPool {
  readonly #pool: Piscina
  readonly #heapMb: number
  /** Pieces of work that run or wait. */
  readonly queue: FairQueue

  constructor({
    threads = Math.max(2, availableParallelism() - 1),
    heapMb = 1024,
    ...bounds
  }: WorkerPoolOptions = {}) {
    this.#heapMb = heapMb
    this.queue = new FairQueue({
      // One account never uses all threads.
      ...{ atOnce: threads, atOncePerAccount: Math.max(1, threads - 1) },
      ...{ waiting: 1000, waitingPerAccount: 100 },
      ...bounds,
    })
    this.#pool = new Piscina({
      ...{ minThreads: 0, maxThreads: threads, idleTimeout: idleMs, niceIncrement },
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // Threads don't need the flags of the process, such as `--import` or the loaders of a test runner.
      execArgv: [],
      env: compileCache(),
    })
  }

  /**
   * @throws {QueueFull} when the queue, or the account's part of the queue, is full
   * @throws {TaskExceeded} when the work took longer than `timeoutMs`, or too much memory
   */
  run<Input, Output>(
    { file, name }: Task<Input, Output>,
    input: Input,
    { account, timeoutMs = defaultTimeoutMs, transfer = [] }: RunOptions,
  ): Promise<Output> {
    return this.queue.run(account, async () => {
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        return (await this.#pool.run(input, {
          ...{ filename: file, name, signal },
          transferList: transfer as never,
        })) as Output
      } catch (error) {
        if (signal.aborted) throw new TaskExceeded(name, `${timeoutMs} ms`, { cause: error })
        if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY')
          throw new TaskExceeded(name, `${this.#heapMb} MB of memory`, { cause: error })
        throw error
      }
    })
  }

  /** Terminates the threads. Work that runs or waits is rejected. */
  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

/** Returns the environment of threads: only the compile cache, because other variables contain secrets. */
function compileCache(): Record<string, string> {
  const folder = process.env['NODE_COMPILE_CACHE']
  return folder ? { NODE_COMPILE_CACHE: folder } : {}
}
