/** Reads entries from a segment or from the log. Runs in a worker thread. */
import { recordRows, type RowHead } from '../log/archive.ts'
import { documentOf, type LogContent } from '../log/log.ts'
import { decodeSegment } from '../log/segment.ts'
import { entriesOf, type Entry, type EntryQuery } from './entries.ts'
import { isSelected, type Selector } from './trace.ts'

export const readSegmentEntries = ({ segment, query }: { segment: Uint8Array; query: EntryQuery }): Entry[] =>
  entriesOf(decodeSegment(segment), query)

/** Whether a segment has a change that is meant. */
export const hasSelected = ({ segment, of }: { segment: Uint8Array; of: Selector }): boolean =>
  decodeSegment(segment).some(({ at, causes }) => causes.some((cause) => isSelected(cause, at, of)))

export function readLogEntries({
  log: { snapshot, updates },
  rows,
  query,
}: {
  log: LogContent
  rows: RowHead[]
  query: EntryQuery
}): Entry[] {
  return entriesOf(recordRows(documentOf({ snapshot, updates: [] }), rows, updates), query)
}
