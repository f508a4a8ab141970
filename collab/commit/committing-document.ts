/** What the commit path needs of a document that is in memory, and what it tells it. */
import type { CardRow, GroupRow } from '../canvas/project.ts'

export interface FlushRows {
  rows: CardRow[]
  groups: GroupRow[]
  /** More rows are to follow: only then does the index hold all that the document does. */
  isPart: boolean
}

/** An API write that is in the log, and the cards and groups whose rows went with it. */
export interface CommittedWrite {
  updates: Uint8Array[]
  cards: ReadonlySet<string>
  groups: ReadonlySet<string>
}

/** What the queue needs of a document that is in memory. */
export interface CommittingDocument {
  /** It holds the log up to here, without a gap. */
  readonly appliedSeq: number
  /** Whether it holds all that is known to be committed; else it is catching up. */
  readonly current: boolean
  /** The rows of what edits touched; null when there are none. */
  project(): FlushRows | null
  /** A commit of this process: applies the API's updates when nothing lies between, else catches up. */
  committed(seq: number, writes: CommittedWrite[]): void
  /** What `project` gave last is in the index, or is not. */
  flushed(): void
  flushFailed(): void
  /** Someone else has committed: catch up. */
  noticed(seq: number): void
  /** So many sockets are about to be written to: sends what waits to be broadcast, when that saves writes. */
  showWith(sockets: number): void
  /** The board is no more. */
  gone(): void
}
