/**
 * Runs work a few at a time, with turns by account: an account that queues a thousand pieces delays another's first piece
 * by one piece at most for each slot. What waits is bounded, for each account and in all.
 */
export interface FairQueueBounds {
  /** Pieces that run at the same time. */
  atOnce: number
  /** Pieces that may run at the same time for one account. Default `atOnce`. */
  atOncePerAccount?: number
  /** Pieces that may wait. */
  waiting: number
  waitingPerAccount: number
}

/** Thrown instead of queueing. The caller says what is busy, and when to try again. */
export class QueueFull extends Error {
  constructor() {
    super('the queue is full')
    this.name = 'QueueFull'
  }
}

interface Waiting {
  start(): void
}

export class FairQueue {
  readonly #bounds: Required<FairQueueBounds>
  /** By account, each first in first out. The account whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #running = new Map<string, number>()
  #runningCount = 0
  #waitingCount = 0

  constructor(bounds: FairQueueBounds) {
    this.#bounds = { atOncePerAccount: bounds.atOnce, ...bounds }
  }

  get running(): number {
    return this.#runningCount
  }

  get waiting(): number {
    return this.#waitingCount
  }

  /**
   * Resolves or rejects as `work` does.
   * @throws {QueueFull} when the queue, or the account's part of it, is full
   * @throws the signal's reason, when it is aborted while `work` still waits
   */
  async run<Result>(
    account: string,
    work: () => Result | Promise<Result>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<Result> {
    signal?.throwIfAborted()
    if (!this.#hasRoom(account)) await this.#turn(account, signal)
    else this.#started(account)
    try {
      return await work()
    } finally {
      this.#ended(account)
    }
  }

  #hasRoom(account: string): boolean {
    return (
      this.#runningCount < this.#bounds.atOnce &&
      (this.#running.get(account) ?? 0) < this.#bounds.atOncePerAccount
    )
  }

  #turn(account: string, signal: AbortSignal | undefined): Promise<void> {
    const line = this.#waiting.get(account) ?? []
    if (this.#waitingCount >= this.#bounds.waiting || line.length >= this.#bounds.waitingPerAccount)
      throw new QueueFull()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = {
      start: () => {
        signal?.removeEventListener('abort', leave)
        this.#started(account)
        resolve()
      },
    }
    const leave = () => {
      line.splice(line.indexOf(waiting), 1)
      if (line.length === 0) this.#waiting.delete(account)
      this.#waitingCount -= 1
      reject(signal!.reason as Error)
    }
    signal?.addEventListener('abort', leave, { once: true })
    line.push(waiting)
    this.#waiting.set(account, line)
    this.#waitingCount += 1
    return promise
  }

  #started(account: string): void {
    this.#runningCount += 1
    this.#running.set(account, (this.#running.get(account) ?? 0) + 1)
  }

  #ended(account: string): void {
    this.#runningCount -= 1
    const left = this.#running.get(account)! - 1
    if (left > 0) this.#running.set(account, left)
    else this.#running.delete(account)
    for (const [next, line] of this.#waiting) {
      if (!this.#hasRoom(next)) continue
      const first = line.shift()!
      this.#waitingCount -= 1
      // The account goes to the end of the round.
      this.#waiting.delete(next)
      if (line.length > 0) this.#waiting.set(next, line)
      return first.start()
    }
  }
}
