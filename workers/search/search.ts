/**
 * Updates the search index: reads `search_pending`, and writes the folded words of cards and boards. A search first
 * indexes the pending changes of its own boards, so that it finds what earlier requests wrote.
 *
 * A batch that fails is split in halves, which are tried separately between other batches. An entry that fails alone is
 * set aside until it changes. The backlog or failures of one account never delay another account's changes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import type { Logger } from '../../platform/log.ts'
import { errorCode, isUnavailable, type Database } from '../../sql/database.ts'
import { startLoop, type Loop } from '../loop.ts'
import { readBatch, readWords, setAside, writeWords, type Entry, type PendingBoard } from './search-batch.ts'

export interface CatchUpOptions {
  /** The account that waits for it. */
  account: string
  timeoutMs: number
}

interface Worked {
  /** Whether there was anything to index. */
  any: boolean
  /** Boards of the turn that still have something pending that was pending when the turn began. */
  left: Set<string>
}

/** A turn of `catchUp` that waits for its start. Searches that come meanwhile add their boards. */
interface NextTurn {
  boards: Set<string>
  worked: Promise<Worked>
  /** The number of searches that wait for it. When all have given up, it leaves the queue. */
  waiting: number
  giveUp(): void
}

/** `catchUp` uses one connection, and the loop another. */
const catchingUp = { atOnce: 1, waiting: 1000, waitingPerAccount: 100 }
/** What an account may have in a batch to be written before the others. Twenty cards take about 10 ms. */
const little = { entries: 20, bytes: 4096 }
/** The loop rests as long as it worked, because commits need the database, too. It rests at most this long. */
const longestRestMs = 1000

export class SearchIndexer {
  readonly #database: Database
  readonly #log: Logger
  /** Turns of searches that wait for the index. */
  readonly queue = new FairQueue(catchingUp)
  /** By account and timeout: searches share turns only with those that wait equally long. */
  readonly #next = new Map<string, NextTurn>()
  /** Boards of the batches that this process is working on. */
  readonly #inHand = new Set<string>()
  /** Halves of batches that failed. */
  readonly #failed: Entry[][] = []
  #lastAccount = '00000000-0000-0000-0000-000000000000'
  #setAside = 0

  constructor({ database, log }: { database: Database; log: Logger }) {
    this.#database = database
    this.#log = log
  }

  /** The number of cards and boards that this process has set aside. */
  get setAside(): number {
    return this.#setAside
  }

