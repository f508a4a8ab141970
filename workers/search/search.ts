/**
 * Keeps the search index: takes what `search_pending` says and writes the folded words of cards and boards. A search
 * that finds its own boards pending has them done first, so that what a request wrote is found by the next one.
 *
 * A batch that fails is split in halves, which are tried by themselves, between other batches; what fails alone is set
 * aside until it changes. One account's backlog or failure never holds up what another wrote.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import type { Logger } from '../../platform/log.ts'
import { errorCode, isUnavailable, type Database } from '../../sql/database.ts'
import { startLoop, type Loop } from '../loop.ts'
import { readBatch, readWords, setAside, writeWords, type Entry } from './search-batch.ts'

export interface SearchIndexer {
  /** Works off what is pending on these boards, for no longer than `timeoutMs`. Accounts take turns. */
  catchUp(boardIds: string[], options: CatchUpOptions): Promise<void>
  /** Works off what is pending, every second. */
  start(): Loop
  /** Cards and boards that this process has set aside. */
  readonly setAside: number
}

export interface CatchUpOptions {
  /** Who waits for it. */
  account: string
  timeoutMs: number
}

type State = 'done' | 'busy' | 'idle'

/** Catching up has one connection; what runs every second has another. */
const catchingUp = { atOnce: 1, waiting: 1000, waitingPerAccount: 100 }
/** As much rest as work, since commits need the database as well; but no more than this. */
const longestRestMs = 1000

export function searchIndexer({ database, log }: { database: Database; log: Logger }): SearchIndexer {
  const lane = new FairQueue(catchingUp)
  /** Boards of batches that are being worked on here. */
  const inHand = new Set<string>()
  /** Parts of batches that failed. */
  const failed: Entry[][] = []
  let lastAccount = '00000000-0000-0000-0000-000000000000'
  let setAsideCount = 0

  /** One part that failed before, and one batch of what else is pending. */
  async function turn(boardIds: string[] | null): Promise<State> {
    try {
      const part = takeFailed(boardIds)
      if (part) await attempt(part)
      const batch = await database.asSystem((tx) =>
        readBatch(tx, { boardIds, except: [...inHand], lastAccount }),
      )
      lastAccount = batch.lastAccount
      for (const { board } of batch.entries) inHand.add(board.id)
      for (const entries of untriedFirst(batch.entries)) await attempt(entries)
      if (part || batch.entries.length > 0) return 'done'
      return boardIds?.some((id) => inHand.has(id)) ? 'busy' : 'idle'
    } catch (error) {
      // All of it is still pending.
      failed.length = 0
      inHand.clear()
      throw error
    }
  }

  function takeFailed(boardIds: string[] | null): Entry[] | null {
    const at = failed.findIndex(
      (entries) => boardIds === null || entries.some(({ board }) => boardIds.includes(board.id)),
    )
    return at < 0 ? null : failed.splice(at, 1)[0]!
  }

  async function attempt(entries: Entry[]): Promise<void> {
    try {
      const words = await readWords(database.asSystem, entries)
      await database.asSystem((tx) => writeWords(tx, entries, words))
    } catch (error) {
      if (!isAboutEntries(error)) throw error
      if (entries.length > 1) {
        const half = Math.ceil(entries.length / 2)
        failed.push(entries.slice(0, half), entries.slice(half))
        return
      }
      await setEntryAside(entries[0]!, error)
    }
    for (const { board } of entries) {
      board.left -= 1
      if (board.left === 0) inHand.delete(board.id)
    }
  }

  async function setEntryAside(entry: Entry, error: unknown): Promise<void> {
    const { board, cardId } = entry
    const isMine = await database.asSystem((tx) => setAside(tx, entry, messageOf(error)))
    if (!isMine) return
    setAsideCount += 1
    log.error(
      { err: error, boardId: board.id, cardId: cardId || null, account: board.account },
      'the search index does not take these words; the card or board is set aside until it changes',
    )
  }

  return {
    async catchUp(boardIds, { account, timeoutMs }) {
      if (boardIds.length === 0) return
      const signal = AbortSignal.timeout(timeoutMs)
      const timeUp = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      )
      async function work(): Promise<void> {
        while (!signal.aborted) {
          const state = await lane.run(account, () => turn(boardIds), { signal })
          if (state === 'idle') return
          if (state === 'busy') await pause(20)
        }
      }
      const worked = work().catch((error: unknown) => {
        if (!signal.aborted && !(error instanceof QueueFull)) throw error
      })
      await Promise.race([worked, timeUp])
    },
    start() {
      return startLoop('search', 1000, log, async (stopping) => {
        for (let state: State = 'done'; state === 'done' && !stopping.aborted;) {
          const startMs = performance.now()
          state = await turn(null)
          if (state === 'done') await pause(Math.min(longestRestMs, performance.now() - startMs))
        }
      })
    },
    get setAside() {
      return setAsideCount
    },
  }
}

/** All that never failed together; then each by itself of which an earlier version was set aside. */
function untriedFirst(entries: Entry[]): Entry[][] {
  const [untried, failedBefore] = [[] as Entry[], [] as Entry[][]]
  for (const entry of entries) {
    if (entry.setAside === 'an earlier version') failedBefore.push([entry])
    else untried.push(entry)
  }
  return untried.length > 0 ? [untried, ...failedBefore] : failedBefore
}

/**
 * Whether a statement failed because of what it read or wrote. Not when the database is away, full, read-only or locked,
 * or when its schema is another one: then nothing else would succeed either.
 */
function isAboutEntries(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = errorCode(cause)
  if (code === '57014') return true // statement timeout
  return !isUnavailable(cause) && !['25', '40', '42', '53', '55', '58'].includes(code.slice(0, 2))
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 500)
