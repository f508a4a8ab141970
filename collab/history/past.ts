/** Opens a board as it was at a moment. */
import type * as Y from 'yjs'
import { ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import { task } from '../../platform/work/worker-pool.ts'
import type { LiveBoards } from '../boards/live.ts'
import { offload } from '../boards/offload.ts'
import { readFile } from '../log/history.ts'
import { tail } from '../log/log.ts'
import {
  notKept,
  readOutline,
  requireKept,
  type Instant,
  type Moment,
  type Outline,
  type Segment,
} from './outline.ts'
import type { Replayed, replaySegments } from './replay.ts'

/** A past state keeps a whole document in memory until its request is answered. */
export const pasts = new FairQueue({ atOnce: 8, atOncePerAccount: 1, waiting: 200, waitingPerAccount: 20 })

export interface Past {
  document: Y.Doc
  position: number
  /** When the board became like this, in milliseconds. Null when no row tells. */
  at: number | null
}

export interface Reader {
  account: string
  /** Whether the account has the tier `pro`. */
  isPro: boolean
  /** The first moment that the reader may see; null: all of the past. */
  since: Date | null
}

const replayTask = task<typeof replaySegments>(new URL('./replay.ts', import.meta.url), 'replaySegments')

/** Compaction moves rows from the log to a segment. Then the outline is read again. */
const attempts = 5

/**
 * Calls `work` with a copy of the board as it was.
 *
 * @throws ServiceError `not_found` for a moment that is not kept; `session_unavailable`
 */
export const withPast = <T>(
  live: LiveBoards,
  boardId: string,
  moment: Moment,
  reader: Reader,
  work: (past: Past) => Promise<T>,
): Promise<T> => withPasts(live, boardId, [moment], reader, ([past]) => work(past!))

/** The same for several moments. */
export async function withPasts<T>(
  live: LiveBoards,
  boardId: string,
  moments: Moment[],
  reader: Reader,
  work: (pasts: Past[]) => Promise<T>,
): Promise<T> {
  const opened: Past[] = []
  return inTurn(reader.account, async () => {
    try {
      for (const moment of moments) opened.push(await openPast(live, boardId, moment, reader))
      return await work(opened)
    } finally {
      for (const { document } of opened) document.destroy()
    }
  })
}

/** Waits for the account's turn in `pasts`. @throws ServiceError `session_unavailable` */
export async function inTurn<T>(account: string, work: () => Promise<T>): Promise<T> {
  try {
    return await pasts.run(account, work)
  } catch (error) {
    if (error instanceof QueueFull) throw busy(error)
    throw error
  }
}

async function openPast(live: LiveBoards, boardId: string, moment: Moment, reader: Reader): Promise<Past> {
  if ('version' in moment) return openVersion(live, boardId, moment.version, reader)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const outline = await readOutline(live, boardId, reader.since)
    requireKept(outline, moment)
    const past = isInLog(outline, moment)
      ? await openLog(live, outline, moment, reader)
      : await openSegments(live, outline, moment, reader)
    if (past) return past
  }
  throw busy()
}

function isInLog({ snapshotSeq, segments }: Outline, moment: Instant): boolean {
  if ('position' in moment) return moment.position >= snapshotSeq
  const last = segments.at(-1)
  return !last || last.to_at <= moment.at
}

/** @returns null when the log was compacted meanwhile */
async function openLog(
  { database, documents }: LiveBoards,
  outline: Outline,
  moment: Instant,
  reader: Reader,
): Promise<Past | null> {
  const log = await tail(database, outline.boardId, 0)
  if (!log || log.snapshotSeq !== outline.snapshotSeq) return null
  const isBefore = ([seq, at]: [number, number]) =>
    'at' in moment ? at <= moment.at : seq <= moment.position
  const wanted = outline.rows.filter(isBefore)
  requireSeen(outline, outline.rows[wanted.length]?.[1] ?? null)
  const [position, at] = wanted.at(-1) ?? [outline.snapshotSeq, outline.segments.at(-1)?.to_at ?? null]
  const count = log.rows.reduce((sum, row) => sum + (row.seq <= position ? row.count : 0), 0)
  const { snapshot, updates } = log
  const document = await documents.openLog({ snapshot, updates: updates.slice(0, count) }, reader)
  return { document, position, at }
}

