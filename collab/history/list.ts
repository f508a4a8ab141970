/** A page of a board's history, newest first: from its log, then from its segments. */
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import { task } from '../../platform/work/worker-pool.ts'
import type { LiveBoards } from '../boards/live.ts'
import { offload } from '../boards/offload.ts'
import { readFile, rowHeads } from '../log/history.ts'
import { ownBuffers, tail } from '../log/log.ts'
import type { Entry, EntryQuery, Place } from './entries.ts'
import { readOutline, type Outline } from './outline.ts'
import { busy, type Reader } from './past.ts'
import type { readLogEntries, readSegmentEntries } from './read-entries.ts'

const tasks = new URL('./read-entries.ts', import.meta.url)
const segmentTask = task<typeof readSegmentEntries>(tasks, 'readSegmentEntries')
const logTask = task<typeof readLogEntries>(tasks, 'readLogEntries')

/** Most segments that one page reads. A page that finds few entries in them is shorter. */
const segmentsPerPage = 50
/** Compaction moves rows from the log to a segment. Then the outline is read again. */
const attempts = 5

export interface HistoryPage {
  entries: Entry[]
  /** Where the next page begins; null after the last page. */
  next: Place | null
  /** The first moment that is kept and that the reader may see, in milliseconds. */
  firstAt: number
}

/** Pages of history that are read, or wait for it. */
export const listings = new FairQueue({ atOnce: 8, atOncePerAccount: 2, waiting: 200, waitingPerAccount: 20 })

/** @throws ServiceError `session_unavailable` */
export async function readHistory(
  live: LiveBoards,
  boardId: string,
  query: EntryQuery,
  reader: Reader,
): Promise<HistoryPage> {
  try {
    return await listings.run(reader.account, async () => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const page = await readPage(
          live,
          await readOutline(live, boardId, reader.since),
          query,
          reader.account,
        )
        if (page) return page
      }
      throw busy()
    })
  } catch (error) {
    if (error instanceof QueueFull) throw busy(error)
    throw error
  }
}

/** @returns null when the log was compacted or a file deleted meanwhile */
async function readPage(
  live: LiveBoards,
  outline: Outline,
  asked: EntryQuery,
  account: string,
): Promise<HistoryPage | null> {
  const { firstAt, snapshotSeq } = outline
  // One entry more than the page has: then there is a next page.
  const query = { ...asked, since: Math.max(asked.since, firstAt), limit: asked.limit + 1 }
  const before = query.before?.seq ?? Infinity
  const entries: Entry[] = []
  const page = (after: Place | null): HistoryPage => {
    const shown = entries.slice(0, asked.limit)
    return { entries: shown, next: entries.length > asked.limit ? shown.at(-1)!.first : after, firstAt }
  }
  const add = (found: Entry[]) => {
    entries.push(...found)
    query.limit -= found.length
    return query.limit === 0
  }
  if (before > snapshotSeq && (outline.rows.at(-1)?.[1] ?? 0) >= query.since) {
    const found = await readLog(live, outline, query, account)
    if (!found) return null
    if (add(found)) return page(null)
  }
  const segments = outline.segments
    .filter((one) => one.to_at >= query.since && one.from_at <= query.until && one.from_seq <= before)
    .toReversed()
  for (const { key } of segments.slice(0, segmentsPerPage)) {
    const segment = await readFile(live.history.files, key)
    if (!segment) return null
    if (add(await offload(live.pool, segmentTask, { segment, query }, account))) return page(null)
  }
  const isCut = segments.length > segmentsPerPage
  return page(isCut ? { seq: segments[segmentsPerPage - 1]!.from_seq, index: 0 } : null)
}

async function readLog(
  { database, pool }: LiveBoards,
  { boardId, snapshotSeq }: Outline,
  query: EntryQuery,
  account: string,
): Promise<Entry[] | null> {
  const log = await tail(database, boardId, 0)
  const rows = log && (await rowHeads(database, boardId, log))
  if (!rows || log.snapshotSeq !== snapshotSeq) return null
  const { snapshot, updates } = log
  const input = { log: { snapshot, updates }, rows, query }
  return offload(pool, logTask, input, account, ownBuffers(log))
}
