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
  state: 'done' | 'busy' | 'idle'
  /** The boards of which everything is indexed that was pending when the turn began. */
  complete: Set<string>
}

/** A turn of `catchUp` that waits for its start. Searches that come meanwhile add their boards. */
interface NextTurn {
  boards: Set<string>
  worked: Promise<Worked>
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
        const { state, complete } = await this.#shareTurn(left, { account, timeoutMs })
        if (state === 'idle') return
        left = left.filter((id) => !complete.has(id))
        if (state === 'busy') await pause(20)
      }
    }
    const worked = work().catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof QueueFull)) throw error
    })
    await Promise.race([worked, timeUp])
  }

  /** Indexes these boards in the account's next turn, together with those of its other searches. */
  #shareTurn(boardIds: string[], { account, timeoutMs }: CatchUpOptions): Promise<Worked> {
    const key = `${account} ${timeoutMs}`
    const waiting = this.#next.get(key)
    if (waiting) {
      for (const id of boardIds) waiting.boards.add(id)
      return waiting.worked
    }
    const boards = new Set(boardIds)
    const closed = () => {
      if (this.#next.get(key)?.boards === boards) this.#next.delete(key)
    }
    const turn = async () => {
      await Promise.resolve() // searches of the same tick join
      return this.queue.run(account, () => (closed(), this.#turn([...boards])))
    }
    const worked = turn().finally(closed)
    this.#next.set(key, { boards, worked })
    return worked
  }

  /** Starts the loop that indexes pending changes every second. */
  start(): Loop {
    return startLoop('search', 1000, this.#log, async (stopping) => {
      for (let state: Worked['state'] = 'done'; state === 'done' && !stopping.aborted;) {
        const startMs = performance.now()
        ;({ state } = await this.#turn(null))
        if (state === 'done') await pause(Math.min(longestRestMs, performance.now() - startMs))
      }
    })
  }

  /** Tries one half of a failed batch, then one batch of pending changes. */
  async #turn(boardIds: string[] | null): Promise<Worked> {
    try {
      const part = this.#takeFailed(boardIds)
      if (part) await this.#attempt(part)
      const batch = await this.#database.asSystem((tx) =>
        readBatch(tx, { boardIds, except: [...this.#inHand], lastAccount: this.#lastAccount }),
      )
      this.#lastAccount = batch.lastAccount
      for (const { board } of batch.entries) this.#inHand.add(board.id)
      for (const entries of littleFirst(batch.entries).flatMap(untriedFirst)) await this.#attempt(entries)
      const complete = new Set(
        batch.entries.filter(({ board }) => isComplete(board)).map(({ board }) => board.id),
      )
      if (part || batch.entries.length > 0) return { state: 'done', complete }
      return { state: boardIds?.some((id) => this.#inHand.has(id)) ? 'busy' : 'idle', complete }
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