  /**
   * Indexes what is pending of these boards now, for at most `timeoutMs`. Changes that come meanwhile may wait: otherwise a
   * search would take as long as somebody writes. Accounts take turns.
   */
  async catchUp(boardIds: string[], { account, timeoutMs }: CatchUpOptions): Promise<void> {
    if (boardIds.length === 0) return
    const signal = AbortSignal.timeout(timeoutMs)
    const timeUp = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    let left = boardIds
    const work = async () => {
      while (left.length > 0 && !signal.aborted) {
        const worked = await this.#shareTurn(left, { account, timeoutMs }, signal)
        left = left.filter((id) => worked.left.has(id))
        if (left.length > 0 && left.every((id) => this.#inHand.has(id))) await pause(20)
      }
    }
    const worked = work().catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof QueueFull)) throw error
    })
    await Promise.race([worked, timeUp])
  }

  /** Indexes these boards in the account's next turn, together with those of its other searches. */
  #shareTurn(
    boardIds: string[],
    { account, timeoutMs }: CatchUpOptions,
    signal: AbortSignal,
  ): Promise<Worked> {
    const key = `${account} ${timeoutMs}`
    const next = this.#next.get(key) ?? this.#openTurn(key, account)
    for (const id of boardIds) next.boards.add(id)
    next.waiting += 1
    signal.addEventListener(
      'abort',
      () => {
        next.waiting -= 1
        if (next.waiting === 0) next.giveUp()
      },
      { once: true },
    )
    return next.worked
  }

  #openTurn(key: string, account: string): NextTurn {
    const boards = new Set<string>()
    const gaveUp = new AbortController()
    const close = () => {
      if (this.#next.get(key) === next) this.#next.delete(key)
    }
    const start = () => {
      close()
      return this.#turn([...boards])
    }
    const worked = Promise.resolve() // searches of the same tick join
      .then(() => this.queue.run(account, start, { signal: gaveUp.signal }))
      .finally(close)
    const giveUp = () => {
      close() // no search may join it any more
      gaveUp.abort()
    }
    const next: NextTurn = { boards, worked, waiting: 0, giveUp }
    this.#next.set(key, next)
    return next
  }

  /** Starts the loop that indexes pending changes every second. */
  start(): Loop {
    return startLoop('search', 1000, this.#log, async (stopping) => {
      for (let any = true; any && !stopping.aborted;) {
        const startMs = performance.now()
        ;({ any } = await this.#turn(null))
        if (any) await pause(Math.min(longestRestMs, performance.now() - startMs))
      }
    })
  }

  /** Tries one half of a failed batch, then one batch of pending changes. */
  async #turn(boardIds: string[] | null): Promise<Worked> {
    const inHand = (boardIds ?? []).filter((id) => this.#inHand.has(id))
    try {
      const part = this.#takeFailed(boardIds)
      if (part) await this.#attempt(part)
      const batch = await this.#database.asSystem((tx) =>
        readBatch(tx, { boardIds, except: [...this.#inHand], lastAccount: this.#lastAccount }),
      )
      this.#lastAccount = batch.lastAccount
      for (const { board } of batch.entries) this.#inHand.add(board.id)
      for (const entries of littleFirst(batch.entries).flatMap(untriedFirst)) await this.#attempt(entries)
      const left = new Set([...inHand, ...(batch.pending ?? boardIds ?? [])])
      for (const { board } of batch.entries) if (isComplete(board)) left.delete(board.id)
      return { any: part !== null || batch.entries.length > 0, left }
    } catch (error) {
      // All entries are still pending in the database.
      this.#failed.length = 0
      this.#inHand.clear()
      throw error
    }
  }

  #takeFailed(boardIds: string[] | null): Entry[] | null {
    const at = this.#failed.findIndex(
      (entries) => boardIds === null || entries.some(({ board }) => boardIds.includes(board.id)),
    )
    return at < 0 ? null : this.#failed.splice(at, 1)[0]!
  }

  async #attempt(entries: Entry[]): Promise<void> {
    try {
      const words = await readWords(this.#database.asSystem, entries)
      await this.#database.asSystem((tx) => writeWords(tx, entries, words))
    } catch (error) {
      if (!isAboutEntries(error)) throw error
      if (entries.length > 1) {
        const half = Math.ceil(entries.length / 2)
        this.#failed.push(entries.slice(0, half), entries.slice(half))
        return
      }
      await this.#setEntryAside(entries[0]!, error)
    }
    for (const { board } of entries) {
      board.left -= 1
      if (board.left === 0) this.#inHand.delete(board.id)
    }
  }

  async #setEntryAside(entry: Entry, error: unknown): Promise<void> {
    const { board, cardId } = entry
    const isMine = await this.#database.asSystem((tx) => setAside(tx, entry, messageOf(error)))
    if (!isMine) return
    this.#setAside += 1
    this.#log.error(
      { err: error, boardId: board.id, cardId: cardId || null, account: board.account },
      'indexing the words of a card or board failed; search skips its new text until it changes',
    )
  }
}

/** Whether the batch reached the end of the board, and this process has written all of it. */
const isComplete = ({ left, next, isTaken }: PendingBoard) => left === 0 && next === null && !isTaken

/**
 * Groups entries: those of accounts with little in the batch, then all others. A search waits for the batch that holds its
 * boards, so the long texts of one account must not delay the words of another.
 */
function littleFirst(entries: Entry[]): Entry[][] {
  const ofAccounts = [...Map.groupBy(entries, ({ board }) => board.account).values()]
  const isLittle = (ofAccount: Entry[]) =>
    ofAccount.length <= little.entries && bytesOf(ofAccount) <= little.bytes
  const [first, last] = [ofAccounts.filter(isLittle), ofAccounts.filter((entries) => !isLittle(entries))]
  return [first.flat(), last.flat()].filter((group) => group.length > 0)
}

const bytesOf = (entries: Entry[]) => entries.reduce((sum, { bytes }) => sum + bytes, 0)

/** Groups entries: all that never failed together, then one by one those with an earlier version set aside. */
function untriedFirst(entries: Entry[]): Entry[][] {
  const [untried, failedBefore] = [[] as Entry[], [] as Entry[][]]
  for (const entry of entries) {
    if (entry.setAside === 'an earlier version') failedBefore.push([entry])
    else untried.push(entry)
  }
  return untried.length > 0 ? [untried, ...failedBefore] : failedBefore
}

/**
 * Whether a statement failed because of the entries that it read or wrote. False when the database is unreachable,
 * full, read-only or locked, or has another schema: then all other statements would fail, too.
 */
function isAboutEntries(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = errorCode(cause)
  if (code === '57014') return true // statement timeout
  return !isUnavailable(cause) && !['25', '40', '42', '53', '55', '58'].includes(code.slice(0, 2))
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 500)
