/**
 * Runs pieces of work with limited concurrency, and lets accounts take turns. If one account queues a thousand pieces,
 * another account's first piece waits for at most one of them per slot. The queue is bounded, per account and in total.
 * Users of minted sessions take the turns of the account that pays for them (payers.ts), and take turns among each other.
 */
import { limits } from '../../core/limits.ts'
import { payerOf } from './payers.ts'

export interface FairQueueBounds {
  /** Units in use at the same time. A piece takes one unit by default; units may also be bytes, for example. */
  atOnce: number
  /** Units that one account may use at the same time. Default `atOnce`. */
  atOncePerAccount?: number
  /** Most pieces that may wait. Default: no limit, for queues whose callers are limited already. */
  waiting?: number
  waitingPerAccount?: number
}

export interface Turn {
  /** Default 1. */
  units?: number
  /** Removes the piece from the queue while it still waits. Work that has started continues. */
  signal?: AbortSignal
}

/** Thrown when the queue is full. The caller turns it into a message that says what is busy and when to try again. */
export class QueueFull extends Error {
  /** The limit that was reached: that of the account, or that of the whole queue. */
  readonly whose: 'account' | 'all'

  constructor(whose: 'account' | 'all') {
    super('the queue is full')
    this.name = 'QueueFull'
    this.whose = whose
  }
}

interface Waiting {
  /** The account that queued it, which may not be the one that pays. */
  user: string
  units: number
  start(): void
}

export class FairQueue {
  readonly #bounds: Required<FairQueueBounds>
  /** Waiting pieces by account, each list first in, first out. The account with the next turn comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #used = new Map<string, number>()
  #usedCount = 0
  #waitingCount = 0
  #refusedCount = 0

  constructor(bounds: FairQueueBounds) {
    this.#bounds = {
      atOncePerAccount: bounds.atOnce,
      waiting: Infinity,
      waitingPerAccount: Infinity,
      ...bounds,
    }
  }

  /** Units in use. */
  get running(): number {
    return this.#usedCount
  }

  /** Number of waiting pieces. */
  get waiting(): number {
    return this.#waitingCount
  }

  /** Number of pieces that were refused because the queue was full. */
  get refused(): number {
    return this.#refusedCount
  }

  /**
   * Runs `work` when units are free, and settles as `work` does.
   *
   * @throws {QueueFull} when the queue, or the account's part of the queue, is full
   * @throws the signal's reason, when the signal is aborted while `work` still waits
   */
  async run<Result>(user: string, work: () => Result | Promise<Result>, turn: Turn = {}): Promise<Result> {
    const account = payerOf(user)
    const begun = this.#begin(account, user, turn)
    if (begun) await begun
    try {
      return await work()
    } finally {
      this.#end(account, turn.units ?? 1)
    }
  }

  /**
   * Waits for units, for work that is not one function. The caller ends the turn.
   *
   * @returns a function that ends the turn; calling it again does nothing
   * @throws as `run` does
   */
  async take(user: string, turn: Turn = {}): Promise<() => void> {
    const account = payerOf(user)
    const begun = this.#begin(account, user, turn)
    if (begun) await begun
    let isHeld = true
    return () => {
      if (isHeld) this.#end(account, turn.units ?? 1)
      isHeld = false
    }
  }

  /** Returns null when the piece got its units at once, or a promise that resolves when it gets them. */
  #begin(account: string, user: string, { units = 1, signal }: Turn): Promise<void> | null {
    signal?.throwIfAborted()
    if (this.#waiting.has(account) || !this.#fits(account, units))
      return this.#wait(account, user, units, signal)
    this.#use(account, units)
    return null
  }

  #wait(account: string, user: string, units: number, signal: AbortSignal | undefined): Promise<void> {
    const line = this.#waiting.get(account) ?? []
    const { waitingPerAccount } = this.#bounds
    const own = account === user ? 0 : line.filter((other) => other.user === user).length
    const most = account === user ? waitingPerAccount : waitingPerAccount * limits.sessions.userShare
    if (line.length >= waitingPerAccount || own >= most) throw this.#refuse('account')
    const place = account === user ? line.length : placeInRounds(line, own)
    if (this.#waitingCount >= this.#bounds.waiting) throw this.#refuse('all')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      this.#remove(account, line, line.indexOf(waiting))
      reject(signal!.reason as Error)
      this.#startNext() // other pieces may have waited behind this one
    }
    const waiting: Waiting = {
      user,
      units,
      start: () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      },
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    line.splice(place, 0, waiting)
    this.#waiting.set(account, line)
    this.#waitingCount += 1
    return promise
  }

  #refuse(whose: QueueFull['whose']): QueueFull {
    this.#refusedCount += 1
    return new QueueFull(whose)
  }

  #remove(account: string, line: Waiting[], at: number): void {
    line.splice(at, 1)
    this.#waitingCount -= 1
    if (line.length === 0) this.#waiting.delete(account)
  }

  #fits(account: string, units: number): boolean {
    return this.#fitsShare(account, units) && this.#usedCount + units <= this.#bounds.atOnce
  }

  #fitsShare(account: string, units: number): boolean {
    return (this.#used.get(account) ?? 0) + units <= this.#bounds.atOncePerAccount
  }

  #use(account: string, units: number): void {
    this.#usedCount += units
    const used = (this.#used.get(account) ?? 0) + units
    if (used > 0) this.#used.set(account, used)
    else this.#used.delete(account)
  }

  #end(account: string, units: number): void {
    this.#use(account, -units)
    this.#startNext()
  }

  /**
   * Starts every piece that fits, in turns. If the next piece waits for free units, smaller ones do not overtake it.
   */
  #startNext(): void {
    for (const [account, line] of [...this.#waiting]) {
      const first = line[0]!
      if (!this.#fitsShare(account, first.units)) continue
      if (!this.#fits(account, first.units)) return
      this.#remove(account, line, 0)
      if (line.length > 0) {
        // The account goes to the end of the round.
        this.#waiting.delete(account)
        this.#waiting.set(account, line)
      }
      this.#use(account, first.units)
      first.start()
    }
  }
}

/** Where a piece comes in a line whose users take turns, when its user has `own` pieces there. */
function placeInRounds(line: Waiting[], own: number): number {
  const counts = new Map<string, number>()
  const next = line.findIndex(({ user }) => {
    const round = counts.get(user) ?? 0
    counts.set(user, round + 1)
    return round > own
  })
  return next < 0 ? line.length : next
}
