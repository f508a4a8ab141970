/** Merges a board's log, and makes the segment of its rows. Runs in a worker thread. */
import * as Y from 'yjs'
import { fileKeysWithin } from '../../core/file.ts'
import { moved } from '../../platform/work/moved.ts'
import type { Cause } from '../../sql/commit-call.ts'
import { ChangeRecorder } from './changes.ts'
import { documentOf } from './log.ts'
import {
  compress,
  decodeSegment,
  decompress,
  encodeSegment,
  type RecordedCause,
  type SegmentRow,
} from './segment.ts'

/** A row of the log, without its updates. */
export interface RowHead {
  seq: number
  at: number
  bytes: number
  actors: string[]
  /** JSON of `Cause[][]`; null in rows of older versions. */
  causes: string | null
}

export interface ArchiveInput {
  snapshot: Uint8Array | null
  /** The updates of all rows, in order. */
  updates: Uint8Array[]
  rows: RowHead[]
  /** Whether the snapshot is kept as the base of the segment. */
  keepsBase: boolean
}

/**
 * @returns the document after the rows, as a Yjs update (V2); the segment; JSON of the keys of files that its updates may
 * name; and the base, if it is kept
 * @throws when a part of the log can't be read, or builds on missing updates
 */
export function archiveLog({ snapshot, updates, rows, keepsBase }: ArchiveInput): Uint8Array[] {
  for (const update of updates) Y.decodeUpdate(update)
  const fail = (error: unknown) => {
    throw error
  }
  const document = documentOf({ snapshot, updates: [] }, fail)
  const segmentRows = recordRows(document, rows, updates)
  if (document.store.pendingStructs || document.store.pendingDs)
    throw new Error('Updates build on others that are not in the log.')
  const merged = Y.encodeStateAsUpdateV2(document)
  const segment = encodeSegment(segmentRows, updates)
  const keys = Buffer.from(JSON.stringify([...new Set(updates.flatMap(fileKeysWithin))]))
  return moved([merged, segment, keys, ...(keepsBase && snapshot ? [compress(snapshot)] : [])])
}

export interface Segments {
  /** The files of the first segment's base, and of segments that follow each other. */
  base: Uint8Array | null
  segments: Uint8Array[]
}

/** Returns the file of a base: the document after these segments. Runs in a worker thread. */
export function mergeSegments({ base, segments }: Segments): Uint8Array {
  const updates = segments.flatMap((segment) => decodeSegment(segment).flatMap((row) => row.updates))
  const document = documentOf({ snapshot: base && decompress(base), updates })
  return moved(compress(Y.encodeStateAsUpdateV2(document)))
}

/** Applies the updates of rows, and records what each cause changed. */
export function recordRows(document: Y.Doc, rows: RowHead[], updates: Uint8Array[]): SegmentRow[] {
  const recorder = new ChangeRecorder(document)
  let next = 0
  return rows.map(({ seq, at, bytes, actors, causes }) => {
    const count = countOf(updates, next, bytes)
    const recorded = causesOf(causes, actors, count).map((cause): RecordedCause => {
      const some = updates.slice(next, next + cause.n)
      next += cause.n
      document.transact(() => {
        for (const update of some) Y.applyUpdate(document, update)
      })
      return { ...cause, changes: recorder.take() }
    })
    return { seq, at, bytes, causes: recorded }
  })
}

/** The number of updates, from `first` on, that a row of this length has. */
function countOf(updates: Uint8Array[], first: number, bytes: number): number {
  let left = bytes
  let count = 0
  while (left > 0) left -= 4 + (updates[first + count++]?.byteLength ?? Infinity)
  if (left < 0) throw new Error('The updates of a log row do not add up to its length.')
  return count
}

/** The causes that a row has, without what they changed. */
export const recordedCauses = ({ actors, causes }: RowHead): Omit<RecordedCause, 'changes'>[] =>
  causesOf(causes, actors, null)

/** The causes of a row's updates. They stand for all updates, also where an older version did not record them. */
function causesOf(
  text: string | null,
  actors: string[],
  count: number | null,
): Omit<RecordedCause, 'changes'>[] {
  const causes = text === null ? [] : (JSON.parse(text) as (Cause[] | null)[]).flat()
  const isComplete =
    causes.length > 0 &&
    causes.every((cause) => cause !== null) &&
    (count === null || causes.reduce((sum, cause) => sum + (cause?.n ?? 0), 0) === count)
  return isComplete ? (causes as Cause[]) : [{ n: count ?? 0, by: 'unknown', accounts: actors }]
}
