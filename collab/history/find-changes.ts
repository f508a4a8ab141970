/** Finds the changes of an actor, a request or an operation, and traces what they did. */
import type * as Y from 'yjs'
import { badRequest } from '../../core/errors.ts'
import { task } from '../../platform/work/worker-pool.ts'
import type { LiveBoards } from '../boards/live.ts'
import { offload } from '../boards/offload.ts'
import { readFile, rowHeads } from '../log/history.ts'
import { tail } from '../log/log.ts'
import { recordedCauses } from '../log/archive.ts'
import { readOutline, type Outline, type Segment } from './outline.ts'
import { busy, type Reader } from './past.ts'
import type { hasSelected } from './read-entries.ts'
import { isSelected, readTraced, type Selector, type Traced, type traceChanges } from './trace.ts'

const searchTask = task<typeof hasSelected>(new URL('./read-entries.ts', import.meta.url), 'hasSelected')
const traceTask = task<typeof traceChanges>(new URL('./trace.ts', import.meta.url), 'traceChanges')

/** Most segments that one request searches, or replays. */
const maxSegments = 100
/** A request makes all its changes within this time. */
const requestMs = 10 * 60_000
/** Compaction moves rows from the log to a segment. Then everything is read again. */
const attempts = 5

export interface Found extends Traced {
  /** A document with the values before; see `statesRoot`. The caller destroys it. */
  states: Y.Doc
}

/**
 * @returns null when no change is selected
 * @throws ServiceError `bad_request`, `session_unavailable`
 */
export async function findChanges(
  live: LiveBoards,
  boardId: string,
  of: Selector,
  reader: Reader,
): Promise<Found | null> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const outline = await readOutline(live, boardId, reader.since)
    const since = Math.max(of.since, outline.firstAt)
    const found = await find(live, outline, { ...of, since }, reader)
    if (found !== 'again') return found
  }
  throw busy()
}

async function find(
  live: LiveBoards,
  outline: Outline,
  of: Selector,
  reader: Reader,
): Promise<Found | null | 'again'> {
  const content = await tail(live.database, outline.boardId, 0)
  const rows = content && (await rowHeads(live.database, outline.boardId, content))
  if (!rows || content.snapshotSeq !== outline.snapshotSeq) return 'again'
  const last = rows.findLastIndex((row) => recordedCauses(row).some((cause) => isSelected(cause, row.at, of)))
  const span = await findSpan(live, outline, of, last < 0 ? null : rows[last]!.at, reader.account)
  if (span === 'again') return 'again'
  if (last < 0 && !span) return null
  const chosen = span ? segmentsOf(outline, span, last >= 0) : []
  const [base, ...segments] = await Promise.all([
    chosen[0]?.base_key ? readFile(live.history.files, chosen[0].base_key) : null,
    ...chosen.map(({ key }) => readFile(live.history.files, key)),
  ])
  if (segments.includes(null) || (chosen[0]?.base_key && !base)) return 'again'
  const log = last < 0 ? null : { content: { snapshot: content.snapshot, updates: content.updates }, rows }
  const input = { base: base ?? null, segments: segments as Buffer[], log, of }
  const [traced, parts] = await readTraced(await offload(live.pool, traceTask, input, reader.account))
  return { ...traced, states: await live.documents.openParts(parts, reader) }
}

/** The first and the last segment with a selected change. */
interface Span {
  first: Segment
  last: Segment
}

/** @param foundAt the time of a change that was found in the log */
async function findSpan(
  live: LiveBoards,
  { segments }: Outline,
  of: Selector,
  foundAt: number | null,
  account: string,
): Promise<Span | null | 'again'> {
  const isOneRequest = of.operation !== null || of.request !== null
  const wanted = segments.filter(({ from_at, to_at }) => to_at >= of.since && from_at <= of.until)
  let span = null as Span | null
  let searched = 0
  for (const segment of wanted.toReversed()) {
    const at = span ? span.last.to_at : foundAt
    if (isOneRequest && at !== null && segment.to_at < at - requestMs) break
    if (searched++ === maxSegments) throw tooFar
    const file = await readFile(live.history.files, segment.key)
    if (!file) return 'again'
    if (await offload(live.pool, searchTask, { segment: file, of }, account))
      span = { first: segment, last: span?.last ?? segment }
  }
  return span
}

/** The segments to replay: from a base before the span up to its end, or up to the log. */
function segmentsOf({ segments }: Outline, { first, last }: Span, toLog: boolean): Segment[] {
  const at = segments.indexOf(first)
  const from = Math.max(
    0,
    segments.slice(0, at + 1).findLastIndex(({ base_key }) => base_key !== null),
  )
  return segments.slice(from, toLog ? undefined : segments.indexOf(last) + 1)
}

const tooFar = badRequest(
  'There are too many changes in this span. Name a shorter one with since and until. GET /boards/{id}/history tells when a change was made.',
)