/** @returns null when a file has been deleted meanwhile */
async function openSegments(
  { documents, history, pool }: LiveBoards,
  outline: Outline,
  moment: Instant,
  reader: Reader,
): Promise<Past | null> {
  const isBegun = ({ from_seq, from_at }: Outline['segments'][number]) =>
    'at' in moment ? from_at <= moment.at : from_seq <= moment.position
  const last = Math.max(0, outline.segments.findLastIndex(isBegun))
  // When a card's past was expunged, only the next base tells what the board was like at the end.
  const end = outline.segments[last]!
  const isEnd = 'at' in moment ? end.to_at <= moment.at : end.to_seq === moment.position
  const next = outline.segments[last + 1]
  if (isEnd && next?.base_key) return openBase({ documents, history, pool }, outline, next, reader)
  const from = Math.max(
    0,
    outline.segments.slice(0, last + 1).findLastIndex(({ base_key }) => base_key !== null),
  )
  const chosen = outline.segments.slice(from, last + 1)
  const baseKey = chosen[0]!.base_key
  const [base, ...segments] = await Promise.all([
    baseKey === null ? null : readFile(history.files, baseKey),
    ...chosen.map(({ key }) => readFile(history.files, key)),
  ])
  if ((baseKey !== null && base === null) || segments.includes(null)) return null
  const input = { base: base ?? null, segments: segments as Buffer[], until: moment }
  const [facts, ...parts] = await offload(pool, replayTask, input, reader.account)
  const { seq, at, nextAt } = JSON.parse(Buffer.from(facts!).toString()) as Replayed
  const following = outline.segments[last + 1]?.from_at ?? outline.rows[0]?.[1] ?? null
  requireSeen(outline, nextAt ?? following)
  const document = await documents.openParts(parts, reader)
  const before = chosen[0]!
  return { document, position: seq ?? before.from_seq - 1, at: at ?? before.base_at }
}

/** Opens the board before a segment. @returns null when the file has been deleted meanwhile */
async function openBase(
  { documents, history, pool }: Pick<LiveBoards, 'documents' | 'history' | 'pool'>,
  outline: Outline,
  { from_seq, from_at, base_key, base_at }: Segment,
  reader: Reader,
): Promise<Past | null> {
  requireSeen(outline, from_at)
  const base = await readFile(history.files, base_key!)
  if (!base) return null
  const position = from_seq - 1
  const [, ...parts] = await offload(
    pool,
    replayTask,
    { base, segments: [], until: { position } },
    reader.account,
  )
  return { document: await documents.openParts(parts, reader), position, at: base_at }
}

/** @throws ServiceError `not_found` */
async function openVersion(
  { database, documents, history, pool }: LiveBoards,
  boardId: string,
  id: string,
  reader: Reader,
): Promise<Past> {
  const [version] = await database.asSystem(
    (tx) => tx<{ position: number; at: Date; changed_at: Date | null; key: string }[]>`
      select position, at, changed_at, key from board_versions where id = ${id} and board_id = ${boardId}`,
  )
  const isSeen = version && (reader.since === null || version.at >= reader.since)
  const base = isSeen ? await readFile(history.files, version.key) : null
  if (!version || !base) throw noVersion()
  const { position } = version
  const [, ...parts] = await offload(
    pool,
    replayTask,
    { base, segments: [], until: { position } },
    reader.account,
  )
  return {
    document: await documents.openParts(parts, reader),
    position,
    at: version.changed_at?.getTime() ?? null,
  }
}

export const noVersion = () =>
  new ServiceError('not_found', 'This board has no version with this id, or you may not see it.')

/** A state is kept when the board was like this at a moment that is kept. */
function requireSeen({ firstAt }: Outline, endedAt: number | null): void {
  if (endedAt !== null && endedAt <= firstAt) throw notKept(firstAt)
}

export const busy = (cause?: unknown) =>
  new ServiceError(
    'session_unavailable',
    'The service is busy with earlier requests about the past of boards. Try again shortly.',
    { cause },
  )
